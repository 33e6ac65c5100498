//! The end of an invocation, and of the turns in it.

use std::time::Duration;

use dragline_domain::time::between;
use jiff::Timestamp;

/// The part of an invocation that is reserved for what a turn does after its end: by default the longest wait for its pace and the longest request
/// under way, a segment's object with all its tries, and the commit with its tries.
pub const RESERVE: Duration = Duration::from_secs(20 + 60 + 60 + 30);

/// The part of an invocation that is reserved for what a walk through origins does after its time: one origin and the waiting tickets, each with
/// all its tries, its cursor, and sending the command again.
pub const WALK_RESERVE: Duration = Duration::from_secs(60);

/// When the invocation is ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Timestamp);

impl Deadline {
    /// Returns a deadline from the runtime's milliseconds since 1970. One that is out of range never comes.
    #[must_use]
    pub fn of_millis(millis: u64) -> Self {
        let at = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
        Self(at.unwrap_or(Timestamp::MAX))
    }

    /// Returns how long a turn that begins now may make requests: no longer than `longest`, and leaving the reserve.
    #[must_use]
    pub fn turn(self, now: Timestamp, longest: Duration) -> Duration {
        between(now, self.0).saturating_sub(RESERVE).min(longest)
    }

    /// Returns how long a step that begins now may walk through origins, if `steps` are still to come, including this one, each with as much time.
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
        let deadline = |seconds: i64| Deadline::of_millis(u64::try_from((1_795_000_000 + seconds) * 1_000).unwrap());
        for (deadline, expected, why) in [
            (deadline(600), 240, "time enough"),
            (deadline(270), 100, "what is left before the reserve"),
            (deadline(100), 0, "less than the reserve: no request is made"),
            (deadline(-5), 0, "it is over"),
            (Deadline::of_millis(u64::MAX), 240, "no deadline at all"),
        ] {
            assert_eq!(deadline.turn(now, longest).as_secs(), expected, "{why}");
        }
    }

    #[test]
    fn walks_share_what_is_left() {
        let now = Timestamp::from_second(1_795_000_000).unwrap();
        let deadline = |seconds: i64| Deadline::of_millis(u64::try_from((1_795_000_000 + seconds) * 1_000).unwrap());
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
