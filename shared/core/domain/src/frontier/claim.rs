//! Claiming a candidate for an iteration.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Decided, RulesDigest, SHORTER_WAYS_MAX, SeedDistance, SegmentId, ShorterWayState, UrlHistory};
use crate::ids::{Iteration, TriggerId};
use crate::outcome::Outcome;

/// The author of a claim. When work is repeated, it recognises its own claims by this.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Claimer(String);

impl Claimer {
    /// Creates the claimer for the walk over candidates of earlier iterations; it stands for the
    /// holder of the origin's lease.
    #[must_use]
    pub fn recrawl() -> Self {
        Self("recrawl".to_owned())
    }

    /// Creates the claimer for the seeds of a trigger.
    #[must_use]
    pub fn trigger(trigger: &TriggerId) -> Self {
        Self(format!("trigger#{trigger}"))
    }

    /// Creates the claimer for the links of a segment.
    #[must_use]
    pub fn segment(id: &SegmentId) -> Self {
        Self(format!("{}#{}-{}", id.origin.origin, id.turn, id.n))
    }

    /// Returns it as stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Restores the result of [`Claimer::as_str`].
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Claimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The parts of a candidate that decide whether it is visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateState {
    /// The iteration in which it was last queued.
    pub queued_in: Iteration,
    /// Its claimer there. Never changes within an iteration.
    pub claimed_by: Claimer,
    /// Its distance from the seeds there, by the shortest way that is passed on.
    pub found_at: SeedDistance,
    /// The claimers that found shorter ways after it was claimed there, in order. None is ever
    /// removed within an iteration.
    pub nearer: Vec<Claimer>,
    /// When it is due again; `None`: in every iteration.
    pub due_at: Option<Timestamp>,
    /// Its last visit; `None` if it was never visited.
    pub last_visit: Option<LastVisit>,
    /// The rules that forbade it; `None` if none did at the last decision, and in rows older than
    /// this field.
    pub blocked_by: Option<RulesDigest>,
}

/// The last visit of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastVisit {
    /// The iteration.
    pub iteration: Iteration,
    /// The outcome.
    pub outcome: Outcome,
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The claimer owns it, now or since an earlier try, and must queue it.
    Own {
        /// The data of earlier iterations about it.
        known: UrlHistory,
    },
    /// Another claimer queued it in this iteration by a longer way. The claimer's way is recorded,
    /// now or since an earlier try, and it must queue the URL once more.
    Nearer {
        /// The known data about it.
        known: UrlHistory,
    },
    /// Another claimer queued it in this iteration.
    Taken {
        /// That claimer. Never changes within an iteration.
        by: Claimer,
        /// That claimer's distance from the seeds; `None` once a shorter way has been found. A
        /// claimer that is no nearer never gets [`Claim::Nearer`].
        found_at: Option<SeedDistance>,
    },
    /// It is known, and either not due yet, or left to the walk over known URLs.
    NotDue,
}

/// Which known URLs may be claimed. New ones may always be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claimable {
    /// All: the user named them, or the claimer has checked.
    All,
    /// Those that are due at this time.
    Due(Timestamp),
    /// Those that were never visited. The others are visited in a fixed order, as a budget
    /// requires.
    New,
}

/// Decides a claim from the stored candidate, if there is one, and the known data about its URL.
/// `way` is the claimer's distance from the seeds; `None` if shorter ways are ignored.
#[must_use]
pub fn claim(
    candidate: Option<&CandidateState>,
    known: &UrlHistory,
    iteration: Iteration,
    claimer: &Claimer,
    claimable: Claimable,
    way: Option<SeedDistance>,
) -> Decided<Claim> {
    let own = || Claim::Own { known: known.clone() };
    let nearer = || Claim::Nearer { known: known.clone() };
    match candidate {
        None => Decided::Write(own()),
        Some(state) if state.queued_in < iteration => {
            let is_claimable = match claimable {
                Claimable::All => true,
                Claimable::Due(now) => state.due_at.is_none_or(|due| due <= now),
                Claimable::New => state.last_visit.is_none(),
            };
            if is_claimable { Decided::Write(own()) } else { Decided::Leave(Claim::NotDue) }
        }
        Some(state) if state.queued_in == iteration && state.claimed_by == *claimer => Decided::Leave(own()),
        Some(state) if state.queued_in == iteration && state.nearer.contains(claimer) => Decided::Leave(nearer()),
        Some(state) if state.queued_in == iteration && state.takes(way) => Decided::Write(nearer()),
        Some(state) => {
            let found_at = state.nearer.is_empty().then_some(state.found_at);
            Decided::Leave(Claim::Taken { by: state.claimed_by.clone(), found_at })
        }
    }
}

