//! Whether a crawl may begin iterations, and when its schedule begins the next one.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::definition::Schedule;
use crate::ids::TriggerId;

/// Whether a crawl may begin iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// It may.
    On {
        /// When its schedule begins the next one; `None` if it has no schedule, or schedules are
        /// not followed.
        next: Option<Timestamp>,
    },
    /// It may not: it was removed. Its definition and its crawled data stay.
    Off,
}

impl Switch {
    /// Returns when the schedule begins the next iteration; `None` if it does not.
    #[must_use]
    pub const fn next(self) -> Option<Timestamp> {
        match self {
            Self::On { next } => next,
            Self::Off => None,
        }
    }

    /// Returns the switch with the schedule's next time; `None` if the stored time is no longer the
    /// one that was seen.
    #[must_use]
    pub fn moved(self, seen: Timestamp, next: Option<Timestamp>) -> Option<Self> {
        (self.next() == Some(seen)).then_some(Self::On { next })
    }
}

/// An iteration that is due by a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueIteration {
    /// The scheduled time.
    pub at: Timestamp,
    /// Its trigger, the same for everybody who sees this scheduled time.
    pub trigger: TriggerId,
    /// When the next one begins; `None` if there is none.
    pub next: Option<Timestamp>,
}

/// Returns the iteration that is due now, if any. Several missed times count as one.
#[must_use]
pub fn due_iteration(switch: Switch, schedule: Option<&Schedule>, now: Timestamp) -> Option<DueIteration> {
    let at = switch.next().filter(|at| *at <= now)?;
    Some(DueIteration {
        at,
        trigger: TriggerId::schedule(at),
        next: schedule.and_then(|schedule| schedule.next_after(now)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        time.parse().unwrap()
    }

    fn on(time: &str) -> Switch {
        Switch::On { next: Some(at(time)) }
    }

    #[test]
    fn a_schedule_comes_due_once_for_each_time() {
        let hourly = Schedule::new("0 * * * *", "UTC").unwrap();
        let now = "2026-11-21T08:00:00Z";
        for (switch, now, expected, why) in [
            (on("2026-11-21T08:00:00Z"), now, Some(("2026-11-21T08:00:00Z", "2026-11-21T09:00:00Z")), "just now"),
            (on("2026-11-21T08:00:01Z"), now, None, "a second too early"),
            (on("2026-11-21T07:00:00Z"), now, Some(("2026-11-21T07:00:00Z", "2026-11-21T09:00:00Z")), "late"),
            (on("2026-11-20T01:00:00Z"), now, Some(("2026-11-20T01:00:00Z", "2026-11-21T09:00:00Z")), "many missed"),
            (Switch::On { next: None }, now, None, "no schedule"),
            (Switch::Off, now, None, "switched off"),
        ] {
            let expected = expected.map(|(time, next)| DueIteration {
                at: at(time),
                trigger: TriggerId(format!("schedule-{time}")),
                next: Some(at(next)),
            });
            assert_eq!(due_iteration(switch, Some(&hourly), at(now)), expected, "{why}");
        }
    }

    #[test]
    fn a_definition_without_a_schedule_never_comes_due() {
        let due = due_iteration(on("2026-11-21T08:00:00Z"), None, at("2026-11-21T08:00:00Z")).unwrap();
        assert_eq!(due.next, None);
    }

    #[test]
    fn only_the_time_that_was_seen_is_moved() {
        let (eight, nine, ten) = ("2026-11-21T08:00:00Z", "2026-11-21T09:00:00Z", "2026-11-21T10:00:00Z");
        for (switch, expected, why) in [
            (on(eight), Some(on(ten)), "as it was seen"),
            (on(nine), None, "somebody moved it"),
            (Switch::On { next: None }, None, "the schedule is gone"),
            (Switch::Off, None, "it was switched off meanwhile, and stays so"),
        ] {
            assert_eq!(switch.moved(at(eight), Some(at(ten))), expected, "{why}");
        }
        assert_eq!(on(eight).moved(at(eight), None), Some(Switch::On { next: None }), "it was the last time");
    }
}
