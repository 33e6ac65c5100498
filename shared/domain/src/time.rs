//! Arithmetic on instants that cannot overflow.

use std::time::Duration;

use jiff::Timestamp;

/// The instant so long after another; the last instant there is when that is out of range.
#[must_use]
pub fn after(start: Timestamp, wait: Duration) -> Timestamp {
    start.checked_add(wait).unwrap_or(Timestamp::MAX)
}

/// A stored time until which something waits, held against what the longest wait can be: one that is further off was written by a clock that
/// was ahead of this one, and nothing is known of it but that the wait is over some time. It counts as over.
#[must_use]
pub fn honest(stored: Timestamp, now: Timestamp, longest: Duration) -> Timestamp {
    if between(now, stored) > longest { now } else { stored }
}

/// How long it takes from one instant to a later one; nothing if it is not later.
#[must_use]
pub fn between(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::try_from(later.duration_since(earlier)).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_beyond_the_longest_wait_is_no_honest_one() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let longest = Duration::from_secs(180);
        for (stored, expected, why) in [
            (90, 90, "over"),
            (100, 100, "over just now"),
            (280, 280, "the longest wait, begun this moment"),
            (281, 100, "no wait leads there"),
            (86_500, 100, "the clock was a day ahead"),
        ] {
            assert_eq!(honest(at(stored), at(100), longest), at(expected), "{why}");
        }
    }
}
