//! Arithmetic on instants that cannot overflow.

use std::time::Duration;

use jiff::Timestamp;

/// Returns the instant this long after another, or the last representable one if that is out of
/// range.
#[must_use]
pub fn after(start: Timestamp, wait: Duration) -> Timestamp {
    start.checked_add(wait).unwrap_or(Timestamp::MAX)
}

/// Checks a stored end of a wait against the longest possible wait. One further in the future was
/// written by a clock ahead of this one, so the true end is unknown, and the wait counts as over.
#[must_use]
pub fn honest(stored: Timestamp, now: Timestamp, longest: Duration) -> Timestamp {
    if between(now, stored) > longest { now } else { stored }
}

/// The largest lag of a caller's `now`, which is the time when its operation began. A clock that is
/// further behind was set back.
const LATE_MAX: Duration = Duration::from_mins(10);

/// Converts a stored end of a wait for a clock that says `now`, given the writer's clock at the
/// time of writing.
///
/// If the clock was set back since, the end moves with it: the rest of the wait at that time counts
/// from now on.
#[must_use]
pub fn by_clock(stored: Timestamp, written_at: Timestamp, now: Timestamp, longest: Duration) -> Timestamp {
    if is_set_back(written_at, now) {
        after(now, between(written_at, stored).min(longest))
    } else {
        honest(stored, now, longest)
    }
}

/// Whether a clock that said `written_at` has been set back since.
#[must_use]
pub fn is_set_back(written_at: Timestamp, now: Timestamp) -> bool {
    written_at > written_by(now)
}

/// Returns the latest reading that a clock can have given if a caller, which may lag, has read
/// `now` from it.
#[must_use]
pub fn written_by(now: Timestamp) -> Timestamp {
    after(now, LATE_MAX)
}

/// Returns the time from one instant to a later one; zero if it is not later.
#[must_use]
pub fn between(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::try_from(later.duration_since(earlier)).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_back_moves_times_along() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let longest = Duration::from_secs(5_000);
        for (stored, written, now, expected, why) in [
            (1_060, 1_000, 1_010, 1_060, "it went on"),
            (1_060, 1_000, 970, 1_060, "whoever asks asks late, or is of a machine that is behind a little"),
            (1_060, 1_000, 400, 1_060, "as late as can be"),
            (1_060, 1_000, 399, 459, "set back: a minute was to be waited for"),
            (9_000, 1_000, 100, 5_100, "no wait is longer"),
            (900, 1_000, 100, 100, "over already"),
        ] {
            assert_eq!(by_clock(at(stored), at(written), at(now), longest), at(expected), "{why}");
        }
    }

    #[test]
    fn a_time_beyond_the_longest_wait_counts_as_over() {
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
