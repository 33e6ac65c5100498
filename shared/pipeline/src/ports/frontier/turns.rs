//! What a turn reads and commits, and what becomes of that.

use dragline_domain::frontier::{ChunkKey, Inbox, Lease, OriginKey, Release, SegmentRow};
use dragline_domain::ids::LeaseToken;
use dragline_domain::politeness::Pace;
use dragline_domain::url::HostKey;
use dragline_formats::robots::RobotsRecord;
use jiff::Timestamp;

/// A segment to be committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSegment {
    /// The row; its token is the holder's.
    pub segment: SegmentRow,
    /// The holder's copy of the lease after it, `until` renewed, `segments` one more.
    pub lease: Lease,
    /// The chunks that it exhausts: they exist, and are deleted. At most
    /// [`EXHAUSTED_CHUNKS_MAX`](dragline_domain::frontier::EXHAUSTED_CHUNKS_MAX).
    pub exhausted: Vec<ChunkKey>,
}

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// It is committed, now or by an earlier try of which no answer came.
    Done,
    /// Another worker holds the lease.
    Fenced,
}

/// A lease to be let go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseLease {
    /// The origin.
    pub origin: OriginKey,
    /// The holder's token.
    pub token: LeaseToken,
    /// The holder's copy.
    pub lease: Lease,
    /// The inbox that the decision was made from.
    pub seen: Inbox,
    /// How.
    pub how: Release,
    /// When the host may be asked again. The pace is the lease's.
    pub free_from: Timestamp,
    /// The time of now.
    pub now: Timestamp,
}

/// A host to be given back that was taken without a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiveBackHost {
    /// The host.
    pub host: HostKey,
    /// The token that it was taken with.
    pub token: LeaseToken,
    /// When it may be asked again.
    pub free_from: Timestamp,
    /// How fast.
    pub pace: Pace,
    /// The time of now.
    pub now: Timestamp,
}

/// robots.txt as kept for an origin.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsRow {
    /// What was got, and what it means.
    pub record: RobotsRecord,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// When it is to be fetched again.
    pub expires_at: Timestamp,
}
