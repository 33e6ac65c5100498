//! An open segment, and its commit.

use std::io::ErrorKind;
use std::time::Duration;

use dragline_domain::frontier::{
    ChunkKey, EXHAUSTED_CHUNKS_MAX, Lease, ObjectKey, SegmentId, SegmentRow, SegmentState, SegmentWork,
};
use dragline_domain::ids::{Iteration, LeaseToken};
use dragline_domain::time::after;

use super::memory::MemoryUse;
use super::segment::SegmentRecords;
use crate::World;
use crate::handover::SegmentCaptures;
use dragline_domain::frontier::SegmentCommitted;
use dragline_ports::archive::{Archive, PutResult};
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{CommitSegment, Turns};
use dragline_ports::queue::{Message, ParseMessage, Queue};

/// Returns the number of pages for a segment, by the number of waiting URLs: all of them, as each
/// segment costs two objects and its commits, however small it is. So a site's first page is parsed
/// at once.
pub(super) fn segment_pages(waiting: u64) -> u32 {
    u32::try_from(waiting).unwrap_or(u32::MAX).clamp(1, SEGMENT_PAGES_MAX)
}

/// The most pages of a segment. Each exhausts at most one chunk.
const SEGMENT_PAGES_MAX: u32 = 50;
const _: () = assert!(SEGMENT_PAGES_MAX as usize <= EXHAUSTED_CHUNKS_MAX, "its commit fits a transaction");

/// A segment takes no more visits once its bodies, as received, reach this size together: the
/// parser holds all of them in memory, however well they compress.
const SEGMENT_BODIES_BYTES_MAX: u64 = 32 << 20;

/// A segment takes no more visits once this much of its object is on disk, where incoming bodies
/// need the room.
const SEGMENT_SPOOLED_BYTES_MAX: u64 = 8 << 20;

/// A segment takes no more visits once it has this many sitemaps: the parser holds all their URLs,
/// up to 50,000 each.
const SEGMENT_SITEMAPS_MAX: u32 = 1;

/// Visits that are committed together, in the order in which they were started.
pub(super) struct OpenSegment {
    pub number: u64,
    /// `None` once the records are on their way to the archive.
    pub records: Option<SegmentRecords>,
    /// The memory that it uses until it is committed.
    pub taken: MemoryUse,
    /// The most visits that it takes.
    pub pages_max: u32,
    pub entries: u32,
    /// The number of entries that are not visits: remade documents, and URLs that another entry has
    /// visited.
    pub asides: u32,
    /// The number of entries whose URLs were named as sitemaps.
    pub sitemaps: u32,
    /// Visits under way.
    pub pending: u32,
    /// Whether it takes no more visits.
    pub is_sealed: bool,
    /// When its first visit started, by the monotonic clock.
    pub since: Duration,
    pub exhausted: Vec<ChunkKey>,
    /// The changes that its commit makes to the lease.
    pub work: SegmentWork,
}

impl OpenSegment {
    /// Whether it takes no more visits, given the maximum size of its object.
    pub(super) fn is_full(&self, object_bytes_max: u64) -> bool {
        self.entries >= self.pages_max
            || self.records.as_ref().is_none_or(|records| {
                records.len_bytes() >= object_bytes_max || records.spooled_bytes() >= SEGMENT_SPOOLED_BYTES_MAX
            })
            || self.work.body_bytes >= SEGMENT_BODIES_BYTES_MAX
            || self.sitemaps >= SEGMENT_SITEMAPS_MAX
    }

    /// Whether no visit is under way and none will be added.
    pub(super) const fn is_complete(&self) -> bool {
        self.is_sealed && self.pending == 0
    }
}

/// A segment whose object is stored; it is committed after those before it.
pub(super) struct StoredObject {
    id: SegmentId,
    object: ObjectKey,
    object_bytes: u64,
    kept: Option<SegmentCaptures>,
}

/// The result of a commit: the lease as it is now, or that another worker holds it.
pub(super) enum CommitOutcome {
    Committed(Box<Lease>),
    Fenced,
}

impl StoredObject {
    /// Returns the segment.
    pub(super) const fn id(&self) -> &SegmentId {
        &self.id
    }

    /// Returns the segment's number among those of its origin.
    pub(super) const fn number(&self) -> u64 {
        self.id.n
    }
}

/// Stores the object of a segment.
pub(super) async fn store(
    world: &impl World,
    id: SegmentId,
    iteration: Iteration,
    token: &LeaseToken,
    records: SegmentRecords,
) -> PortResult<StoredObject> {
    let object = ObjectKey::for_segment(&id, iteration, token);
    let (content, kept) = records.into_object().map_err(|error| {
        let is_full = matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
        PortError::new(if is_full { PortErrorKind::Full } else { PortErrorKind::Other }, "write object", &object, error)
    })?;
    let object_bytes = content.len_bytes();
    match world.archive().put_new(&object, content).await? {
        // `Exists` means that an earlier try of this put succeeded and its answer was lost: only
        // this turn has the token in the key, and a turn ends when a put or a commit fails, so it
        // puts each segment once.
        PutResult::Stored | PutResult::Exists => Ok(StoredObject { id, object, object_bytes, kept }),
    }
}

