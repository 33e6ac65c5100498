//! Arithmetic on instants that cannot overflow.

use std::time::Duration;

use jiff::Timestamp;

/// The instant so long after another; the last instant there is when that is out of range.
#[must_use]
pub fn after(start: Timestamp, wait: Duration) -> Timestamp {
    start.checked_add(wait).unwrap_or(Timestamp::MAX)
}

/// How long it takes from one instant to a later one; nothing if it is not later.
#[must_use]
pub fn between(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::try_from(later.duration_since(earlier)).unwrap_or(Duration::ZERO)
}
