//! Time and random bits.

use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;

/// The time as the steps see it. Tests move it by hand.
pub trait Clock: Send + Sync {
    /// Returns the current time, for what is stored.
    fn now(&self) -> Timestamp;

    /// Returns a reading of a clock that never goes back, for measuring and for the ends of leases. Its zero has no meaning.
    fn monotonic(&self) -> Duration;

    /// Returns once this much time has passed.
    fn sleep(&self, wait: Duration) -> impl Future<Output = ()> + Send;
}

/// Random bits, for tokens and jitter. Tests seed it.
pub trait Rng: Send + Sync {
    /// Returns 128 bits that nobody can guess or has seen before.
    fn bits(&self) -> u128;
}