/// Deletes the object of a segment that cannot be committed. The new holder of the lease may have
/// looked for orphans before it was stored.
pub(super) async fn discard(world: &impl World, stored: &StoredObject) -> PortResult<()> {
    world.archive().delete(&stored.object).await
}

/// The parts of a segment that are committed besides its object.
pub(super) struct Content {
    entries: u32,
    put_off: u32,
    exhausted: Vec<ChunkKey>,
    work: SegmentWork,
}

impl Content {
    pub(super) fn from_segment(segment: &OpenSegment) -> Self {
        let OpenSegment { entries, asides, exhausted, work, .. } = segment;
        let retried = u32::try_from(work.retries.len()).unwrap_or(u32::MAX);
        let put_off = retried.saturating_add(*asides);
        Self { entries: *entries, put_off, exhausted: exhausted.clone(), work: work.clone() }
    }
}

/// Commits a segment whose object is stored. Effects in order: segment and lease rows in one
/// transaction; the handover; the parse message. If another worker holds the lease, the object is
/// deleted.
///
/// `lease` is the holder's copy, with its pace, patience and so on at the start of the commit.
pub(super) async fn commit(
    world: &impl World,
    token: &LeaseToken,
    lease: &Lease,
    lease_length: Duration,
    stored: StoredObject,
    content: Content,
) -> PortResult<CommitOutcome> {
    let now = world.clock().now();
    let row = SegmentRow {
        id: stored.id.clone(),
        iteration: lease.iteration,
        token: token.clone(),
        state: SegmentState::Crawled { part: 0 },
        object: stored.object.clone(),
        object_bytes: stored.object_bytes,
        entries: content.entries,
        put_off: content.put_off,
        committed_at: now,
        attempts: 0,
        parsing: None,
        due: Some(after(now, world.timing().grace)),
    };
    let after_commit = lease.after_segment(&content.work, after(now, lease_length));
    let commit = CommitSegment { segment: row, lease: after_commit, exhausted: content.exhausted };
    match world.frontier().commit_segment(&commit).await? {
        SegmentCommitted::Fenced => {
            discard(world, &stored).await?;
            Ok(CommitOutcome::Fenced)
        }
        SegmentCommitted::Done => {
            if let Some(kept) = stored.kept {
                world.handover().leave(&stored.object, kept, world.clock().monotonic());
            }
            let message = ParseMessage { segment: stored.id, iteration: lease.iteration };
            world.queue().send(Message::Parse(message), Duration::ZERO).await?;
            Ok(CommitOutcome::Committed(Box::new(commit.lease)))
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use dragline_formats::warc::WarcInfo;

    use super::*;
    use crate::crawl::SegmentMemory;

    #[test]
    fn a_segment_holds_all_that_waits() {
        for (waiting, expected, why) in [
            (0, 1, "what does not come from todo, such as a retry"),
            (1, 1, "a site's first page"),
            (50, 50, "the links of a page"),
            (51, 50, "no more than a segment may hold"),
            (u64::MAX, 50, "nor from a site without end"),
        ] {
            assert_eq!(segment_pages(waiting), expected, "{waiting} wait: {why}");
        }
    }

    #[test]
    fn a_segment_is_full_by_its_pages_its_object_its_bodies_or_its_sitemaps() {
        const MIB: u64 = 1 << 20;
        let records = || SegmentRecords::new(1, &WarcInfo::default(), Timestamp::UNIX_EPOCH);
        let object_bytes = records().len_bytes();
        for (entries, sitemaps, body_bytes, object_bytes_max, full, why) in [
            (49, 0, 32 * MIB - 1, object_bytes + 1, false, "just not"),
            (50, 0, 0, MIB, true, "its pages"),
            (1, 0, 0, object_bytes, true, "its object"),
            (1, 0, 32 * MIB, MIB, true, "its bodies, which compress well"),
            (1, 1, 0, MIB, true, "what its sitemap lists"),
        ] {
            let segment = OpenSegment {
                number: 0,
                records: Some(records()),
                taken: SegmentMemory::default().begin(),
                pages_max: SEGMENT_PAGES_MAX,
                entries,
                asides: 0,
                sitemaps,
                pending: 0,
                is_sealed: false,
                since: Duration::ZERO,
                exhausted: Vec::new(),
                work: SegmentWork { body_bytes, ..SegmentWork::default() },
            };
            assert_eq!(segment.is_full(object_bytes_max), full, "{why}");
        }
    }
}
