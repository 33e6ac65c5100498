//! Making the documents of all iterations again, by the definition of today: how far that has come, and what it did.

use serde::{Deserialize, Serialize};

use crate::capture::RedirectEntry;
use crate::change::{ChangeKind, VisitChange};
use crate::document::Document;
use crate::frontier::{ParserCounters, SegmentId, Selection, StateChange};
use crate::ids::Turn;
use crate::simhash::TextPrint;

/// How far making the documents of a crawl again has come. Stored with each step, so that whoever comes next goes on there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemakeState {
    /// What is made.
    pub job: RemakeJob,
    /// The segment that was made again last, in the order of origins and then of commits; `None` at the beginning.
    pub after: Option<SegmentId>,
    /// What was done until there.
    pub done: Remade,
}

impl RemakeState {
    /// Returns where a job begins.
    #[must_use]
    pub fn begin(job: RemakeJob) -> Self {
        Self { job, after: None, done: Remade::default() }
    }

    /// Whether a segment is done: it comes before the last one that is, or is that.
    #[must_use]
    pub fn has_passed(&self, segment: &SegmentId) -> bool {
        self.after.as_ref().is_some_and(|after| place(segment) <= place(after))
    }
}

/// Returns where a segment is in the walk through a crawl.
fn place(id: &SegmentId) -> (&str, Turn, u64) {
    (id.origin.origin.as_str(), id.turn, id.n)
}

/// What is made again, and by what: only the same job goes on where an earlier one stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemakeJob {
    /// The version of the crawl's definition.
    pub version: u32,
    /// The version of the program.
    pub program: String,
    /// Which URLs.
    pub selection: Selection,
}

/// What making documents again did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remade {
    /// Documents that were made again.
    pub remade: u64,
    /// Those of them that say something else than before.
    pub different: u64,
    /// Those of them that do not fit the types of the definition.
    pub misfits: u64,
    /// Documents that stay as they were: their answer is missing or damaged, or breaks the parser.
    pub kept: u64,
}

impl Remade {
    /// Adds more.
    pub fn add(&mut self, more: &Self) {
        let Self { remade, different, misfits, kept } = more;
        self.remade += remade;
        self.different += different;
        self.misfits += misfits;
        self.kept += kept;
    }
}

/// What takes the place of what is stored of a visit's document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemadeVisit {
    /// The document. Its `n` and URL are those of the stored one.
    pub document: Document,
    /// What the log says that the visit changed.
    pub change: Rewrite<Option<VisitChange>>,
    /// Where the visit leads, by status or by a canonical link that counts; `None` if nowhere.
    pub redirect: Option<RedirectEntry>,
    /// What the URL shows, if this is its last good document.
    pub state: StateChange,
    /// The print of its text; `None` if it is not a page, or the visit shows nothing.
    pub text: Option<TextPrint>,
    /// What the document changes in the counters of its iteration.
    pub recount: Recount,
}

/// What documents that are made again change in the counters of their iteration: how visits ended, what they changed, what became of links and which
/// documents are stuck. What the crawl did, such as how many URLs it found, stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recount {
    /// What was counted of the stored documents.
    pub less: ParserCounters,
    /// What is counted of those that take their place.
    pub more: ParserCounters,
}

impl Recount {
    /// Adds that of other documents.
    pub fn add(&mut self, other: &Self) {
        self.less.add(&other.less);
        self.more.add(&other.more);
    }

    /// Adds that a visit's change is another.
    pub fn add_change(&mut self, was: Option<ChangeKind>, is: Option<ChangeKind>) {
        for (counters, kind) in [(&mut self.less, was), (&mut self.more, is)] {
            if let Some(kind) = kind {
                *counters.changes.entry(kind).or_default() += 1;
            }
        }
    }
}

/// Whether something that is stored is written anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rewrite<T> {
    /// It stays as it is.
    Keep,
    /// This takes its place.
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
    fn a_walk_has_passed_what_comes_before_its_last_segment() {
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
    fn counters_change_by_what_documents_say_and_stay_otherwise() {
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
