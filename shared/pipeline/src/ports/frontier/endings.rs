//! How origins end, and work that looks overdue.

use dragline_domain::frontier::{Leftover, LeftoverReason, OriginKey, OriginRows, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration, Turn};
use jiff::Timestamp;

/// What became of settling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The origin is ready for this turn.
    Woken(Turn),
    /// It is closed.
    Closed,
    /// It is closed; this was left.
    ClosedWithLeftovers(Leftover),
    /// The rows changed since they were read: read again, decide again.
    Changed,
}

/// Why an origin is closed with what is left.
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
    /// The time of now: a lease that has not run out is left alone.
    pub now: Timestamp,
}

/// Which overdue work is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverdueKinds {
    /// All of it.
    All,
    /// All but leases: while nobody may take them they stay overdue, however many there are, and must not hide the rest.
    AllButLeases,
}

/// Work that looks overdue. Only a hint: whoever acts on it reads the row again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Overdue {
    /// A lease that is ready or ran out: its ticket may be lost.
    Lease(OriginKey),
    /// An inbox with work owed: a wake-up or close may be missed.
    Inbox(OriginKey),
    /// A segment that is not parsed.
    Segment(SegmentId, Iteration),
    /// A scheduler's token that is still out.
    Token(CrawlId, Iteration),
}
