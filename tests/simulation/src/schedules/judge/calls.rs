//! 20: a call with a trigger has one effect, and what an answer says is there.

use dragline_domain::frontier::{IterationBegun, Switch};
use dragline_pipeline::schedule::CommandResult;
use dragline_service::ScheduleState;

use super::super::scenario::{Call, Order};
use super::super::watch::{Answer, Deed, Place, Sight};
use super::{Case, violation};
use crate::invariants::{Invariant, Violation};

/// Whether a call has a trigger.
const fn has_trigger(call: &Call) -> bool {
    !matches!(call, Call::SetSchedule(_) | Call::PutPaused(_))
}

impl Case<'_> {
    /// The first try of a call.
    fn began(&self, order: &Order) -> Place {
        let tries = self.calls().filter(|(_, other)| other.trigger == order.trigger);
        tries.map(|(deed, _)| deed.began.1).min().unwrap_or(0)
    }

    /// 20: once a call was answered, giving it again changes nothing.
    pub(super) fn calls_have_one_effect(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        for (place, change) in self.history.changes() {
            let Some(deed) = self.deed_of(change) else { continue };
            let Some((_, order)) = self.calls().find(|(call, _)| std::ptr::eq(*call, deed)) else { continue };
            let is_answered = |(call, other): (&Deed, &Order)| {
                other.trigger == order.trigger
                    && matches!(&call.done, Some((done, Answer::Result(_))) if *done < deed.began.1)
            };
            if has_trigger(&order.call) && self.calls().any(is_answered) {
                let what = format!(
                    "{}: {} was answered, and given again it changed {}",
                    change.at, order.trigger, change.crawl
                );
                debug_assert!(place > deed.began.1, "changes come after what they belong to");
                found.push(violation(Invariant::CallsKept, what));
            }
        }
        found
    }

    /// 20: what an answer says was there at some moment between the first try of the call and the
    /// answer. That nobody else changes it since, other checks say.
    pub(super) fn answers_are_true(&self) -> Vec<Violation> {
        let false_answers = self.calls().filter_map(|(deed, order)| {
            let (done, answer) = deed.done.as_ref().filter(|(_, answer)| *answer != Answer::Refused)?;
            let from = if has_trigger(&order.call) { self.began(order) } else { deed.began.1 };
            let sights = self.history.during(&order.crawl, from, *done);
            (!self.is_true(order, answer, &sights)).then(|| {
                let what =
                    format!("{} of {} was answered with {answer:?}, which is not so", order.trigger, order.crawl);
                violation(Invariant::CallsKept, what)
            })
        });
        false_answers.collect()
    }

    fn is_true(&self, order: &Order, answer: &Answer, sights: &[&Sight]) -> bool {
        let any = |test: &dyn Fn(&Sight) -> bool| sights.iter().any(|sight| test(sight));
        let is_paused = |sight: &Sight| sight.row.switch == Switch::On { next: None };
        let result = match answer {
            Answer::Result(result) => Some(&**result),
            Answer::Done | Answer::Refused => None,
        };
        match (&order.call, result) {
            (Call::Add(definition), _) => any(&|sight| sight.row.definition == **definition && !sight.is_off()),
            (Call::PutPaused(definition), _) => any(&|sight| sight.row.definition == **definition && is_paused(sight)),
            (Call::Remove | Call::SetSchedule(ScheduleState::Off), _) => any(&Sight::is_off),
            (Call::SetSchedule(ScheduleState::Paused), _) => any(&is_paused),
            (Call::SetSchedule(ScheduleState::On), _) => {
                any(&|sight| sight.next().is_some() || (is_paused(sight) && sight.row.definition.schedule.is_none()))
            }
            (Call::Start, Some(CommandResult::Started(IterationBegun::Busy(running)))) => any(&|sight| {
                sight.iterations.iter().any(|seen| seen.number == running.number.number() && seen.status != "closed")
            }),
            (Call::Start, _) => {
                self.has_begun(&order.crawl, &order.trigger, self.end())
                    || self.was_skipped(&order.crawl, &order.trigger)
            }
            (Call::Change(_), Some(CommandResult::Changed(row))) => any(&|sight| {
                let is_it = |number: u32, status: &str| number == row.number.number() && status == row.status.name();
                sight.iterations.iter().any(|seen| is_it(seen.number, &seen.status))
            }),
            (Call::Change(_), _) => true,
        }
    }
}
