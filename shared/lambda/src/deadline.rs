//! The deadlines of an invocation and of its turns.

use std::time::Duration;

use dragline_domain::time::between;
use jiff::Timestamp;

/// The part of an invocation reserved for the end of a turn: with the default settings, the longest
/// delay and the longest request, a segment's object with all tries, and the commit with its tries.
pub const RESERVE: Duration = Duration::from_secs(20 + 60 + 60 + 30);

/// The part of an invocation reserved for the end of a walk through origins: one origin and the
/// waiting tickets, each with all tries, the cursor, and sending the command again.
pub const WALK_RESERVE: Duration = Duration::from_secs(60);

/// The time at which Lambda ends the invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Timestamp);

impl Deadline {
    /// Converts the runtime's milliseconds since 1970. A time that is out of range never comes.
    #[must_use]
    pub fn from_millis(millis: u64) -> Self {
        let at = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
        Self(at.unwrap_or(Timestamp::MAX))
    }

    /// Returns how long a turn that begins now may make requests: at most `longest`, and leaving
    /// the reserve.
    #[must_use]
    pub fn turn(self, now: Timestamp, longest: Duration) -> Duration {
        between(now, self.0).saturating_sub(RESERVE).min(longest)
    }

    /// Returns how long a step that begins now may walk through origins. `steps` is the number of
    /// steps still to come, including this one, which share the time equally.
    #[must_use]
    pub fn walk(self, now: Timestamp, steps: usize) -> Duration {
        let left = between(now, self.0).saturating_sub(WALK_RESERVE);
        left / u32::try_from(steps).unwrap_or(u32::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_leaves_the_reserve() {
        let now = Timestamp::from_second(1_795_000_000).unwrap();
        let longest = Duration::from_secs(240);
        let deadline = |seconds: i64| Deadline::from_millis(u64::try_from((1_795_000_000 + seconds) * 1_000).unwrap());
        for (deadline, expected, why) in [
            (deadline(600), 240, "time enough"),
            (deadline(270), 100, "what is left before the reserve"),
            (deadline(100), 0, "less than the reserve: no request is made"),
            (deadline(-5), 0, "it is over"),
            (Deadline::from_millis(u64::MAX), 240, "no deadline at all"),
        ] {
            assert_eq!(deadline.turn(now, longest).as_secs(), expected, "{why}");
        }
    }

    #[test]
    fn walks_share_what_is_left() {
        let now = Timestamp::from_second(1_795_000_000).unwrap();
        let deadline = |seconds: i64| Deadline::from_millis(u64::try_from((1_795_000_000 + seconds) * 1_000).unwrap());
        for (deadline, steps, expected, why) in [
            (deadline(300), 1, 240, "all of it but the reserve"),
            (deadline(240), 3, 60, "three crawls to sweep"),
            (deadline(50), 1, 0, "less than the reserve: one origin"),
            (deadline(-5), 0, 0, "it is over"),
        ] {
            assert_eq!(deadline.walk(now, steps).as_secs(), expected, "{why}");
        }
    }
}
