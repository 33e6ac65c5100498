//! The candidates of earlier iterations that a turn visits, and their order.
//!
//! Without limits every due candidate is visited, so one pass in path order is enough. If a budget
//! may end the iteration early, candidates that were never visited go first, and then those that
//! have waited longest: there is one pass for each class, the iteration of the last visit. A class
//! is visited in one pass only, so no candidate is visited twice.
//!
//! Documents whose links were decided by other rules are parsed again on the way, without a
//! request.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{CandidateState, Claim, Claimable, Claimer, DocumentStanding, RulesDigest, UrlHistory, claim};
use crate::ids::Iteration;

/// The order in which candidates of earlier iterations are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecrawlOrder {
    /// By path: all due ones are visited.
    ByPath,
    /// Never visited ones first, then those that have waited longest: a budget may end the
    /// iteration before all are visited.
    ByWait,
    /// No candidate is visited: the documents that are shown are remade.
    Documents,
}

/// A pass over the candidates of an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// All that are due, and documents whose links were decided by other rules.
    All,
    /// Those that were never visited, and documents whose links were decided by other rules.
    New,
    /// Documents with links that were left for lack of budget.
    Cut,
    /// Due ones that were visited before.
    Visited,
    /// Those of them whose last visit was in this iteration.
    VisitedIn(Iteration),
    /// All with a document that is shown and was made in an earlier iteration: it is remade.
    Documents,
}

/// The candidates for later passes, as counted by a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct LaterCandidates {
    /// How many are due.
    #[serde(skip_serializing_if = "crate::stored_form::is_zero")]
    pub due: u64,
    /// The earliest iteration of their last visits; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest: Option<Iteration>,
    /// How many documents have links that were left for lack of budget.
    #[serde(skip_serializing_if = "crate::stored_form::is_zero")]
    pub cut: u64,
}

impl LaterCandidates {
    /// Adds the counts from another part of the pass.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let oldest = match (self.oldest, other.oldest) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self { due: self.due + other.due, oldest, cut: self.cut + other.cut }
    }
}

/// A place in a walk through the candidates: within a pass, after a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PassPlace {
    /// The pass.
    pub pass: Pass,
    /// The path and query of the last candidate in the pass so far; empty before the first.
    pub after: String,
    /// The pass's counts so far for later passes.
    #[serde(default)]
    pub ahead: LaterCandidates,
}

impl PassPlace {
    /// Creates the place at the beginning of a pass.
    #[must_use]
    pub const fn beginning(pass: Pass, ahead: LaterCandidates) -> Self {
        Self { pass, after: String::new(), ahead }
    }

    /// Returns the pass that follows this one, if the iteration has this many pages left; `None` if
    /// none does.
    #[must_use]
    pub fn next_pass(&self, pages_left: Option<u64>) -> Option<Self> {
        let LaterCandidates { due, oldest, cut } = self.ahead;
        match self.pass {
            Pass::New if cut > 0 => Some(Self::beginning(Pass::Cut, self.ahead)),
            // If all of them fit the budget with room to spare, their order does not matter:
            // retries and new URLs take pages, too.
            Pass::New | Pass::Cut if due > 0 && pages_left.is_some_and(|left| due.saturating_mul(4) <= left) => {
                Some(Self::beginning(Pass::Visited, LaterCandidates::default()))
            }
            Pass::New | Pass::Cut | Pass::VisitedIn(_) => {
                oldest.map(|oldest| Self::beginning(Pass::VisitedIn(oldest), LaterCandidates::default()))
            }
            Pass::All | Pass::Visited | Pass::Documents => None,
        }
    }
}

/// A lease's progress through the candidates of earlier iterations.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecrawlCursor {
    /// Before the first candidate.
    Start,
    /// After the candidate of this path and query, in the one pass of a crawl without limits.
    After(String),
    /// In one of several passes.
    In(PassPlace),
    /// At the end: no candidate is left.
    End,
}

impl RecrawlCursor {
    /// Returns the place of the walk, which begins in this order; `None` at its end.
    #[must_use]
    pub fn place(&self, order: RecrawlOrder) -> Option<PassPlace> {
        let first = match order {
            RecrawlOrder::ByPath => Pass::All,
            RecrawlOrder::ByWait => Pass::New,
            RecrawlOrder::Documents => Pass::Documents,
        };
        match self {
            Self::Start => Some(PassPlace::beginning(first, LaterCandidates::default())),
            Self::After(path) => {
                Some(PassPlace { pass: Pass::All, after: path.clone(), ahead: LaterCandidates::default() })
            }
            Self::In(place) => Some(place.clone()),
            Self::End => None,
        }
    }

    /// Creates the cursor at a place; at the end for `None`.
    #[must_use]
    pub fn from_place(place: Option<PassPlace>) -> Self {
        match place {
            None => Self::End,
            Some(PassPlace { pass: Pass::All, after, .. }) => Self::After(after),
            Some(place) => Self::In(place),
        }
    }
}

