//! What must hold in every state, and once an iteration is closed, recomputed from segments, claims
//! and todo, not from the counts.

use std::fmt;

use dragline_domain::capture::Finality;
use dragline_domain::frontier::{IterationRow, IterationStatus, LeaseState, SegmentState};

use crate::config::Hosts;
use crate::crawler::Term;
use crate::model::Model;
use crate::site::Page;
use crate::state::{Documents, State};

/// An invariant of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Invariant {
    /// Every state leads to the end, without further faults.
    EndInReach,
    /// No page ends twice in an iteration.
    OneOutcomeAPage,
    /// No more is taken than was added, and no more parsed than was committed.
    CountsInOrder,
    /// The iteration's count of open origins is exact.
    OpenCountedRight,
    /// Todo that is counted exists.
    TodoIsThere,
    /// What is left, reserved and used adds up to the budget.
    BudgetAddsUp,
    /// A lease is not taken from its holder before it has run out.
    LeaseKept,
    /// A host is visited by one turn at a time, and no more hosts of a domain than it has places.
    HostKept,
    /// Only the holder of a lease commits.
    HolderCommits,
    /// A commit reported as done was done by this holder.
    DoneIsDone,
    /// Leases are given only while the iteration is open.
    LeasesOnlyWhileOpen,
    /// There is one iteration at a time, and one for each trigger.
    OneIterationATrigger,
    /// A stopping or closed iteration does not become open again.
    EndIsFinal,
    /// No origin goes deeper while less deep segments of it are unparsed.
    BarrierHeld,
    /// Once the iteration is closed, so is every origin.
    OverMeansClosed,
    /// Once it is closed, every segment is parsed.
    OverMeansParsed,
    /// Once it is closed, no todo is left.
    OverMeansNoTodo,
    /// Once it is closed, every claimed page has one outcome or is counted in a leftover.
    NothingLost,
    /// Once it is closed, every seed and every link of a parsed page is claimed, and every known
    /// page was visited again.
    EverythingClaimed,
}

impl Invariant {
    const fn words(self) -> &'static str {
        match self {
            Self::EndInReach => "the end is out of reach",
            Self::OneOutcomeAPage => "a page ended twice",
            Self::CountsInOrder => "more was taken than added, or parsed than committed",
            Self::OpenCountedRight => "the count of open origins is wrong",
            Self::TodoIsThere => "todo is counted that does not exist",
            Self::BudgetAddsUp => "the budget does not add up",
            Self::LeaseKept => "a lease that had not run out was taken from its holder",
            Self::HostKept => "two turns visited one host at once, or a domain with one place",
            Self::HolderCommits => "a worker committed without holding the lease",
            Self::DoneIsDone => "a commit was reported as done that was not",
            Self::LeasesOnlyWhileOpen => "a lease was given while the iteration was not open",
            Self::OneIterationATrigger => "an iteration began while another ran, or twice for one trigger",
            Self::EndIsFinal => "a stopping or closed iteration became open again, or closed twice",
            Self::BarrierHeld => "an origin went deeper while a less deep segment was unparsed",
            Self::OverMeansClosed => "closed with an origin open",
            Self::OverMeansParsed => "closed with a segment unparsed",
            Self::OverMeansNoTodo => "closed with todo left",
            Self::NothingLost => {
                "closed with a claimed page that has no outcome and is in no leftover, or is counted twice"
            }
            Self::EverythingClaimed => "closed with a seed, a link or a known page that was never claimed",
        }
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

impl Model {
    /// The first invariant that a state violates, if any.
    pub(crate) fn broken(&self, state: &State) -> Option<Invariant> {
        let rows = || state.iterations.iter().flatten();
        state
            .broken
            .or_else(|| {
                rows()
                    .filter(|row| row.status == IterationStatus::Closed)
                    .find_map(|row| self.broken_when_over(state, row))
            })
            .or_else(|| rows().find_map(|row| broken_always(state, row)))
            .or_else(|| broken_lease(state))
            .or_else(|| self.broken_host(state))
            .or_else(|| rows().find_map(|row| self.broken_budget(state, row)))
    }

    fn broken_host(&self, state: &State) -> Option<Invariant> {
        let held = state.crawlers.iter().filter(|crawler| crawler.asks()).filter_map(|crawler| crawler.held());
        let asking = held.filter(|held| held.term == Term::Running).count();
        (self.config.hosts != Hosts::Apart && asking > 1).then_some(Invariant::HostKept)
    }

