//! Time and random bits.

use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;

/// The clock that the steps use. Tests move it by hand.
pub trait Clock: Send + Sync {
    /// Returns the current time, for stored values.
    fn now(&self) -> Timestamp;

    /// Returns a reading of a clock that never goes back, for measurements and lease expiry. Its
    /// zero has no meaning.
    fn monotonic(&self) -> Duration;

    /// Waits for this long.
    fn sleep(&self, wait: Duration) -> impl Future<Output = ()> + Send;
}

/// A source of random bits for tokens and jitter. Tests seed it.
pub trait Rng: Send + Sync {
    /// Returns 128 bits that are unpredictable and unique.
    fn bits(&self) -> u128;
}
