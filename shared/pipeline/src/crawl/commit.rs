//! A segment being filled, and its commit.

use std::time::Duration;

use bytes::Bytes;
use dragline_domain::frontier::{
    ChunkKey, EXHAUSTED_CHUNKS_MAX, Lease, ObjectKey, OriginKey, SegmentId, SegmentRow, SegmentState, SegmentWork,
};
use dragline_domain::ids::LeaseToken;
use dragline_domain::time::after;

use super::memory::Taken;
use super::segment::SegmentRecords;
use crate::World;
use dragline_domain::frontier::Committed;
use dragline_ports::archive::{Archive, Put};
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{CommitSegment, Turns};
use dragline_ports::queue::{Message, ParseMessage, Queue};

/// Returns how many pages a segment holds, by the number of URLs known to wait: all of them, as each segment costs two objects and its commits,
/// however small it is. So a site's first page is parsed at once.
pub(super) fn segment_pages(waiting: u64) -> u32 {
    u32::try_from(waiting).unwrap_or(u32::MAX).clamp(1, SEGMENT_PAGES_MAX)
}

/// The most pages of a segment. Each exhausts one chunk at most.
const SEGMENT_PAGES_MAX: u32 = 50;
const _: () = assert!(SEGMENT_PAGES_MAX as usize <= EXHAUSTED_CHUNKS_MAX, "its commit fits a transaction");

/// A segment takes no more visits once its bodies, as received, reach this size together. However well they compress, the parser holds all of them
/// in memory.
const SEGMENT_BODIES_BYTES_MAX: u64 = 32 << 20;

/// Visits that are committed together, in the order in which they were handed out.
pub(super) struct OpenSegment {
    pub number: u64,
    /// `None` once it is being committed.
    pub records: Option<SegmentRecords>,
    /// The memory that it uses until it is committed.
    pub taken: Taken,
    /// The most visits that it takes.
    pub pages_max: u32,
    pub entries: u32,
    /// How many of them are no visits: documents that are made again.
    pub asides: u32,
    /// Visits under way.
    pub pending: u32,
    /// Whether it takes no more visits.
    pub is_sealed: bool,
    /// When its first visit was handed out, by the monotonic clock.
    pub since: Duration,
    pub exhausted: Vec<ChunkKey>,
    /// What its commit changes in the lease.
    pub work: SegmentWork,
}

impl OpenSegment {
    /// Whether it takes no other visit, if its object may have this many bytes.
    pub(super) fn is_full(&self, object_bytes_max: u64) -> bool {
        self.entries >= self.pages_max
            || self.records.as_ref().is_none_or(|records| records.len_bytes() >= object_bytes_max)
            || self.work.body_bytes >= SEGMENT_BODIES_BYTES_MAX
    }

    /// Whether nothing is under way any more and nothing will be added.
    pub(super) const fn is_complete(&self) -> bool {
        self.is_sealed && self.pending == 0
    }

    /// Takes what is to be committed; `None` if it is under way already. Its numbers count as open until it is over.
    pub(super) fn to_commit(&mut self) -> Option<ToCommit> {
        let Self { records, entries, asides, exhausted, work, .. } = self;
        let records = records.take()?;
        Some(ToCommit { records, entries: *entries, asides: *asides, exhausted: exhausted.clone(), work: work.clone() })
    }
}

/// What of a segment is committed.
pub(super) struct ToCommit {
    records: SegmentRecords,
    entries: u32,
    asides: u32,
    exhausted: Vec<ChunkKey>,
    work: SegmentWork,
}

/// The result of a commit: the lease as it stands now, or that another worker holds it.
pub(super) enum Outcome {
    Committed(Box<Lease>),
    Fenced,
}

/// Commits a segment. Effects in order: the object; segment and lease rows in one transaction; what is handed over; the parse
/// message. If another worker holds the
/// lease, the object is deleted.
///
/// `lease` is the holder's copy, with pace, patience and so on as they are when it begins.
pub(super) async fn commit(
    world: &impl World,
    origin: &OriginKey,
    token: &LeaseToken,
    lease: &Lease,
    lease_length: Duration,
    segment: ToCommit,
) -> PortResult<Outcome> {
    let now = world.clock().now();
    let id = SegmentId { origin: origin.clone(), turn: lease.turn, n: lease.segments };
    let object = ObjectKey::of_segment(&id, lease.iteration, token);
    let after_commit = lease.after_segment(&segment.work, after(now, lease_length));
    let (entries, exhausted) = (segment.entries, segment.exhausted);
    let put_off = u32::try_from(segment.work.retries.len()).unwrap_or(u32::MAX).saturating_add(segment.asides);
    let (bytes, kept) = segment.records.into_object();
    let bytes = Bytes::from(bytes);
    let object_bytes = bytes.len() as u64;
    match world.archive().put_new(&object, bytes).await? {
        // `Exists` means an earlier try of this put whose answer was lost: nobody else has the token in its key, and a turn ends when a put or a
        // commit fails, so it puts each segment once.
        Put::Stored | Put::Exists => {}
    }
    let row = SegmentRow {
        id: id.clone(),
        iteration: lease.iteration,
        token: token.clone(),
        state: SegmentState::Crawled { part: 0 },
        object: object.clone(),
        object_bytes,
        entries,
        put_off,
        committed_at: now,
        attempts: 0,
        parsing: None,
        due: Some(after(now, world.timing().grace)),
    };
    let commit = CommitSegment { segment: row, lease: after_commit, exhausted };
    match world.frontier().commit_segment(&commit).await? {
        Committed::Fenced => {
            // Whoever took the lease over may have looked for orphans before this object was stored.
            world.archive().delete(&object).await?;
            Ok(Outcome::Fenced)
        }
        Committed::Done => {
            if let Some(kept) = kept {
                world.handover().leave(&object, kept, world.clock().monotonic());
            }
            let message = ParseMessage { segment: id, iteration: lease.iteration };
            world.queue().send(Message::Parse(message), Duration::ZERO).await?;
            Ok(Outcome::Committed(Box::new(commit.lease)))
        }
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::ids::Iteration;
    use jiff::Timestamp;

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
    fn a_segment_is_full_by_its_pages_its_object_or_its_bodies() {
        const MIB: u64 = 1 << 20;
        let crawl = "docs".parse().unwrap();
        let records = || SegmentRecords::new(1, &crawl, Iteration::FIRST, "Bot/1", Timestamp::UNIX_EPOCH);
        let object_bytes = records().len_bytes();
        for (entries, body_bytes, object_bytes_max, full, why) in [
            (49, 32 * MIB - 1, object_bytes + 1, false, "just not"),
            (50, 0, MIB, true, "its pages"),
            (1, 0, object_bytes, true, "its object"),
            (1, 32 * MIB, MIB, true, "its bodies, which compress well"),
        ] {
            let segment = OpenSegment {
                number: 0,
                records: Some(records()),
                taken: SegmentMemory::default().begin(),
                pages_max: SEGMENT_PAGES_MAX,
                entries,
                asides: 0,
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
