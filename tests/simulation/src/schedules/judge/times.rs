//! 19 and 21: schedules are kept, and what was removed rests.

use dragline_domain::definition::Definition;
use dragline_domain::frontier::Switch;
use dragline_domain::ids::TriggerId;
use dragline_service::ScheduleState;
use jiff::{SignedDuration, Timestamp};

use super::super::calendar::Calendar;
use super::super::scenario::Call;
use super::super::watch::{Change, Deed, Doing, Seen, Sight};
use super::{Case, Origin, violation};
use crate::invariants::{Invariant, Violation};

/// More than two clocks differ by.
const APART: SignedDuration = SignedDuration::from_millis(250);

impl Case<'_> {
    /// 19 and 20: only ticks move schedules, each to the first time after it; only calls change
    /// crawls, each as it says.
    pub(super) fn switches_change_as_they_should(&self) -> Vec<Violation> {
        let changes = self.history.changes().map(|(_, change)| change);
        let changes =
            changes.filter(|change| change.before.as_ref().map(|sight| &sight.row) != Some(&change.after.row));
        changes
            .filter_map(|change| {
                let (invariant, why) = self.is_wrong(change)?;
                let Change { crawl, at, worker, before, after, .. } = change;
                let before = before.as_ref().map(|sight| (sight.row.version, sight.row.switch));
                let after = (after.row.version, after.row.switch);
                let by = worker.map_or_else(|| "nobody".to_owned(), |worker| worker.to_string());
                Some(violation(invariant, format!("{at}: {by} changed {crawl} from {before:?} to {after:?}: {why}")))
            })
            .collect()
    }

    fn is_wrong(&self, change: &Change) -> Option<(Invariant, &'static str)> {
        let Some(deed) = self.deed_of(change) else { return Some((Invariant::CallsKept, "nobody called for it")) };
        let (row, before) = (&change.after.row, change.before.as_ref().map(|sight| &sight.row));
        let is_defined = before.is_some_and(|before| before.definition == row.definition);
        match &deed.doing {
            Doing::Tick(now) => {
                let seen = before.and_then(|before| before.switch.next());
                let next = row.definition.schedule.as_ref().map(|schedule| Calendar::of(schedule).first_after(*now));
                let wrong = match seen {
                    _ if !is_defined => "a tick changes no definition",
                    None => "its schedule was not followed",
                    Some(seen) if seen > *now => "it was not due",
                    Some(_) if row.switch != (Switch::On { next }) => "that is not the next time",
                    Some(_) => return None,
                };
                Some((Invariant::SchedulesKept, wrong))
            }
            Doing::Call(order) => {
                let is_next = || is_next_between(&row.definition, deed.began.0, change.at, row.switch);
                let is_right = match &order.call {
                    Call::Add(definition) => row.definition == **definition && is_next(),
                    Call::PutPaused(definition) => {
                        let is_paused = |switch| switch == Switch::On { next: None };
                        let seen = self.history.during(&order.crawl, deed.began.1, self.end());
                        let was_paused =
                            seen.iter().take_while(|sight| sight.row != *row).any(|sight| is_paused(sight.row.switch));
                        row.definition == **definition && is_paused(row.switch) && was_paused
                    }
                    Call::Remove | Call::SetSchedule(ScheduleState::Off) => is_defined && row.switch == Switch::Off,
                    Call::SetSchedule(ScheduleState::Paused) => is_defined && row.switch == Switch::On { next: None },
                    Call::SetSchedule(ScheduleState::On) => is_defined && is_next(),
                    Call::Start | Call::Change(_) => false,
                };
                (!is_right || order.crawl != change.crawl).then_some((Invariant::CallsKept, "that was not called for"))
            }
        }
    }

    /// 19 to 21: each iteration has the next number and a trigger of its own, which is a time that
    /// a tick saw to be due, or a call's; and one that began although its crawl was removed visits
    /// nothing.
    pub(super) fn iterations_begin_as_they_should(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        for (place, change) in self.history.changes() {
            let before = change.before.as_ref().map_or(&[][..], |sight| &sight.iterations);
            for seen in change.after.iterations.iter().skip(before.len()) {
                let Seen { number, trigger, status: _ } = seen;
                let (crawl, at) = (&change.crawl, change.at);
                let mut wrong = |invariant, why: &str| {
                    found
                        .push(violation(invariant, format!("{at}: iteration {number} of {crawl} by {trigger}: {why}")));
                };
                if *number as usize != before.len() + 1 {
                    wrong(Invariant::SchedulesKept, "that is not the next number");
                }
                let is_again = before.iter().any(|earlier| earlier.trigger == *trigger);
                match self.origin(crawl, trigger) {
                    Origin::Time(_) if is_again => wrong(Invariant::SchedulesKept, "it began before"),
                    Origin::Time(due) => {
                        let saw = |(tick, now): (&Deed, Timestamp)| {
                            let last = tick.done.as_ref().map_or(place, |(done, _)| *done);
                            let sights = self.history.during(crawl, tick.began.1, last);
                            tick.began.1 < place && now >= due && sights.iter().any(|sight| sight.next() == Some(due))
                        };
                        if !self.ticks().any(saw) {
                            wrong(Invariant::SchedulesKept, "no tick saw that it was due");
                        }
                    }
                    Origin::Calls(_) if is_again => wrong(Invariant::CallsKept, "it began before"),
                    Origin::Calls(calls) if !calls.iter().any(|call| call.began.1 < place) => {
                        wrong(Invariant::CallsKept, "nobody called for it");
                    }
                    Origin::Calls(_) => {}
                }
                if change.before.as_ref().is_some_and(Sight::is_off) && self.is_visited(change, *number) {
                    wrong(Invariant::RemovedRests, "the crawl was removed, and visited");
                }
            }
        }
        found
    }

    /// Whether the site was asked for anything in an iteration that began with this change.
    fn is_visited(&self, begun: &Change, number: u32) -> bool {
        let is_closed = |change: &Change| {
            let seen = change.after.iterations.get(number as usize - 1);
            change.crawl == begun.crawl && seen.is_some_and(|seen| seen.status == "closed")
        };
        let closed = self.history.changes().find(|(_, change)| is_closed(change)).map(|(_, change)| change.at);
        self.accesses.iter().any(|access| {
            access.url.host() == begun.crawl.as_str()
                && access.begun >= begun.at
                && closed.is_none_or(|closed| access.begun < closed)
        })
    }

    /// 19: after a tick no schedule is due that was before it.
    pub(super) fn ticks_leave_nothing_due(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        for (tick, now) in self.ticks() {
            let Some((done, _)) = &tick.done else { continue };
            for crawl in &self.scenario.crawls {
                let sights = self.history.during(crawl, tick.began.1, *done);
                let due = sights.first().and_then(|sight| sight.next()).filter(|due| *due <= now);
                if let Some(due) = due.filter(|_| sights.iter().all(|sight| sight.next() == due)) {
                    let what = format!("the tick of {now} left {crawl} due at {due}");
                    found.push(violation(Invariant::SchedulesKept, what));
                }
            }
        }
        found
    }

    /// 19: of each time that a schedule has passed there came an iteration, or word that there was
    /// none.
    pub(super) fn passed_times_have_outcomes(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        for (_, change) in self.history.changes() {
            let Some(tick) = self.deed_of(change).filter(|deed| matches!(deed.doing, Doing::Tick(_))) else { continue };
            let (crawl, before, end) = (&change.crawl, change.before.as_ref(), self.end());
            let Some(due) = before.and_then(Sight::next).filter(|due| change.after.next() != Some(*due)) else {
                continue;
            };
            let trigger = TriggerId::schedule(due);
            let was_removed = || self.history.during(crawl, tick.began.1, end).iter().any(|sight| sight.is_off());
            if !self.has_begun(crawl, &trigger, end) && !self.was_skipped(crawl, &trigger) && !was_removed() {
                let what = format!("nothing came of {due}, a time of {crawl} that was passed at {}", change.at);
                found.push(violation(Invariant::SchedulesKept, what));
            }
        }
        found
    }
}

/// Whether a switch has the first time of a schedule after some moment between these.
fn is_next_between(definition: &Definition, from: Timestamp, to: Timestamp, switch: Switch) -> bool {
    let Some(schedule) = &definition.schedule else { return switch == Switch::On { next: None } };
    let calendar = Calendar::of(schedule);
    let Some(next) = switch.next() else { return false };
    let (first, last) = (calendar.first_after(from - APART), calendar.first_after(to + APART));
    (first..=last).contains(&next) && calendar.first_after(next - SignedDuration::from_secs(1)) == next
}
