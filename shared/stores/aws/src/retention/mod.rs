//! The [`Retained`] over a stack: segment by segment, as the log, the documents and the WARC of a
//! segment are one item or object each.
//!
//! The references between entries of a URL are spread over the logs of all segments of its origin,
//! which no index lists by URL. As entries refer only to earlier ones, a walk from the newest
//! segment back reads each log once, and decides about a segment when it gets there. To continue a
//! walk in another process, the newer segments are read again: the kept iterations, and the remains
//! of the others.

mod entries;
mod forget;

use std::sync::{Arc, Mutex, PoisonError};

use dragline_domain::frontier::{IterationRow, OriginKey, SegmentId, SegmentRow};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::error::PortResult;
use dragline_ports::retention::{PruneMode, PrunedSegments, Pruning, UnusedObject};
use jiff::Timestamp;

use self::entries::{BackwardWalk, DecidedSegment};
use crate::documents::S3Documents;
use crate::frontier::DynamoFrontier;

/// The number of segments decided at a time.
const SEGMENTS_MAX: usize = 200;

/// The most walks kept for continuation: a process prunes one crawl after another, or a few at the
/// same time.
const WALKS_MAX: usize = 4;

/// The number of segment rows listed at once when URLs are forgotten.
const LISTED_MAX: usize = 200;

/// The retained data of a stack's crawls.
#[derive(Clone)]
pub struct DynamoRetained {
    frontier: DynamoFrontier,
    documents: S3Documents,
    batch: usize,
    walks: Arc<Mutex<Vec<BackwardWalk>>>,
}

impl DynamoRetained {
    /// Returns the retained data in these stores.
    #[must_use]
    pub fn new(frontier: DynamoFrontier, documents: S3Documents) -> Self {
        Self { frontier, documents, batch: SEGMENTS_MAX, walks: Arc::default() }
    }

    /// Returns the same, deciding about roughly this many segments at a time.
    #[must_use]
    pub fn with_batch_size(self, segments: usize) -> Self {
        Self { batch: segments, ..self }
    }

    /// Returns the walk at this position: one of this process, or else a new one that reads the
    /// newer segments again.
    fn resume(&self, origin: &OriginKey, cut: Iteration, after: Option<&SegmentId>) -> BackwardWalk {
        let mut walks = self.walks.lock().unwrap_or_else(PoisonError::into_inner);
        let place = after.and_then(|after| walks.iter().position(|walk| walk.is_at(origin, cut, after)));
        let walk = place.map(|place| walks.remove(place));
        walk.unwrap_or_else(|| BackwardWalk::new(origin.clone(), cut, after.cloned()))
    }

    /// Keeps a walk for continuation, in place of the oldest if there are many.
    fn keep(&self, walk: BackwardWalk) {
        let mut walks = self.walks.lock().unwrap_or_else(PoisonError::into_inner);
        if walks.len() == WALKS_MAX {
            walks.remove(0);
        }
        walks.push(walk);
    }

    /// Deletes the rows and documents of an unreferenced segment. Its own row stays until its
    /// object is deleted.
    async fn delete(&self, segment: &SegmentRow) -> PortResult<()> {
        self.frontier.delete_log(&segment.id, segment.iteration).await?;
        self.documents.delete(segment).await
    }
}

impl Pruning for DynamoRetained {
    async fn list_iterations(&self, crawl: &CrawlId) -> PortResult<Vec<IterationRow>> {
        self.frontier.iterations(crawl).await
    }

    async fn mark_pruned(&self, crawl: &CrawlId, cut: Iteration, now: Timestamp) -> PortResult<()> {
        for row in self.frontier.iterations(crawl).await? {
            if row.number <= cut && row.pruned_at.is_none() {
                self.frontier.mark_pruned(&row, now).await?;
            }
        }
        Ok(())
    }

    async fn prune_segments(
        &self,
        origin: &OriginKey,
        cut: Iteration,
        after: Option<&SegmentId>,
        effect: PruneMode,
    ) -> PortResult<PrunedSegments> {
        let mut walk = self.resume(origin, cut, after);
        let (mut pruned, mut decided) = (PrunedSegments::default(), 0);
        while decided < self.batch {
            let Some(some) = walk.next(&self.frontier, &self.documents, self.batch).await? else { return Ok(pruned) };
            decided += some.len();
            for DecidedSegment { segment, visits, documents, kept } in some {
                pruned.kept += kept;
                if kept > 0 {
                    continue;
                }
                pruned.visits += visits;
                pruned.documents += documents;
                if effect == PruneMode::Delete {
                    self.delete(&segment).await?;
                }
                let SegmentRow { id, iteration, object, object_bytes, .. } = segment;
                pruned.unused.push(UnusedObject { segment: id, iteration, object, bytes: object_bytes });
            }
        }
        pruned.after = walk.decided().cloned();
        self.keep(walk);
        Ok(pruned)
    }

    async fn forget_objects(&self, segments: &[SegmentId]) -> PortResult<()> {
        self.frontier.delete_segments(segments).await
    }
}
