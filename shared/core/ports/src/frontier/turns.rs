//! Turns: taking a lease, working its todo, committing segments, releasing it.

use std::future::Future;

use dragline_domain::frontier::{
    ChunkKey, Inbox, Lease, OriginKey, Release, ReleaseRefused, SegmentCommitted, SegmentRow, TakeRefused, TakeRequest,
    TodoChunk,
};
use dragline_domain::ids::{Iteration, LeaseToken};
use jiff::Timestamp;

use crate::error::PortResult;

/// Turns: taking a lease, working its todo, committing segments, releasing it.
pub trait Turns: Send + Sync {
    /// Takes or takes over the lease of an origin's turn, together with its host and a place in the
    /// host's domain. If the host is busy or the domain is full, the turn joins the queue there.
    fn take_lease(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        take: &TakeRequest,
    ) -> impl Future<Output = PortResult<Result<Lease, TakeRefused>>> + Send;

    /// Returns a chunk by its key; `None` if it is exhausted.
    fn load_chunk(
        &self,
        origin: &OriginKey,
        key: &ChunkKey,
    ) -> impl Future<Output = PortResult<Option<TodoChunk>>> + Send;

    /// Returns the first chunk of an iteration, in key order, that is not in `skip`; `None` if
    /// there is none.
    fn first_chunk(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        skip: &[ChunkKey],
    ) -> impl Future<Output = PortResult<Option<TodoChunk>>> + Send;

    /// Commits a segment: its row, the lease after it, and the chunks that it exhausts. Retries
    /// succeed. Exceeding the chunk limit of a transaction is an error of kind `TooLarge`.
    fn commit_segment(&self, commit: &CommitSegment) -> impl Future<Output = PortResult<SegmentCommitted>> + Send;

    /// Releases a lease, and its host and place in the domain if it still holds them.
    fn release(&self, release: &ReleaseLease) -> impl Future<Output = PortResult<Result<(), ReleaseRefused>>> + Send;
}

/// A request to commit a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSegment {
    /// The row; its token is the holder's.
    pub segment: SegmentRow,
    /// The holder's copy of the lease after the segment, with `until` renewed and `segments` one
    /// higher.
    pub lease: Lease,
    /// The chunks that it exhausts: they must exist, and are deleted. At most
    /// [`EXHAUSTED_CHUNKS_MAX`](dragline_domain::frontier::EXHAUSTED_CHUNKS_MAX).
    pub exhausted: Vec<ChunkKey>,
}

/// A request to release a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseLease {
    /// The origin.
    pub origin: OriginKey,
    /// The holder's token.
    pub token: LeaseToken,
    /// The holder's copy.
    pub lease: Lease,
    /// The inbox on which the decision is based.
    pub seen: Inbox,
    /// The origin's next state.
    pub how: Release,
    /// When the next request may be made to the host. The pace is the lease's.
    pub free_from: Timestamp,
    /// The current time.
    pub now: Timestamp,
}