/// The work for a candidate in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DueWork {
    /// Claim and visit it.
    Visit,
    /// Decide on the links of its document again, without a request and without a claim. If the
    /// rules exclude it by now, or it cannot have links, the turn does something else or nothing.
    Reparse,
}

/// A part of a walk through an origin's candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueQuery {
    /// The iteration.
    pub iteration: Iteration,
    /// The pass.
    pub pass: Pass,
    /// The digest of the rules in force.
    pub rules: RulesDigest,
    /// The current time.
    pub now: Timestamp,
}

impl DueQuery {
    /// Decides on the work for a candidate in this pass, if any, and in later passes.
    #[must_use]
    pub fn decide(&self, state: &CandidateState, known: &UrlHistory) -> (Option<DueWork>, LaterCandidates) {
        let nothing = (None, LaterCandidates::default());
        if self.pass == Pass::Documents {
            let is_earlier = known.document.is_some_and(|document| {
                document.standing == DocumentStanding::Shown && document.place.iteration < self.iteration
            });
            return (is_earlier.then_some(DueWork::Reparse), LaterCandidates::default());
        }
        let is_own =
            match claim(Some(state), known, self.iteration, &Claimer::recrawl(), Claimable::Due(self.now), None)
                .outcome()
            {
                Claim::Own { .. } => true,
                Claim::NotDue => false,
                // Its claimer visits it in this iteration.
                Claim::Taken { .. } | Claim::Nearer { .. } => return nothing,
            };
        let shown = known.document.filter(|document| document.standing == DocumentStanding::Shown);
        let links = shown.map(|document| document.links);
        let is_cut = links.is_some_and(|links| links.by == RulesDigest::NONE);
        let is_stale = links.is_some_and(|links| links.by != self.rules);
        let Some(last) = state.last_visit else {
            let is_in = matches!(self.pass, Pass::All | Pass::New);
            return ((is_own && is_in).then_some(DueWork::Visit), LaterCandidates::default());
        };
        if last.iteration >= self.iteration {
            return nothing;
        }
        if last.outcome.waits_for_rules() {
            // A forbidden candidate waits until the rules change.
            let is_in = matches!(self.pass, Pass::All | Pass::New) && state.blocked_by != Some(self.rules);
            return ((is_own && is_in).then_some(DueWork::Visit), LaterCandidates::default());
        }
        let ahead = LaterCandidates {
            due: u64::from(is_own),
            oldest: is_own.then_some(last.iteration),
            cut: u64::from(is_cut),
        };
        match self.pass {
            Pass::All if is_own => (Some(DueWork::Visit), LaterCandidates::default()),
            Pass::All => (is_stale.then_some(DueWork::Reparse), LaterCandidates::default()),
            Pass::New => ((is_stale && !is_cut).then_some(DueWork::Reparse), ahead),
            Pass::Cut => (is_cut.then_some(DueWork::Reparse), LaterCandidates::default()),
            Pass::Visited => (is_own.then_some(DueWork::Visit), LaterCandidates::default()),
            Pass::VisitedIn(class) if last.iteration == class => {
                (is_own.then_some(DueWork::Visit), LaterCandidates::default())
            }
            Pass::VisitedIn(class) if last.iteration > class => (None, LaterCandidates { cut: 0, ..ahead }),
            Pass::VisitedIn(_) | Pass::Documents => nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::{LastDocument, LastVisit, LinkDecisions, SeedDistance, VisitPlace};
    use crate::ids::Turn;
    use crate::outcome::Outcome;

    const RULES: RulesDigest = RulesDigest(7);

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn iteration(number: u32) -> Iteration {
        Iteration::new(number).unwrap()
    }

    fn state(last: Option<(u32, Outcome)>) -> CandidateState {
        CandidateState {
            queued_in: iteration(last.map_or(1, |(iteration, _)| iteration)),
            claimed_by: Claimer::recrawl(),
            found_at: SeedDistance { depth: 1, requisite_steps: 0 },
            nearer: Vec::new(),
            due_at: None,
            last_visit: last.map(|(number, outcome)| LastVisit { iteration: iteration(number), outcome }),
            blocked_by: None,
        }
    }

    fn page(by: RulesDigest) -> UrlHistory {
        let place = VisitPlace { iteration: Iteration::FIRST, turn: Turn(1), segment: 0, n: 0 };
        let links = LinkDecisions { by, depth: 0 };
        let document = LastDocument { place, outcome: Outcome::FileIngested, standing: DocumentStanding::Shown, links };
        UrlHistory { document: Some(document), ..UrlHistory::default() }
    }

    #[test]
    fn each_candidate_is_visited_in_one_pass() {
        use DueWork::{Reparse, Visit};
        let ok = Outcome::FileIngested;
        let blocked = |by| CandidateState { blocked_by: by, ..state(Some((2, Outcome::BlockedUrlByLocalPolicy))) };
        let later = |state: CandidateState| CandidateState { due_at: Some(at(99)), ..state };
        let file = || {
            let mut known = page(RulesDigest(1));
            known.document.as_mut().unwrap().outcome = Outcome::StoredNotRead;
            known
        };
        let hidden = || {
            let mut known = page(RulesDigest(1));
            known.document.as_mut().unwrap().standing = DocumentStanding::Gone;
            known
        };
        let others =
            CandidateState { queued_in: iteration(5), claimed_by: Claimer::from_stored("t".into()), ..state(None) };
        // The work in the passes All, New, Cut, Visited, VisitedIn(2), VisitedIn(3).
        let cases: [(CandidateState, UrlHistory, [Option<DueWork>; 6], &str); 14] = [
            (state(None), UrlHistory::default(), [Some(Visit), Some(Visit), None, None, None, None], "never visited"),
            (others, UrlHistory::default(), [None; 6], "a link of this iteration has it"),
            (
                state(Some((2, ok))),
                page(RULES),
                [Some(Visit), None, None, Some(Visit), Some(Visit), None],
                "visited in 2",
            ),
            (
                state(Some((3, ok))),
                page(RULES),
                [Some(Visit), None, None, Some(Visit), None, Some(Visit)],
                "visited in 3",
            ),
            (state(Some((5, ok))), page(RULES), [None; 6], "visited in this iteration"),
            (later(state(Some((2, ok)))), page(RULES), [None; 6], "not due"),
            (
                later(state(Some((2, ok)))),
                page(RulesDigest(1)),
                [Some(Reparse), Some(Reparse), None, None, None, None],
                "not due, and other rules decided its links",
            ),
            (
                state(Some((2, ok))),
                page(RulesDigest(1)),
                [Some(Visit), Some(Reparse), None, Some(Visit), Some(Visit), None],
                "due, and the budget may not reach it",
            ),
            (
                later(state(Some((2, ok)))),
                page(RulesDigest::NONE),
                [Some(Reparse), None, Some(Reparse), None, None, None],
                "not due, and the budget left links of it",
            ),
            (
                later(state(Some((2, ok)))),
                file(),
                [Some(Reparse), Some(Reparse), None, None, None, None],
                "a file has no links, but the rules may exclude it",
            ),
            (later(state(Some((2, ok)))), hidden(), [None; 6], "gone: its links lead nowhere"),
            (blocked(Some(RULES)), UrlHistory::default(), [None; 6], "these rules forbid it"),
            (
                blocked(Some(RulesDigest(1))),
                UrlHistory::default(),
                [Some(Visit), Some(Visit), None, None, None, None],
                "other rules forbade it",
            ),
            (
                blocked(None),
                UrlHistory::default(),
                [Some(Visit), Some(Visit), None, None, None, None],
                "nobody knows which rules forbade it",
            ),
        ];
        for (state, known, expected, why) in cases {
            let passes = [
                Pass::All,
                Pass::New,
                Pass::Cut,
                Pass::Visited,
                Pass::VisitedIn(iteration(2)),
                Pass::VisitedIn(iteration(3)),
            ];
            for (pass, expected) in passes.into_iter().zip(expected) {
                let query = DueQuery { iteration: iteration(5), pass, rules: RULES, now: at(10) };
                assert_eq!(query.decide(&state, &known).0, expected, "{pass:?}: {why}");
            }
        }
    }

    /// Walks candidates pass by pass, with this many pages left.
    fn visited(candidates: &[(CandidateState, UrlHistory)], pages_left: Option<u64>) -> Vec<(Pass, Vec<usize>)> {
        let mut passes = Vec::new();
        let mut place = Some(PassPlace::beginning(Pass::New, LaterCandidates::default()));
        while let Some(mut here) = place {
            let query = DueQuery { iteration: iteration(9), pass: here.pass, rules: RULES, now: at(10) };
            let mut found = Vec::new();
            for (n, (state, known)) in candidates.iter().enumerate() {
                let (work, ahead) = query.decide(state, known);
                here.ahead = here.ahead.and(ahead);
                found.extend(work.map(|_| n));
            }
            passes.push((here.pass, found));
            place = here.next_pass(pages_left);
        }
        passes
    }

    #[test]
    fn candidates_that_waited_longest_go_first() {
        let ok = Outcome::FileIngested;
        let seen = |number| (state(Some((number, ok))), page(RULES));
        let candidates = [
            seen(8),
            seen(3),
            (state(None), UrlHistory::default()),
            seen(3),
            (state(Some((8, ok))), page(RulesDigest::NONE)),
        ];
        let class = |number| Pass::VisitedIn(iteration(number));
        let expected = [(Pass::New, vec![2]), (Pass::Cut, vec![4]), (class(3), vec![1, 3]), (class(8), vec![0, 4])];
        assert_eq!(visited(&candidates, Some(15)), expected);
        assert_eq!(visited(&candidates, None), expected, "bytes or time may end it");
        let expected = [(Pass::New, vec![2]), (Pass::Cut, vec![4]), (Pass::Visited, vec![0, 1, 3, 4])];
        assert_eq!(visited(&candidates, Some(16)), expected, "all of them fit the budget with room to spare");
        assert_eq!(visited(&[], Some(4)), [(Pass::New, vec![])], "nothing is known");
    }
}
