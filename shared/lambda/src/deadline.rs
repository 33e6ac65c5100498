//! The end of an invocation, and of the turns in it.

use std::time::Duration;

use dragline_domain::time::between;
use jiff::Timestamp;

/// What is kept of an invocation for what a turn does after its end: the longest wait for its pace and the longest request that are under way
/// by default, a segment's object with all its tries, and the commit with its own.
pub const RESERVE: Duration = Duration::from_secs(20 + 60 + 60 + 30);

/// What is kept of an invocation for what a walk through origins does once its time is over: one origin and the tickets that wait, each with
/// all its tries, its cursor, and the command sent again.
pub const WALK_RESERVE: Duration = Duration::from_secs(60);

/// When the invocation is ended from outside, whatever it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Timestamp);

impl Deadline {
    /// A deadline as the runtime tells it, in milliseconds since 1970. One that is out of range never comes.
    #[must_use]
    pub fn of_millis(millis: u64) -> Self {
        let at = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
        Self(at.unwrap_or(Timestamp::MAX))
    }

    /// How long a turn that begins now may go on asking: no longer than it would, and the reserve is kept.
    #[must_use]
    pub fn turn(self, now: Timestamp, longest: Duration) -> Duration {
        between(now, self.0).saturating_sub(RESERVE).min(longest)
    }

    /// How long a step that begins now may go through origins, if so many more are to come, itself included, each of which gets as much.
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
            (deadline(100), 0, "less than the reserve: nothing is asked for"),
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
            (deadline(240), 3, 60, "three crawls are to be swept"),
            (deadline(50), 1, 0, "less than the reserve: one origin"),
            (deadline(-5), 0, 0, "it is over"),
        ] {
            assert_eq!(deadline.walk(now, steps).as_secs(), expected, "{why}");
        }
    }
}