impl CandidateState {
    /// Whether a way must be recorded: it is shorter than the known ones.
    fn takes(&self, way: Option<SeedDistance>) -> bool {
        way.is_some_and(|way| way < self.found_at) && self.nearer.len() < SHORTER_WAYS_MAX
    }

    /// Returns the data for an entry of its URL; `None` if no shorter way was found in this
    /// iteration since it was claimed.
    #[must_use]
    pub fn nearer(&self, known: UrlHistory, iteration: Iteration) -> Option<ShorterWayState> {
        // A check says nothing about the content.
        let has_ended = |last: LastVisit| last.iteration >= iteration && last.outcome != Outcome::LinkWorks;
        let has_ended = self.last_visit.is_some_and(has_ended);
        let is_nearer = self.queued_in == iteration && !self.nearer.is_empty();
        is_nearer.then_some(ShorterWayState { found_at: self.found_at, known, has_ended })
    }
}

/// Whether a URL belongs to another claimer in this iteration, by the two relevant values of its
/// candidate: then [`claim`] depends only on the ways to it.
#[must_use]
pub fn is_owned_by_other(queued_in: Iteration, claimed_by: &Claimer, iteration: Iteration, claimer: &Claimer) -> bool {
    queued_in > iteration || queued_in == iteration && claimed_by != claimer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_decided_by_iteration_claimer_and_due_time() {
        let second = |s| Timestamp::from_second(s).unwrap();
        let (first, third) = (Iteration::FIRST, Iteration::new(3).unwrap());
        let ours = Claimer::trigger(&TriggerId("t".into()));
        let at = |depth| SeedDistance { depth, requisite_steps: 0 };
        let state = |queued_in, claimed_by: &Claimer, due: Option<i64>| CandidateState {
            queued_in,
            claimed_by: claimed_by.clone(),
            found_at: at(3),
            nearer: Vec::new(),
            due_at: due.map(second),
            last_visit: Some(LastVisit { iteration: first, outcome: Outcome::FileIngested }),
            blocked_by: None,
        };
        let unvisited = |state| CandidateState { last_visit: None, ..state };
        let other = Claimer::recrawl();
        let own = || Claim::Own { known: UrlHistory::default() };
        let (write, leave) = (|| Decided::Write(own()), || Decided::Leave(own()));
        let (due, not_due) = (Claimable::Due(second(10)), || Decided::Leave(Claim::NotDue));
        for (candidate, claimable, expected, why) in [
            (None, due, write(), "never seen"),
            (None, Claimable::New, write(), "never seen, and so never visited"),
            (Some(state(first, &other, None)), due, write(), "of an earlier iteration, no interval"),
            (Some(state(first, &other, Some(10))), due, write(), "due just now"),
            (Some(state(first, &other, Some(11))), due, not_due(), "due later"),
            (Some(state(first, &other, Some(11))), Claimable::All, write(), "asked for whether due or not"),
            (
                Some(state(first, &other, None)),
                Claimable::New,
                not_due(),
                "visited before: it has its place in the order",
            ),
            (Some(unvisited(state(first, &other, None))), Claimable::New, write(), "left over by an earlier iteration"),
            (Some(state(third, &ours, Some(99))), due, leave(), "done before, by us"),
            (
                Some(state(third, &other, None)),
                due,
                Decided::Leave(Claim::Taken { by: other.clone(), found_at: Some(at(3)) }),
                "by somebody else in this iteration",
            ),
        ] {
            let decided = claim(candidate.as_ref(), &UrlHistory::default(), third, &ours, claimable, None);
            assert_eq!(decided, expected, "{why}");
            let taken =
                candidate.is_some_and(|state| is_owned_by_other(state.queued_in, &state.claimed_by, third, &ours));
            assert_eq!(taken, matches!(decided, Decided::Leave(Claim::Taken { .. })), "{why}, by two values");
        }
        let ahead = state(third, &ours, None);
        assert!(is_owned_by_other(third, &ours, first, &ours), "that is known by two values as well");
        assert_eq!(
            claim(Some(&ahead), &UrlHistory::default(), first, &ours, Claimable::All, Some(at(0))),
            Decided::Leave(Claim::Taken { by: ours.clone(), found_at: Some(at(3)) }),
            "a late message of an old iteration"
        );
    }

    #[test]
    fn a_shorter_way_is_recorded_once_for_each_claimer() {
        let [seeds, first, second] = ["t", "a", "b"].map(|name| Claimer::from_stored(name.to_owned()));
        let (now, before) = (Iteration::FIRST.next(), Iteration::FIRST);
        let at = |depth, requisite_steps| SeedDistance { depth, requisite_steps };
        let state = |nearer: &[&Claimer], queued_in| CandidateState {
            queued_in,
            claimed_by: seeds.clone(),
            found_at: at(3, 0),
            nearer: nearer.iter().copied().cloned().collect(),
            due_at: None,
            last_visit: Some(LastVisit { iteration: now, outcome: Outcome::FileIngested }),
            blocked_by: None,
        };
        let (fresh, approached) = (state(&[], now), state(&[&first], now));
        let crowded = state(&[&second; SHORTER_WAYS_MAX], now);
        let nearer = || Claim::Nearer { known: UrlHistory::default() };
        let taken = |found_at| Decided::Leave(Claim::Taken { by: seeds.clone(), found_at });
        for (candidate, way, expected, why) in [
            (&fresh, Some(at(2, 1)), Decided::Write(nearer()), "less deep"),
            (&fresh, Some(at(3, 0)), taken(Some(at(3, 0))), "as deep"),
            (&fresh, Some(at(3, 1)), taken(Some(at(3, 0))), "as deep, as a requisite"),
            (&fresh, None, taken(Some(at(3, 0))), "ways are ignored"),
            (&approached, Some(at(9, 0)), Decided::Leave(nearer()), "done before, by us: always the same answer"),
            (&state(&[&second], now), Some(at(3, 0)), taken(None), "others found a shorter way"),
            (
                &state(&[&second], now),
                Some(at(2, 0)),
                Decided::Write(nearer()),
                "others did, and this is shorter still",
            ),
            (&crowded, Some(at(0, 0)), taken(None), "there is no room for it"),
            (
                &state(&[&first], before),
                Some(at(9, 0)),
                Decided::Write(Claim::Own { known: UrlHistory::default() }),
                "anew",
            ),
        ] {
            let decided = claim(Some(candidate), &UrlHistory::default(), now, &first, Claimable::All, way);
            assert_eq!(decided, expected, "{why}");
        }
        let ended = |last_visit| CandidateState { last_visit, ..approached.clone() };
        let earlier = Some(LastVisit { iteration: before, outcome: Outcome::FileIngested });
        let checked = Some(LastVisit { iteration: now, outcome: Outcome::LinkWorks });
        for (candidate, expected, why) in [
            (ended(checked), Some(false), "only asked whether it is there"),
            (fresh, None, "no other way"),
            (state(&[&first], before), None, "of an earlier iteration"),
            (ended(earlier), Some(false), "not visited in this one yet"),
            (approached.clone(), Some(true), "visited"),
        ] {
            let has_ended = candidate.nearer(UrlHistory::default(), now).map(|nearer| nearer.has_ended);
            assert_eq!(has_ended, expected, "{why}");
        }
    }
}
