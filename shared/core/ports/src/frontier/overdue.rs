//! Work that looks overdue.

use std::future::Future;

use dragline_domain::frontier::{OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration};
use jiff::Timestamp;

use crate::error::PortResult;

/// Work that looks overdue.
pub trait OverdueWork: Send + Sync {
    /// Returns work of these kinds that is due by then, the longest due first: at most `limit` leases and inboxes, and at most `limit` segments, so
    /// that however many origins wait for a turn, lost parses are seen. Only a hint, and it may lag; inboxes of origins that are not idle may be
    /// among it.
    fn overdue(
        &self,
        crawl: &CrawlId,
        due_by: Timestamp,
        kinds: OverdueKinds,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<Overdue>>> + Send;

    /// Puts off the next look at overdue work until `due`, as it was just sent again. Does nothing if the work is no longer owed.
    fn postpone(&self, work: &Overdue, due: Timestamp) -> impl Future<Output = PortResult<()>> + Send;
}

/// Which overdue work to look for.
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
    /// A lease that is ready or has expired: its ticket may be lost.
    Lease(OriginKey),
    /// An inbox with work owed: a wake-up or a close may have been missed.
    Inbox(OriginKey),
    /// A segment that is not parsed.
    Segment(SegmentId, Iteration),
    /// A scheduler's token that is still out.
    Token(CrawlId, Iteration),
}
