//! Claiming a candidate for an iteration.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LastCapture, SegmentId};
use crate::ids::{Iteration, TriggerId};

/// Who claims: what a claim is own by, when the same work is done again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Claimer(String);

impl Claimer {
    /// The cursor that goes through the candidates of earlier iterations; own for whoever holds the origin's lease.
    #[must_use]
    pub fn recrawl() -> Self {
        Self("recrawl".to_owned())
    }

    /// The seeds of a trigger.
    #[must_use]
    pub fn trigger(trigger: &TriggerId) -> Self {
        Self(format!("trigger#{trigger}"))
    }

    /// The links of a segment.
    #[must_use]
    pub fn segment(id: &SegmentId) -> Self {
        Self(format!("{}#{}-{}", id.origin.origin, id.turn, id.n))
    }

    /// As it is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Read back from where [`Claimer::as_str`] was stored.
    #[must_use]
    pub fn stored(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Claimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What of a candidate decides a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedState {
    /// The iteration that it was last queued in.
    pub queued_in: Iteration,
    /// Who claimed it there. Never changes within an iteration.
    pub claimed_by: Claimer,
    /// When it is due again; absent: in every iteration.
    pub due_at: Option<Timestamp>,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is the claimer's, now or since an earlier try: its to queue.
    Own {
        /// What the last good capture left; absent if there was none.
        last: Option<LastCapture>,
    },
    /// Somebody else queued it in this iteration.
    Taken {
        /// Who did. Stays so for the iteration.
        by: Claimer,
    },
    /// It is known and not due yet.
    NotDue,
}

/// Whether a claim is own, and whether the row is to be written for it: `(own, write)`.
///
/// Seeds and the recrawl cursor are claimed whether or not they are due: the user asked for the one, the cursor looked before.
#[must_use]
pub fn claim<'c>(
    candidate: Option<&'c ClaimedState>,
    iteration: Iteration,
    claimer: &Claimer,
    now: Option<Timestamp>,
) -> ClaimDecision<'c> {
    match candidate {
        None => ClaimDecision::Write,
        Some(state) if state.queued_in < iteration => match (state.due_at, now) {
            (Some(due), Some(now)) if due > now => ClaimDecision::NotDue,
            _ => ClaimDecision::Write,
        },
        Some(state) if state.queued_in == iteration && state.claimed_by == *claimer => ClaimDecision::AlreadyOwn,
        Some(state) => ClaimDecision::Taken(&state.claimed_by),
    }
}

/// What a claim comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimDecision<'c> {
    /// Own, once the row is written.
    Write,
    /// Own since an earlier try.
    AlreadyOwn,
    /// Somebody else's: whose.
    Taken(&'c Claimer),
    /// Known, and not due yet.
    NotDue,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_decided_by_iteration_claimer_and_due_time() {
        let second = |s| Timestamp::from_second(s).unwrap();
        let (first, third) = (Iteration::FIRST, Iteration::new(3).unwrap());
        let ours = Claimer::trigger(&TriggerId("t".into()));
        let state = |queued_in, claimed_by: &Claimer, due: Option<i64>| ClaimedState {
            queued_in,
            claimed_by: claimed_by.clone(),
            due_at: due.map(second),
        };
        let other = Claimer::recrawl();
        for (candidate, now, expected, why) in [
            (None, Some(10), ClaimDecision::Write, "never seen"),
            (Some(state(first, &other, None)), Some(10), ClaimDecision::Write, "of an earlier iteration, no interval"),
            (Some(state(first, &other, Some(10))), Some(10), ClaimDecision::Write, "due just now"),
            (Some(state(first, &other, Some(11))), Some(10), ClaimDecision::NotDue, "due later"),
            (Some(state(first, &other, Some(11))), None, ClaimDecision::Write, "asked for whether due or not"),
            (Some(state(third, &ours, Some(99))), Some(10), ClaimDecision::AlreadyOwn, "done before, by us"),
            (
                Some(state(third, &other, None)),
                Some(10),
                ClaimDecision::Taken(&other),
                "by somebody else in this iteration",
            ),
        ] {
            assert_eq!(claim(candidate.as_ref(), third, &ours, now.map(second)), expected, "{why}");
        }
        let ahead = state(third, &ours, None);
        assert_eq!(
            claim(Some(&ahead), first, &ours, None),
            ClaimDecision::Taken(&ours),
            "a late message of an old iteration"
        );
    }
}
