//! Claiming a candidate for an iteration.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Decided, LastCapture, SegmentId};
use crate::ids::{Iteration, TriggerId};

/// Who makes a claim. When the same work is done again, this is how it recognises its own claims.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Claimer(String);

impl Claimer {
    /// The cursor through the candidates of earlier iterations; it belongs to whoever holds the origin's lease.
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

    /// Restores what [`Claimer::as_str`] stored.
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

/// The parts of a candidate that decide a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedState {
    /// The iteration that it was last queued in.
    pub queued_in: Iteration,
    /// Who claimed it there. Never changes within an iteration.
    pub claimed_by: Claimer,
    /// When it is due again; `None`: in every iteration.
    pub due_at: Option<Timestamp>,
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The claimer has it, now or since an earlier try, and is to queue it.
    Own {
        /// What the last good capture left; `None` if there was none.
        last: Option<LastCapture>,
    },
    /// Another claimer queued it in this iteration.
    Taken {
        /// Who did. Never changes within an iteration.
        by: Claimer,
    },
    /// It is known, and not due yet.
    NotDue,
}

/// Decides a claim from the stored candidate, if there is one, and what its last good capture left. `now` is the current time if only what is due may
/// be claimed.
///
/// Seeds and what the recrawl cursor finds are claimed whether or not they are due: the user asked for the seeds, and the cursor has checked already.
#[must_use]
pub fn claim(
    candidate: Option<&ClaimedState>,
    last: Option<&LastCapture>,
    iteration: Iteration,
    claimer: &Claimer,
    now: Option<Timestamp>,
) -> Decided<Claim> {
    let own = || Claim::Own { last: last.cloned() };
    match candidate {
        None => Decided::Write(own()),
        Some(state) if state.queued_in < iteration => match (state.due_at, now) {
            (Some(due), Some(now)) if due > now => Decided::Leave(Claim::NotDue),
            _ => Decided::Write(own()),
        },
        Some(state) if state.queued_in == iteration && state.claimed_by == *claimer => Decided::Leave(own()),
        Some(state) => Decided::Leave(Claim::Taken { by: state.claimed_by.clone() }),
    }
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
        let own = || Claim::Own { last: None };
        let (write, leave) = (|| Decided::Write(own()), || Decided::Leave(own()));
        for (candidate, now, expected, why) in [
            (None, Some(10), write(), "never seen"),
            (Some(state(first, &other, None)), Some(10), write(), "of an earlier iteration, no interval"),
            (Some(state(first, &other, Some(10))), Some(10), write(), "due just now"),
            (Some(state(first, &other, Some(11))), Some(10), Decided::Leave(Claim::NotDue), "due later"),
            (Some(state(first, &other, Some(11))), None, write(), "asked for whether due or not"),
            (Some(state(third, &ours, Some(99))), Some(10), leave(), "done before, by us"),
            (
                Some(state(third, &other, None)),
                Some(10),
                Decided::Leave(Claim::Taken { by: other.clone() }),
                "by somebody else in this iteration",
            ),
        ] {
            assert_eq!(claim(candidate.as_ref(), None, third, &ours, now.map(second)), expected, "{why}");
        }
        let ahead = state(third, &ours, None);
        assert_eq!(
            claim(Some(&ahead), None, first, &ours, None),
            Decided::Leave(Claim::Taken { by: ours.clone() }),
            "a late message of an old iteration"
        );
    }
}
