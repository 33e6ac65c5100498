//! What must hold of schedules, calls and notices, whatever failed or died meanwhile.

mod calls;
mod notices;
mod times;

use dragline_domain::ids::{CrawlId, TriggerId};
use jiff::Timestamp;
use rusqlite::Connection;

use super::scenario::{Call, Order, Scenario};
use super::watch::{Change, Deed, Doing, Event, History, Place};
use crate::invariants::{Checked, Invariant, Violation};
use crate::web::Access;

/// A run, and what it left.
pub(super) struct Case<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) history: &'a History,
    pub(super) accesses: &'a [Access],
    pub(super) database: &'a Connection,
}

/// What triggered an iteration.
enum Origin<'a> {
    /// This time of a schedule.
    Time(Timestamp),
    /// These deeds of clients, none if nobody called for it.
    Calls(Vec<&'a Deed>),
}

impl Case<'_> {
    /// 19 to 22, once all is over.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn judge(&self) -> Checked {
        Ok([self.judge_meanwhile(), self.passed_times_have_outcomes(), self.notices_are_kept()?].concat())
    }

    /// What holds at any time.
    pub(super) fn judge_meanwhile(&self) -> Vec<Violation> {
        [
            self.switches_change_as_they_should(),
            self.iterations_begin_as_they_should(),
            self.ticks_leave_nothing_due(),
            self.calls_have_one_effect(),
            self.answers_are_true(),
        ]
        .concat()
    }

    fn deed_of(&self, change: &Change) -> Option<&Deed> {
        change.deed.and_then(|deed| self.history.deeds.get(deed))
    }

    /// The end of all that happened.
    fn end(&self) -> Place {
        self.history.events.len()
    }

    /// The calls, with their orders.
    fn calls(&self) -> impl Iterator<Item = (&Deed, &Order)> {
        self.history.deeds.iter().filter_map(|deed| match &deed.doing {
            Doing::Call(order) => Some((deed, order)),
            Doing::Tick(_) => None,
        })
    }

    /// The ticks, with what the clock showed.
    fn ticks(&self) -> impl Iterator<Item = (&Deed, Timestamp)> {
        self.history.deeds.iter().filter_map(|deed| match &deed.doing {
            Doing::Tick(now) => Some((deed, *now)),
            Doing::Call(_) => None,
        })
    }

    fn origin(&self, crawl: &CrawlId, trigger: &TriggerId) -> Origin<'_> {
        if let Some(time) = trigger.0.strip_prefix("schedule-").and_then(|time| time.parse().ok()) {
            return Origin::Time(time);
        }
        let starts = |order: &Order| order.call == Call::Start && order.crawl == *crawl && order.trigger == *trigger;
        Origin::Calls(self.calls().filter(|(_, order)| starts(order)).map(|(deed, _)| deed).collect())
    }

    /// Whether a crawl has an iteration that was triggered by this, at this place.
    fn has_begun(&self, crawl: &CrawlId, trigger: &TriggerId, place: Place) -> bool {
        self.history.at(crawl, place).is_some_and(|sight| sight.iterations.iter().any(|seen| seen.trigger == *trigger))
    }

    /// The triggers of which people were told that they began nothing.
    fn skipped(&self) -> impl Iterator<Item = (Place, &CrawlId, &TriggerId, Timestamp)> {
        use dragline_ports::notifier::Notice;
        self.history.events.iter().enumerate().filter_map(|(place, event)| match event {
            Event::Told(notice, since) => match &**notice {
                Notice::StartSkipped { trigger, running } => Some((place, &running.crawl, trigger, *since)),
                _ => None,
            },
            _ => None,
        })
    }

    fn was_skipped(&self, crawl: &CrawlId, trigger: &TriggerId) -> bool {
        self.skipped().any(|(_, of, skipped, _)| of == crawl && skipped == trigger)
    }
}

fn violation(invariant: Invariant, what: String) -> Violation {
    Violation { invariant, what }
}
