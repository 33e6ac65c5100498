//! The closing of an origin with work left over.

use std::mem::discriminant;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ChunkKey, Inbox, IterationRow, Lease, LeaseState, OriginRows, RecrawlCursor};
use crate::ids::{Iteration, Turn};
use crate::no_answer::NoAnswer;
use crate::outcome::Outcome;
use crate::politeness::Patience;

/// The reason why an origin closed with work left. That work stays due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftoverReason {
    /// The user stopped the iteration, or it reached its deadline.
    Stopped,
    /// The origin failed too often.
    OriginGivenUp,
    /// Its robots.txt could not be read, which forbids everything.
    RobotsUnreadable,
    /// The log-in was refused, or the session ended and another log-in did not help.
    LoggedOut,
    /// The iteration's pages or bytes were spent.
    BudgetExhausted,
    /// The budget of pages for one origin was spent.
    OriginBudgetExhausted,
    /// Its leases expired again and again without a commit.
    Stuck,
    /// Its URLs were visited, but the captures are lost: the object is gone or damaged, or every
    /// parse of it died.
    SegmentUnreadable,
}

impl LeftoverReason {
    /// All reasons.
    pub const ALL: &'static [Self] = &[
        Self::Stopped,
        Self::OriginGivenUp,
        Self::RobotsUnreadable,
        Self::LoggedOut,
        Self::BudgetExhausted,
        Self::OriginBudgetExhausted,
        Self::Stuck,
        Self::SegmentUnreadable,
    ];

    /// Returns its name as stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::OriginGivenUp => "origin_given_up",
            Self::RobotsUnreadable => "robots_unreadable",
            Self::LoggedOut => "logged_out",
            Self::BudgetExhausted => "budget_exhausted",
            Self::OriginBudgetExhausted => "origin_budget_exhausted",
            Self::Stuck => "stuck",
            Self::SegmentUnreadable => "segment_unreadable",
        }
    }

    /// Returns the reason in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::OriginGivenUp => "given up after too many failures",
            Self::RobotsUnreadable => "given up because its robots.txt could not be read",
            Self::LoggedOut => "given up because it did not let the crawl in",
            Self::BudgetExhausted => "the budget of the crawl is spent",
            Self::OriginBudgetExhausted => "its budget of pages is spent",
            Self::SegmentUnreadable => "visited, but the captures are lost",
            Self::Stuck => "given up because its visits died again and again",
        }
    }

    /// Returns the reason with this stored name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.name() == name)
    }
}

/// The outcome of the waiting URLs of an origin that gets no more requests in this iteration. Each
/// URL gets it, so that its fate is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GiveUpOutcome {
    /// The outcome of each.
    pub outcome: Outcome,
    /// The failure of the last request to the origin, in words.
    pub detail: String,
}

impl GiveUpOutcome {
    /// Returns the outcome of the URLs after a last request that failed with this detail: that
    /// request's own outcome if there was no answer, as they would all fail like it.
    #[must_use]
    pub fn after_failure(detail: String) -> Self {
        let outcome = match NoAnswer::from_detail(&detail) {
            Some(NoAnswer::TimedOut) => Outcome::RequestTimeout,
            Some(NoAnswer::PrivateAddress) => Outcome::BlockedPrivateAddress,
            Some(
                NoAnswer::HostNotFound
                | NoAnswer::ConnectionRefused
                | NoAnswer::CertificateNotTrusted
                | NoAnswer::NoTls,
            ) => Outcome::ConnectionFailed,
            None => Outcome::OriginGivenUp,
        };
        Self { outcome, detail }
    }
}

/// The leftovers of an origin when it closed: written once, under iteration, origin and turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Leftover {
    /// The iteration.
    pub iteration: Iteration,
    /// The lease's turn at that time.
    pub turn: Turn,
    /// The reason.
    pub reason: LeftoverReason,
    /// How many URLs were claimed and have no outcome.
    pub count: u64,
}

