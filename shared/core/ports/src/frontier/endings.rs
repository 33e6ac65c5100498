//! The next state of origins that nobody holds: another turn, a close, or a close with leftovers.

use std::future::Future;

use dragline_domain::frontier::{Leftover, LeftoverReason, OriginKey, OriginRows};
use dragline_domain::ids::{Iteration, Turn};
use jiff::Timestamp;

use crate::error::PortResult;

/// The next state of origins that nobody holds: another turn, a close, or a close with leftovers.
pub trait Endings: Send + Sync {
    /// Applies the decision of [`dragline_domain::frontier::settle`] for these rows to an idle
    /// origin, if they are unchanged. `seen` must be idle, and must not call for `Wait`; the
    /// decision is repeated inside.
    fn settle(&self, origin: &OriginKey, seen: &OriginRows) -> impl Future<Output = PortResult<SettleResult>> + Send;

    /// Closes an origin and its leftovers, after a stop or when the budget is spent. Requires every
    /// segment to be parsed.
    fn give_up(&self, give_up: &GiveUp) -> impl Future<Output = PortResult<SettleResult>> + Send;
}

/// The result of settling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettleResult {
    /// The origin is ready for this turn.
    Woken(Turn),
    /// It is closed.
    Closed,
    /// It is closed, with these leftovers.
    ClosedWithLeftovers(Leftover),
    /// The rows changed since they were read: read and decide again.
    Changed,
}

/// A request to close an origin with its leftovers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiveUp {
    /// The origin.
    pub origin: OriginKey,
    /// The iteration.
    pub iteration: Iteration,
    /// The rows that were seen; nothing is done if their state or turn changed.
    pub seen: OriginRows,
    /// The reason.
    pub reason: LeftoverReason,
    /// The current time: a lease that has not expired is left alone.
    pub now: Timestamp,
}
