//! The [`Retained`] over a stack: segment by segment, as the log, the documents and the WARC of a segment are one item or object each.
//!
//! Which entries of a URL refer to each other is in the logs of all segments of its origin, which no index lists by URL. So the segments of dropped
//! iterations are taken by the hundred, and for each such group all logs of the origin are read once. Memory holds what one group needs.

mod entries;
mod forget;

use std::collections::BTreeMap;

use dragline_domain::frontier::{IterationRow, OriginKey, SegmentId, SegmentRow, SegmentState};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::retention::{Made, Stay};
use dragline_ports::error::PortResult;
use dragline_ports::retention::{Effect, PrunedSegments, Retained, UnusedObject};
use jiff::Timestamp;

use self::entries::Group;
use crate::documents::S3Documents;
use crate::frontier::{DynamoFrontier, Listed};

/// How many segments are decided on together.
const SEGMENTS_MAX: usize = 200;

/// How many segments' rows are listed at once.
const LISTED_MAX: usize = 200;

/// What is kept of a stack's crawls.
#[derive(Clone)]
pub struct DynamoRetained {
    frontier: DynamoFrontier,
    documents: S3Documents,
}

impl DynamoRetained {
    /// Returns what is kept in these stores.
    #[must_use]
    pub const fn new(frontier: DynamoFrontier, documents: S3Documents) -> Self {
        Self { frontier, documents }
    }

    /// Returns the next segments of dropped iterations that are parsed, and whether more may follow.
    async fn dropped(
        &self,
        origin: &OriginKey,
        cut: Iteration,
        after: Option<&SegmentId>,
    ) -> PortResult<(Vec<SegmentRow>, bool)> {
        let mut after = after.map(|id| crate::rows::keys::segment(id).sort);
        let mut found = Vec::new();
        loop {
            let Listed { rows, next } = self.frontier.list_segments(origin, after, LISTED_MAX).await?;
            for row in rows {
                // Turns only grow, so later segments are of later iterations.
                if row.iteration > cut {
                    return Ok((found, false));
                }
                if row.state == SegmentState::Processed {
                    found.push(row);
                }
                if found.len() == SEGMENTS_MAX {
                    return Ok((found, true));
                }
            }
            match next {
                Some(next) => after = Some(next),
                None => return Ok((found, false)),
            }
        }
    }

    /// Deletes the rows and documents of a segment to which nothing refers. Its row stays until its object is gone.
    async fn delete(&self, segment: &SegmentRow) -> PortResult<()> {
        self.frontier.delete_log(&segment.id, segment.iteration).await?;
        self.documents.delete(segment).await
    }
}

impl Retained for DynamoRetained {
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
        effect: Effect,
    ) -> PortResult<PrunedSegments> {
        let (segments, has_more) = self.dropped(origin, cut, after).await?;
        let mut pruned = PrunedSegments::default();
        let Some(last) = segments.last() else { return Ok(pruned) };
        if has_more {
            pruned.after = Some(last.id.clone());
        }
        let group = Group::load(&self.frontier, &self.documents, origin, &segments).await?;
        let stays: BTreeMap<_, _> = group.stays(&self.frontier, &origin.crawl, cut).await?;
        for segment in segments {
            let entries = group.of_segment(&segment);
            let whole = entries.iter().filter(|entry| stays.get(&entry.place) == Some(&Stay::Whole)).count();
            pruned.kept += u64::try_from(whole).unwrap_or(u64::MAX);
            if whole > 0 {
                continue;
            }
            pruned.visits += u64::try_from(entries.len()).unwrap_or(u64::MAX);
            pruned.documents += entries.iter().filter(|entry| entry.made == Made::Document).count() as u64;
            if effect == Effect::Delete {
                self.delete(&segment).await?;
            }
            let SegmentRow { id, iteration, object, object_bytes, .. } = segment;
            pruned.unused.push(UnusedObject { segment: id, iteration, object, bytes: object_bytes });
        }
        Ok(pruned)
    }

    async fn forget_objects(&self, segments: &[SegmentId]) -> PortResult<()> {
        self.frontier.delete_segments(segments).await
    }
}
