//! Work that looks overdue.

use std::future::Future;

use dragline_domain::frontier::{OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration};
use jiff::Timestamp;

use crate::error::PortResult;

/// Work that looks overdue.
pub trait OverdueWork: Send + Sync {
    /// Returns work of these kinds that is due by then, longest overdue first: at most `limit`
    /// leases and inboxes, and at most `limit` segments, so that lost parses are found even if many
    /// origins wait for a turn. Only a hint, and it may lag; it may include inboxes of origins that
    /// are not idle.
    fn overdue(
        &self,
        crawl: &CrawlId,
        due_by: Timestamp,
        kinds: OverdueKinds,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<Overdue>>> + Send;

    /// Postpones the next look at overdue work until `due`, as it was just sent again. Does nothing
    /// if the work is no longer owed.
    fn postpone(&self, work: &Overdue, due: Timestamp) -> impl Future<Output = PortResult<()>> + Send;
}

/// Which overdue work to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverdueKinds {
    /// All of it.
    All,
    /// All but leases: while none may be taken they all stay overdue, and must not hide the rest.
    AllButLeases,
}

/// Work that looks overdue. Only a hint: read the row again before acting on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Overdue {
    /// A lease that is ready or has expired: its ticket may be lost.
    Lease(OriginKey),
    /// An inbox with work owed: a wake-up or a close may have been missed.
    Inbox(OriginKey),
    /// An unparsed segment.
    Segment(SegmentId, Iteration),
    /// A scheduler's token that is still out.
    Token(CrawlId, Iteration),
}
