//! Remaking the documents of all iterations by the current definition: its progress and totals.

use serde::{Deserialize, Serialize};

use crate::capture::RedirectEntry;
use crate::change::{ChangeKind, VisitChange};
use crate::document::Document;
use crate::frontier::{ParserCounters, SegmentId, Selection, StateChange};
use crate::ids::Turn;
use crate::simhash::TextPrint;

/// The progress of remaking the documents of a crawl. Stored with each step, so that the next
/// worker continues there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemakeState {
    /// The job.
    pub job: RemakeJob,
    /// The last finished segment, in the order of origins and then of commits; `None` at the
    /// beginning.
    pub after: Option<SegmentId>,
    /// The totals up to there.
    pub done: RemakeTotals,
}

impl RemakeState {
    /// Creates the state at the beginning of a job.
    #[must_use]
    pub fn begin(job: RemakeJob) -> Self {
        Self { job, after: None, done: RemakeTotals::default() }
    }

    /// Whether a segment is done: it is the last finished one, or comes before it.
    #[must_use]
    pub fn has_passed(&self, segment: &SegmentId) -> bool {
        self.after.as_ref().is_some_and(|after| place(segment) <= place(after))
    }
}

/// Returns the place of a segment in the walk through a crawl.
fn place(id: &SegmentId) -> (&str, Turn, u64) {
    (id.origin.origin.as_str(), id.turn, id.n)
}

/// The job of remaking documents: only the same job continues where an earlier one stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemakeJob {
    /// The version of the crawl's definition.
    pub version: u32,
    /// The version of the program.
    pub program: String,
    /// The selection of URLs.
    pub selection: Selection,
}

/// The totals of remaking documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemakeTotals {
    /// Documents that were remade.
    pub remade: u64,
    /// Those of them whose content differs from before.
    pub different: u64,
    /// Those of them that do not fit the types of the definition.
    pub misfits: u64,
    /// Documents that stay as they were: their response is missing or damaged, or breaks the
    /// parser.
    pub kept: u64,
}

impl RemakeTotals {
    /// Adds other totals.
    pub fn add(&mut self, more: &Self) {
        let Self { remade, different, misfits, kept } = more;
        self.remade += remade;
        self.different += different;
        self.misfits += misfits;
        self.kept += kept;
    }
}

/// The replacement of a visit's stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemadeVisit {
    /// The document. Its `n` and URL are those of the stored one.
    pub document: Document,
    /// The visit's change in the log.
    pub change: Rewrite<Option<VisitChange>>,
    /// The visit's target, by status or by a canonical link that is believed; `None` if there is
    /// none.
    pub redirect: Option<RedirectEntry>,
    /// The change of the URL's state, if this is its last good document.
    pub state: StateChange,
    /// The print of its text; `None` if it is not a page, or the visit shows nothing.
    pub text: Option<TextPrint>,
    /// The document's effect on the counters of its iteration.
    pub recount: Recount,
}

/// The effect of remade documents on the counters of their iteration: outcomes, changes,
/// dispositions of links, and stuck documents. Counters of the crawl itself, such as found URLs,
/// stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recount {
    /// The counts of the stored documents.
    pub less: ParserCounters,
    /// The counts of their replacements.
    pub more: ParserCounters,
}

impl Recount {
    /// Adds the effect of other documents.
    pub fn add(&mut self, other: &Self) {
        self.less.add(&other.less);
        self.more.add(&other.more);
    }

    /// Adds the effect of a visit's new change.
    pub fn add_change(&mut self, was: Option<ChangeKind>, is: Option<ChangeKind>) {
        for (counters, kind) in [(&mut self.less, was), (&mut self.more, is)] {
            if let Some(kind) = kind {
                *counters.changes.entry(kind).or_default() += 1;
            }
        }
    }
}

/// Whether a stored value is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rewrite<T> {
    /// It stays as it is.
    Keep,
    /// This replaces it.
    With(T),
}

#[cfg(test)]
mod tests {
    use crate::frontier::{Inbox, OriginKey};
    use crate::ids::Iteration;
    use crate::outcome::Outcome;

    use super::*;

    fn segment(host: &str, turn: u64, n: u64) -> SegmentId {
        let origin = format!("https://{host}").parse().unwrap();
        SegmentId { origin: OriginKey { crawl: "docs".parse().unwrap(), origin }, turn: Turn(turn), n }
    }

    #[test]
    fn a_walk_has_passed_the_segments_before_its_last_one() {
        let job = RemakeJob { version: 1, program: "0.1".to_owned(), selection: Selection::All };
        let begun = RemakeState::begin(job);
        assert!(!begun.has_passed(&segment("a.example", 1, 0)), "nothing is passed at the beginning");
        let state = RemakeState { after: Some(segment("b.example", 2, 10)), ..begun };
        for (host, turn, n, is_passed, why) in [
            ("b.example", 2, 10, true, "the last one itself"),
            ("b.example", 2, 9, true, "numbers are compared as numbers"),
            ("b.example", 1, 99, true, "an earlier turn"),
            ("b.example", 2, 11, false, "the next one"),
            ("b.example", 10, 0, false, "a later turn"),
            ("a.example", 99, 0, true, "an earlier origin"),
            ("c.example", 1, 0, false, "a later one"),
        ] {
            assert_eq!(state.has_passed(&segment(host, turn, n)), is_passed, "{host} {turn} {n}: {why}");
        }
    }

    #[test]
    fn only_counters_of_documents_change() {
        let counted = |stuck, nofollow, outcomes: &[(Outcome, u64)]| ParserCounters {
            stuck,
            links_nofollow: nofollow,
            outcomes: outcomes.iter().copied().collect(),
            ..ParserCounters::default()
        };
        let mut inbox = Inbox::new(Iteration::FIRST);
        inbox.counters = ParserCounters { found: 7, drifted: 1, ..counted(2, 5, &[(Outcome::FileIngested, 3)]) };
        inbox.counters.changes.insert(ChangeKind::Changed, 2);
        let mut recount = Recount {
            less: counted(1, 9, &[(Outcome::FileIngested, 3)]),
            more: counted(0, 1, &[(Outcome::BlockedByChallenge, 3)]),
        };
        recount.add_change(Some(ChangeKind::Changed), Some(ChangeKind::Unchanged));
        recount.add_change(None, None);
        let after = inbox.recounted(&recount).counters;
        assert_eq!((after.found, after.drifted), (7, 1), "what the crawl did stays");
        assert_eq!((after.stuck, after.links_nofollow), (1, 0), "no count falls below zero");
        assert_eq!(after.outcomes, [(Outcome::BlockedByChallenge, 3)].into(), "what is zero is not listed");
        assert_eq!(after.changes, [(ChangeKind::Changed, 1), (ChangeKind::Unchanged, 1)].into());
        let nothing = inbox.recounted(&Recount { less: recount.less.clone(), more: recount.less });
        assert_eq!(nothing, inbox, "the same counts the same");
    }
}
