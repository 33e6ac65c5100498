//! The inbox row of an origin: the todo that parsers add, and the number of parsed segments.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{PageObservation, Seeding, WatchedShapes};
use crate::change::ChangeKind;
use crate::ids::Iteration;
use crate::outcome::Outcome;
use crate::remake::Recount;

/// The row that parsers write. `added` and `parsed` only grow within an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inbox {
    /// The iteration of its counts.
    pub iteration: Iteration,
    /// Whether the origin counts among the iteration's open ones. Written together with the lease.
    pub open: bool,
    /// How many todo URLs were added.
    pub added: u64,
    /// How many segments of this origin have been parsed.
    pub parsed: u64,
    /// Seedings that earlier versions recorded here; they are valid as long as the row belongs to
    /// their iteration. Seedings now have rows of their own, as a list would grow with each
    /// command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeded: Vec<Seeding>,
    /// When the sweeper should check for a missed wake-up or close; `None` while none is due.
    /// Stored beside the rest, as it changes on its own.
    #[serde(skip)]
    pub due: Option<Timestamp>,
    /// The parsers' counters, for progress.
    pub counters: ParserCounters,
    /// Shapes of its URLs whose pages may be without end.
    #[serde(default, skip_serializing_if = "WatchedShapes::is_empty")]
    pub shapes: WatchedShapes,
}

/// The parsers' counters for an origin's own segments in an iteration. They only grow, until
/// documents are remade ([`Recount`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParserCounters {
    /// URLs of any origin that its segments were the first to claim, including blocked ones.
    pub found: u64,
    /// Those of them that were first written with parameters that were stripped.
    #[serde(default)]
    pub found_stripped: u64,
    /// Captures that became documents.
    pub processed: u64,
    /// Captures on which the parser crashed, or that it no longer tries.
    pub stuck: u64,
    /// URLs whose captures cannot be read: they have no outcome, and count as leftovers,
    /// [`super::LeftoverReason::SegmentUnreadable`].
    #[serde(default)]
    pub unreadable: u64,
    /// Final outcomes, by kind.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Recorded links to targets outside the scope.
    pub links_out_of_scope: u64,
    /// Links to targets deeper than the definition allows.
    pub links_too_deep: u64,
    /// Links that the page forbids following.
    pub links_nofollow: u64,
    /// Links that were not followed because more URLs waited than the page budget allows.
    #[serde(default)]
    pub links_beyond_budget: u64,
    /// The changes by visits in the current state of the site, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changes: BTreeMap<ChangeKind, u64>,
    /// Documents that were remade from stored bodies, without a visit.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub reparsed: u64,
    /// Pages whose items have other fields than before, like other pages visited with them: their
    /// template has changed.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub drifted: u64,
}

impl ParserCounters {
    /// Adds other counters.
    pub fn add(&mut self, more: &Self) {
        self.found += more.found;
        self.found_stripped += more.found_stripped;
        self.processed += more.processed;
        self.stuck += more.stuck;
        self.unreadable += more.unreadable;
        self.links_out_of_scope += more.links_out_of_scope;
        self.links_too_deep += more.links_too_deep;
        self.links_nofollow += more.links_nofollow;
        self.links_beyond_budget += more.links_beyond_budget;
        self.reparsed += more.reparsed;
        self.drifted += more.drifted;
        for (&outcome, count) in &more.outcomes {
            *self.outcomes.entry(outcome).or_default() += count;
        }
        for (&kind, count) in &more.changes {
            *self.changes.entry(kind).or_default() += count;
        }
    }
}

impl ParserCounters {
    /// Subtracts the counts of documents.
    fn subtract(&mut self, less: &Self) {
        let numbers = [
            (&mut self.processed, less.processed),
            (&mut self.stuck, less.stuck),
            (&mut self.links_out_of_scope, less.links_out_of_scope),
            (&mut self.links_too_deep, less.links_too_deep),
            (&mut self.links_nofollow, less.links_nofollow),
            (&mut self.links_beyond_budget, less.links_beyond_budget),
            (&mut self.reparsed, less.reparsed),
        ];
        for (count, less) in numbers {
            *count = count.saturating_sub(less);
        }
        subtract_each(&mut self.outcomes, &less.outcomes);
        subtract_each(&mut self.changes, &less.changes);
    }
}

fn subtract_each<K: Ord>(counts: &mut BTreeMap<K, u64>, less: &BTreeMap<K, u64>) {
    counts.retain(|key, count| {
        *count = count.saturating_sub(less.get(key).copied().unwrap_or(0));
        *count > 0
    });
}

impl Inbox {
    /// Creates the empty inbox of an origin that is not open yet.
    #[must_use]
    pub fn new(iteration: Iteration) -> Self {
        Self {
            iteration,
            open: false,
            added: 0,
            parsed: 0,
            seeded: Vec::new(),
            due: None,
            counters: ParserCounters::default(),
            shapes: WatchedShapes::default(),
        }
    }

    /// Returns the inbox of the next iteration, before the origin opens in it.
    pub(super) fn renewed(&self, iteration: Iteration) -> Self {
        Self { shapes: self.shapes.carried_over(), ..Self::new(iteration) }
    }

    /// Counts one more segment of the origin as parsed.
    pub(super) fn count_parsed(&mut self, counters: &ParserCounters, pages: &[PageObservation], due: Timestamp) {
        self.parsed += 1;
        self.due = Some(due);
        self.counters.add(counters);
        self.shapes.observe(self.added, pages);
    }

    /// Returns the inbox with the counts of remade documents. No counter falls below zero.
    #[must_use]
    pub fn recounted(&self, recount: &Recount) -> Self {
        let mut counters = self.counters.clone();
        counters.add(&recount.more);
        counters.subtract(&recount.less);
        Self { counters, ..self.clone() }
    }

    /// Marks the origin as closed: there is nothing left for the sweeper to check.
    pub(super) fn close(&mut self) {
        self.open = false;
        self.due = None;
    }
}
