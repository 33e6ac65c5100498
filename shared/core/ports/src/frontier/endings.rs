//! What happens to origins that nobody holds: another turn, a close, or a close with leftovers.

use std::future::Future;

use dragline_domain::frontier::{Leftover, LeftoverReason, OriginKey, OriginRows};
use dragline_domain::ids::{Iteration, Turn};
use jiff::Timestamp;

use crate::error::PortResult;

/// What happens to origins that nobody holds: another turn, a close, or a close with leftovers.
pub trait Endings: Send + Sync {
    /// Does with an idle origin what [`dragline_domain::frontier::settle`] decided from these rows, if they are unchanged. `seen` must be idle, and
    /// not call for `Wait`; the decision is made again inside.
    fn settle(&self, origin: &OriginKey, seen: &OriginRows) -> impl Future<Output = PortResult<Settled>> + Send;

    /// Closes an origin with what is left, after a stop or when the budget is spent. Needs every segment parsed.
    fn give_up(&self, give_up: &GiveUp) -> impl Future<Output = PortResult<Settled>> + Send;
}

/// The result of settling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The origin is ready for this turn.
    Woken(Turn),
    /// It is closed.
    Closed,
    /// It is closed, and this was left.
    ClosedWithLeftovers(Leftover),
    /// The rows changed since they were read: read and decide again.
    Changed,
}

/// A request to close an origin with what is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiveUp {
    /// The origin.
    pub origin: OriginKey,
    /// The iteration.
    pub iteration: Iteration,
    /// The state and turn that were seen; nothing is done if they changed.
    pub seen: OriginRows,
    /// Why.
    pub reason: LeftoverReason,
    /// The current time: a lease that has not run out is left alone.
    pub now: Timestamp,
}