/// The rows after an origin closed with leftovers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedWithLeftovers {
    /// The origin's rows.
    pub rows: OriginRows,
    /// The iteration's row.
    pub iteration: IterationRow,
    /// The leftovers; the count may be 0.
    pub leftover: Leftover,
    /// The chunk that was being consumed. It is deleted, with every other chunk of the origin in
    /// this iteration.
    pub chunk: Option<ChunkKey>,
}

/// Closes an origin that has work left. `None` while any of its segments are unparsed, or if it is
/// closed.
///
/// The reason is the lease's ending, or that the iteration was stopped. The row keeps it, so that
/// the origin does no more work if it is opened again. A holder's reserved budget goes back unless
/// the caller has returned it already. A lease that is `Leased` may only be closed this way by its
/// holder or after it expired, which the caller checks.
#[must_use]
pub fn close_with_leftovers(lease: &Lease, inbox: &Inbox, iteration: &IterationRow) -> Option<ClosedWithLeftovers> {
    if lease.state == LeaseState::Closed || lease.segments != inbox.parsed {
        return None;
    }
    let retries = u64::try_from(lease.retries.len()).unwrap_or(u64::MAX);
    let reason = lease.ending.unwrap_or(LeftoverReason::Stopped);
    let leftover = Leftover {
        iteration: lease.iteration,
        turn: lease.turn,
        reason,
        count: inbox.added.saturating_sub(lease.taken).saturating_add(retries),
    };
    let closed = closed_with_leftovers(lease, inbox);
    let mut inbox = inbox.clone();
    inbox.close();
    Some(ClosedWithLeftovers {
        rows: OriginRows { lease: closed, inbox },
        iteration: iteration.one_origin_less(),
        leftover,
        chunk: lease.chunk.as_ref().map(|position| position.key.clone()),
    })
}

/// Returns the lease of an origin that closes with work left.
pub(super) fn closed_with_leftovers(lease: &Lease, inbox: &Inbox) -> Lease {
    Lease {
        state: LeaseState::Closed,
        ending: Some(lease.ending.unwrap_or(LeftoverReason::Stopped)),
        taken: inbox.added,
        chunk: None,
        parked: Vec::new(),
        cursor: RecrawlCursor::End,
        retries: Vec::new(),
        ..lease.clone()
    }
}

/// Gives up an origin that nobody works on, for this reason unless its crawler set another one. If
/// the budget ran out while an origin without any request so far waited for its robots.txt, the
/// unreadable robots.txt is the reason. `None` if the origin has changed since it was seen, its
/// lease has not expired, or some of its segments are unparsed.
#[must_use]
pub fn give_up(
    now: &OriginRows,
    seen: &OriginRows,
    iteration: &IterationRow,
    reason: LeftoverReason,
    at: Timestamp,
) -> Option<ClosedWithLeftovers> {
    let token = |lease: &Lease| lease.holder().map(|holder| holder.token.clone());
    let is_as_seen = now.lease.turn == seen.lease.turn
        && discriminant(&now.lease.state) == discriminant(&seen.lease.state)
        && token(&now.lease) == token(&seen.lease)
        && now.inbox.added == seen.inbox.added;
    if !is_as_seen || !now.lease.is_free(at) {
        return None;
    }
    let iteration = match now.lease.holder() {
        Some(dead) => iteration.give_back(dead.reserved),
        None => iteration.clone(),
    };
    let has_got_nothing = now.lease.segments == 0 && now.lease.patience != Patience::FULL;
    let reason = match reason {
        LeftoverReason::BudgetExhausted if has_got_nothing => LeftoverReason::RobotsUnreadable,
        reason => reason,
    };
    let lease = Lease { ending: now.lease.ending.or(Some(reason)), ..now.lease.clone() };
    close_with_leftovers(&lease, &now.inbox, &iteration)
}
