//! What an origin that nobody holds needs.

use super::{Barrier, Inbox, Lease, LeaseState};

/// What is to be done with an idle origin. Its effect checks the numbers it was decided from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Settlement {
    /// Work is left, or came: another turn.
    Wake,
    /// Nothing is left and nothing can come from its own pages.
    Close,
    /// It was given up, and its last segment is parsed: what is left is counted and let go.
    CloseWithLeftovers,
    /// Nothing now: somebody holds it, it is ready or closed, or segments are yet to be parsed.
    Wait,
}

/// Decides what an origin needs. Used by whoever releases, parses or sweeps, so that they never disagree.
#[must_use]
pub fn settle(lease: &Lease, inbox: &Inbox) -> Settlement {
    if lease.state != LeaseState::Idle {
        return Settlement::Wait;
    }
    let all_parsed = lease.segments == inbox.parsed;
    if lease.ending.is_some() {
        return if all_parsed { Settlement::CloseWithLeftovers } else { Settlement::Wait };
    }
    match (lease.has_work(inbox), lease.barrier, all_parsed) {
        (true, Barrier::Open, _) | (true, Barrier::Waiting, true) => Settlement::Wake,
        (false, _, true) => Settlement::Close,
        (true, Barrier::Waiting, false) | (false, _, false) => Settlement::Wait,
    }
}