    fn broken_budget(&self, state: &State, row: &IterationRow) -> Option<Invariant> {
        let limit = self.config.pages_max?;
        let set_aside: u64 =
            state.rows_in(row.number).filter_map(|(_, rows)| rows.lease.holder()?.reserved.pages).sum();
        let used = state.iteration_segments(row.number).count() as u64;
        let left = row.budget.pages.unwrap_or(0);
        (left + set_aside + used != limit).then_some(Invariant::BudgetAddsUp)
    }

    fn broken_when_over(&self, state: &State, row: &IterationRow) -> Option<Invariant> {
        let number = row.number;
        if state.rows_in(number).any(|(_, rows)| rows.lease.state != LeaseState::Closed) {
            return Some(Invariant::OverMeansClosed);
        }
        if state.iteration_segments(number).any(|segment| segment.row.state != SegmentState::Processed) {
            return Some(Invariant::OverMeansParsed);
        }
        let has_chunk = state.todo.keys().any(|(_, key)| key.iteration == number);
        if has_chunk || state.rows_in(number).any(|(_, rows)| rows.inbox.added != rows.lease.taken) {
            return Some(Invariant::OverMeansNoTodo);
        }
        // A later iteration claims candidates anew, so who claimed them in this one is no longer
        // known.
        if state.latest().is_some_and(|latest| latest.number != number) {
            return None;
        }
        let queued = |page: &Page| state.candidates.get(page).is_some_and(|candidate| candidate.queued_in == number);
        let has_outcome = |page: &Page| outcomes(state, row).any(|of| of == *page);
        let without = state.candidates.keys().filter(|page| queued(page) && !has_outcome(page)).count();
        let leftovers = || state.leftovers.iter().filter(|((of, ..), _)| *of == number);
        if without as u64 != leftovers().map(|(_, count)| count).sum::<u64>() {
            return Some(Invariant::NothingLost);
        }
        (!self.must_be_claimed(state, row).iter().all(queued)
            || leftovers().next().is_none() && self.must_be_visited(state).iter().any(|page| !queued(page)))
        .then_some(Invariant::EverythingClaimed)
    }

    /// The seeds, and the links of parsed pages.
    fn must_be_claimed(&self, state: &State, row: &IterationRow) -> Vec<Page> {
        let read = state
            .iteration_segments(row.number)
            .filter(|s| s.finality == Finality::Final && s.documents == Some(Documents::Read));
        let links = read.flat_map(|segment| self.links(segment.page, segment.depth));
        self.config.site.seeds.iter().copied().chain(links).collect()
    }

    /// If nothing was left over: every known page and, with a depth limit, every page within it.
    fn must_be_visited(&self, state: &State) -> Vec<Page> {
        let known = state.candidates.keys().copied();
        let within = self.config.depth_max.map(|depth| self.config.site.within(depth)).unwrap_or_default();
        known.chain(within.into_keys()).collect()
    }
}

/// The pages that ended in an iteration, once for each time.
fn outcomes(state: &State, row: &IterationRow) -> impl Iterator<Item = Page> {
    state
        .iteration_segments(row.number)
        .filter(|segment| segment.finality == Finality::Final)
        .map(|segment| segment.page)
}

fn broken_always(state: &State, row: &IterationRow) -> Option<Invariant> {
    let ended: Vec<Page> = outcomes(state, row).collect();
    if ended.iter().enumerate().any(|(number, page)| ended[..number].contains(page)) {
        return Some(Invariant::OneOutcomeAPage);
    }
    let mut open = u64::from(row.token_out);
    for (_, rows) in state.rows_in(row.number) {
        let (lease, inbox) = (&rows.lease, &rows.inbox);
        if lease.taken > inbox.added || inbox.parsed > lease.segments {
            return Some(Invariant::CountsInOrder);
        }
        let is_open = lease.state != LeaseState::Closed;
        if inbox.open != is_open {
            return Some(Invariant::OpenCountedRight);
        }
        open += u64::from(is_open);
    }
    (row.open != open).then_some(Invariant::OpenCountedRight)
}

fn broken_lease(state: &State) -> Option<Invariant> {
    let mut held = state.crawlers.iter().filter_map(|crawler| crawler.held());
    held.any(|held| {
        let is_held = state.rows(held.origin).is_some_and(|rows| rows.lease.is_held_by(&held.token));
        held.term == Term::Running && !is_held
    })
    .then_some(Invariant::LeaseKept)
}
