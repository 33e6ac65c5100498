//! Decides on the next state of an origin without a holder.

use jiff::Timestamp;

use super::{
    Barrier, ClosedWithLeftovers, Inbox, IterationRow, Lease, LeaseState, OriginRows, RecrawlCursor, Release,
    close_with_leftovers,
};
use crate::ids::Turn;

/// The decision on an idle origin. Applying it requires the numbers on which it is based to be
/// unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Settlement {
    /// Work is left, or was added: another turn follows.
    Wake,
    /// Nothing is left, and its own pages can add nothing.
    Close,
    /// It was given up, and its last segment is parsed: the remaining work is counted as leftovers.
    CloseWithLeftovers,
    /// Nothing now: a worker holds it, it is ready or closed, or segments are not parsed yet.
    Wait,
}

/// Decides on an origin. Releasing, parsing and sweeping all use this, so that they never disagree.
#[must_use]
pub fn settle(lease: &Lease, inbox: &Inbox) -> Settlement {
    if lease.state != LeaseState::Idle {
        return Settlement::Wait;
    }
    let all_parsed = lease.segments == inbox.parsed;
    if lease.ending.is_some() && !lease.has_urls_to_end(inbox) {
        return if all_parsed { Settlement::CloseWithLeftovers } else { Settlement::Wait };
    }
    match (lease.has_work(inbox), lease.barrier, all_parsed) {
        (true, Barrier::Open, _) | (true, Barrier::Waiting, true) => Settlement::Wake,
        (false, _, true) => Settlement::Close,
        (true, Barrier::Waiting, false) | (false, _, false) => Settlement::Wait,
    }
}

/// The needs of an origin, for a worker that may have added work to it, or taken the last of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// A ticket for this turn, as it is ready.
    Ticket(Turn),
    /// Settling, as it is idle, and must be woken or closed.
    Settling,
    /// Nothing: its holder takes care of it, or it waits, or it is closed.
    Nothing,
}

/// Returns the needs of an origin, from rows that were read together. Meeting them twice is
/// harmless.
#[must_use]
pub fn need(rows: &OriginRows) -> Need {
    match rows.lease.state {
        LeaseState::Ready => Need::Ticket(rows.lease.turn),
        LeaseState::Idle if settle(&rows.lease, &rows.inbox) != Settlement::Wait => Need::Settling,
        LeaseState::Idle | LeaseState::Leased(_) | LeaseState::Closed => Need::Nothing,
    }
}

/// The rows after settling an idle origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettledRows {
    /// Ready for another turn.
    Woken(OriginRows),
    /// Closed, with nothing left.
    Closed(OriginRows, IterationRow),
    /// Closed, with the remaining work counted.
    ClosedWithLeftovers(ClosedWithLeftovers),
}

/// Applies the decision of [`settle`] for the rows that were `seen`. `None` if there is nothing to
/// do, or if they have changed since.
#[must_use]
pub fn settle_origin(now: &OriginRows, seen: &OriginRows, iteration: &IterationRow) -> Option<SettledRows> {
    if !is_unchanged(now, seen) {
        return None;
    }
    let mut rows = now.clone();
    match settle(&seen.lease, &seen.inbox) {
        Settlement::Wait => None,
        Settlement::Wake => {
            rows.lease.state = LeaseState::Ready;
            rows.lease.turn = rows.lease.turn.next();
            rows.inbox.due = None;
            Some(SettledRows::Woken(rows))
        }
        Settlement::Close => {
            rows.lease.state = LeaseState::Closed;
            rows.inbox.close();
            Some(SettledRows::Closed(rows, iteration.one_origin_less()))
        }
        Settlement::CloseWithLeftovers => {
            close_with_leftovers(&now.lease, &now.inbox, iteration).map(SettledRows::ClosedWithLeftovers)
        }
    }
}

/// Whether the numbers behind a settlement are unchanged. They only grow, except in a new
/// iteration, which has another turn.
fn is_unchanged(now: &OriginRows, seen: &OriginRows) -> bool {
    let lease = |lease: &Lease| (lease.turn, lease.taken, lease.segments);
    lease(&now.lease) == lease(&seen.lease)
        && now.lease.state == seen.lease.state
        && (now.inbox.added, now.inbox.parsed) == (seen.inbox.added, seen.inbox.parsed)
}

/// Decides how to release a lease, from the holder's copy and the current inbox, if no request may
/// be sent to the origin before `not_before`. The release checks that the inbox has not changed.
#[must_use]
pub fn decide_release(lease: &Lease, inbox: &Inbox, not_before: Timestamp, now: Timestamp) -> Release {
    let all_parsed = lease.segments == inbox.parsed;
    if lease.has_urls_to_end(inbox) {
        let is_barred = lease.barrier == Barrier::Waiting && !all_parsed;
        return if is_barred { Release::Idle } else { Release::Wake { not_before } };
    }
    if lease.ending.is_some() {
        return if all_parsed { Release::CloseWithLeftovers } else { Release::Idle };
    }
    let has_todo = inbox.added > lease.taken || lease.cursor != RecrawlCursor::End;
    let first_retry = lease.retries.iter().map(|retry| retry.free_from(now)).min();
    match (has_todo, first_retry) {
        (true, _) if lease.barrier == Barrier::Waiting && !all_parsed => Release::Idle,
        // The barrier waits for the retries: the origin has nothing else to do until the first is
        // due.
        (true, Some(first)) if lease.barrier == Barrier::Waiting => Release::Wake { not_before: first.max(not_before) },
        (true, _) => Release::Wake { not_before },
        (false, Some(first)) => Release::Wake { not_before: first.max(not_before) },
        (false, None) if all_parsed => Release::Close,
        (false, None) => Release::Idle,
    }
}
