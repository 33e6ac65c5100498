//! The inbox row of an origin: what parsers found for it, and how much of its own is parsed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Seeding;
use crate::ids::Iteration;
use crate::outcome::Outcome;

/// The row that parsers write. `added` and `parsed` only grow within an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inbox {
    /// The iteration that it counts for.
    pub iteration: Iteration,
    /// Whether the origin counts among the iteration's open ones. Written together with the lease.
    pub open: bool,
    /// Todo URLs ever added.
    pub added: u64,
    /// Segments of this origin that are parsed.
    pub parsed: u64,
    /// Seeds that are in, as earlier versions wrote them down; they count as long as the row is of their iteration. What is seeded now is marked
    /// by rows of its own, as a list would grow with each URL that is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeded: Vec<Seeding>,
    /// When the sweeper should look whether a wake-up or a close was missed; absent while none is owed. Stored beside the rest, as it is
    /// moved alone.
    #[serde(skip)]
    pub due: Option<Timestamp>,
    /// What parsers did here, for progress.
    pub counters: ParserCounters,
}

/// What parsers did for an origin's own segments in an iteration. Only grows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParserCounters {
    /// URLs of any origin that its segments claimed first, blocked ones included.
    pub found: u64,
    /// Of these, how many were first written with parameters that were taken out.
    #[serde(default)]
    pub found_stripped: u64,
    /// Captures that became documents.
    pub processed: u64,
    /// Captures that broke the parser, or that it was not let near again.
    pub stuck: u64,
    /// URLs whose captures cannot be read: they have no outcome, and are left over as [`super::LeftoverReason::SegmentUnreadable`].
    #[serde(default)]
    pub unreadable: u64,
    /// Final outcomes, by kind.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Links that were recorded but lead out of the scope.
    pub links_out_of_scope: u64,
    /// Links that lead deeper than the definition allows.
    pub links_too_deep: u64,
    /// Links that the page asks not to follow.
    pub links_nofollow: u64,
    /// Links that were left alone as more waited than the budget of pages lets the iteration ask for.
    #[serde(default)]
    pub links_beyond_budget: u64,
}

impl ParserCounters {
    /// Adds what another count holds.
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
        for (&outcome, count) in &more.outcomes {
            *self.outcomes.entry(outcome).or_default() += count;
        }
    }
}

impl Inbox {
    /// The empty inbox of an origin that is not open yet.
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
        }
    }

    /// Counts one more segment of the origin as parsed.
    pub(super) fn count_parsed(&mut self, counters: &ParserCounters, due: Timestamp) {
        self.parsed += 1;
        self.due = Some(due);
        self.counters.add(counters);
    }

    /// Takes the origin out of the open ones: nothing is owed to it any more.
    pub(super) fn close(&mut self) {
        self.open = false;
        self.due = None;
    }
}
