//! Deleting unreferenced rows.

use dragline_domain::frontier::{IterationRow, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::error::PortResult;
use jiff::Timestamp;

use super::DynamoFrontier;
use crate::dynamo::{Fields, Item, Key, Range};
use crate::errors::{StoreError, at};
use crate::meter::capacity::item_bytes;
use crate::rows::{iteration, keys};
use crate::tables::SORT;

/// The approximate size of a segment's row, for the meter.
const SEGMENT_BYTES: u64 = 400;

impl DynamoFrontier {
    /// Returns all iterations of a crawl, newest first.
    pub(crate) async fn iterations(&self, crawl: &CrawlId) -> PortResult<Vec<IterationRow>> {
        at("list iterations", crawl, async {
            let rows = self.db.all(keys::iterations(crawl)).await?;
            rows.iter().rev().map(iteration::read).collect()
        })
        .await
    }

    /// Marks an iteration as pruned, if it is not, and deletes its leftovers.
    pub(crate) async fn mark_pruned(&self, row: &IterationRow, now: Timestamp) -> PortResult<()> {
        at("mark iteration", &row.crawl, async {
            // Refused: another run marked it first, and its time stays.
            let _was_marked = self.db.write(&iteration::prune(row, now)).await?;
            self.delete_range(keys::leftovers(&row.crawl, Some(row.number), None)).await
        })
        .await
    }

    /// Deletes the log of a segment.
    pub(crate) async fn delete_log(&self, segment: &SegmentId, iteration: Iteration) -> PortResult<()> {
        at("delete log", segment, self.delete_range(keys::log_parts(segment, iteration))).await
    }

    /// Deletes the rows of segments.
    pub(crate) async fn delete_segments(&self, segments: &[SegmentId]) -> PortResult<()> {
        let Some(first) = segments.first() else { return Ok(()) };
        let rows: Vec<(Key, u64)> = segments.iter().map(|id| (keys::segment(id), SEGMENT_BYTES)).collect();
        at("delete segments", &first.origin, self.db.delete_all(&rows)).await
    }

    async fn delete_range(&self, range: Range) -> Result<(), StoreError> {
        let items = self.db.all(range.clone()).await?;
        let key = |item: &Item| Ok((range.key(Fields(item).text(SORT)?), item_bytes(item)));
        let found: Vec<(Key, u64)> = items.iter().map(key).collect::<Result<_, StoreError>>()?;
        self.db.delete_all(&found).await
    }
}
