//! Time and random bits.

use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;

/// The time, as the steps see it. A test moves it by hand.
pub trait Clock: Send + Sync {
    /// The time of now, for what is stored.
    fn now(&self) -> Timestamp;

    /// A reading of a clock that never goes back, for what is measured and for ends of leases. Its zero means nothing.
    fn monotonic(&self) -> Duration;

    /// Comes back once so much time has passed.
    fn sleep(&self, wait: Duration) -> impl Future<Output = ()> + Send;
}

/// Random bits, for tokens and jitter. A test seeds it.
pub trait Rng: Send + Sync {
    /// 128 bits that nobody can guess or has seen before.
    fn bits(&self) -> u128;
}
