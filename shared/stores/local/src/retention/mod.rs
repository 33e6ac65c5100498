//! The [`Retained`] over SQLite: visit by visit.

mod disk;
mod entries;
mod forget;
mod space;

use std::sync::Arc;

use dragline_domain::frontier::{IterationRow, ObjectKey, OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration, Turn};
use dragline_domain::retention::RetainedPart;
use dragline_ports::error::PortResult;
use dragline_ports::retention::{PruneMode, PrunedSegments, Pruning, UnusedObject};
use jiff::Timestamp;
use rusqlite::params;

use crate::db::values::{Text, Time};
use crate::db::writer::Writer;
use crate::db::{Db, SegmentRowId, StoreError, VisitId};
use crate::documents::items;

pub use disk::{Disk, GRAPHS, INDEXES, free_bytes};
pub(crate) use space::compact;
pub use space::{Compaction, CompactionResult};

/// The number of segments handled in a transaction: each has some fifty entries.
const SEGMENTS_MAX: usize = 10;

/// The retained data of a data directory.
#[derive(Clone)]
pub struct SqliteRetained {
    writer: Arc<Writer>,
}

impl SqliteRetained {
    pub(crate) const fn new(writer: Arc<Writer>) -> Self {
        Self { writer }
    }
}

impl Pruning for SqliteRetained {
    async fn list_iterations(&self, crawl: &CrawlId) -> PortResult<Vec<IterationRow>> {
        let id = crawl.clone();
        self.writer.run("list iterations", crawl.to_string(), move |db| db.iterations(&id)).await
    }

    async fn mark_pruned(&self, crawl: &CrawlId, cut: Iteration, now: Timestamp) -> PortResult<()> {
        let id = crawl.clone();
        self.writer.run("mark iterations", crawl.to_string(), move |db| mark(db, &id, cut, now)).await
    }

    async fn prune_segments(
        &self,
        origin: &OriginKey,
        cut: Iteration,
        after: Option<&SegmentId>,
        effect: PruneMode,
    ) -> PortResult<PrunedSegments> {
        let (key, after) = (origin.clone(), after.cloned());
        let work = move |db: &Db| prune(db, &key, cut, after.as_ref(), effect);
        self.writer.run("prune segments", origin.to_string(), work).await
    }

    async fn forget_objects(&self, segments: &[SegmentId]) -> PortResult<()> {
        let Some(first) = segments.first() else { return Ok(()) };
        let ids = segments.to_vec();
        let work = move |db: &Db| ids.iter().try_for_each(|id| forget_object(db, id));
        self.writer.run("forget objects", first.origin.to_string(), work).await
    }
}

fn mark(db: &Db, crawl: &CrawlId, cut: Iteration, now: Timestamp) -> Result<(), StoreError> {
    let Some(id) = db.crawl_id(crawl)? else { return Ok(()) };
    let sql = "UPDATE iteration SET pruned_at = ?3 WHERE crawl_id = ?1 AND number <= ?2 AND pruned_at IS NULL";
    db.execute(sql, params![id, cut.number(), Time(now)])?;
    for table in ["leftover", "seeding"] {
        let sql = format!(
            "DELETE FROM {table} WHERE iteration <= ?2 AND origin_id IN (SELECT id FROM origin WHERE crawl_id = ?1)"
        );
        db.execute(&sql, params![id, cut.number()])?;
    }
    Ok(())
}

/// A segment of a dropped iteration.
struct Segment {
    row_id: SegmentRowId,
    id: SegmentId,
    iteration: Iteration,
    object: ObjectKey,
    object_bytes: u64,
    is_stored: bool,
}

fn prune(
    db: &Db,
    origin: &OriginKey,
    cut: Iteration,
    after: Option<&SegmentId>,
    effect: PruneMode,
) -> Result<PrunedSegments, StoreError> {
    let segments = segments(db, origin, cut, after)?;
    let mut pruned = PrunedSegments::default();
    if segments.len() == SEGMENTS_MAX {
        pruned.after = segments.last().map(|segment| segment.id.clone());
    }
    for segment in segments {
        let entries = entries::load_entries(db, &origin.crawl, segment.row_id, cut)?;
        for entry in &entries {
            pruned.visits += u64::from(entry.stay == RetainedPart::Nothing);
            pruned.documents += u64::from(entry.stay < RetainedPart::Whole && entry.has_document);
            pruned.kept += u64::from(entry.stay == RetainedPart::Whole);
            if effect == PruneMode::Delete {
                entries::reduce(db, entry)?;
            }
        }
        if segment.is_stored && entries.iter().all(|entry| entry.stay < RetainedPart::Whole) {
            let Segment { id, iteration, object, object_bytes, .. } = segment;
            pruned.unused.push(UnusedObject { segment: id, iteration, object, bytes: object_bytes });
        }
    }
    Ok(pruned)
}

/// Returns the next segments of dropped iterations that are parsed.
fn segments(
    db: &Db,
    origin: &OriginKey,
    cut: Iteration,
    after: Option<&SegmentId>,
) -> Result<Vec<Segment>, StoreError> {
    let Some(origin_id) = db.origin_id(origin)? else { return Ok(Vec::new()) };
    let sql = "SELECT id, turn, n, object, object_bytes, is_stored, iteration FROM segment
               WHERE origin_id = ?1 AND iteration <= ?2 AND state = 'processed' AND (?3 IS NULL OR (turn, n) > (?3, ?4))
               ORDER BY turn, n LIMIT ?5";
    let (turn, n) = (after.map(|after| after.turn.0), after.map(|after| after.n));
    db.all(sql, params![origin_id, cut.number(), turn, n, SEGMENTS_MAX], |row| {
        let id = SegmentId { origin: origin.clone(), turn: Turn(row.get(1)?), n: row.get(2)? };
        let object = row.get::<_, Text<ObjectKey>>(3)?.0;
        let iteration = Iteration::new(row.get(6)?).ok_or(rusqlite::Error::IntegralValueOutOfRange(6, 0))?;
        Ok(Segment { row_id: row.get(0)?, id, iteration, object, object_bytes: row.get(4)?, is_stored: row.get(5)? })
    })
}

/// The row stays, as differences refer to their segments.
fn forget_object(db: &Db, id: &SegmentId) -> Result<(), StoreError> {
    let Some(origin) = db.origin_id(&id.origin)? else { return Ok(()) };
    let sql = "UPDATE segment SET is_stored = 0 WHERE origin_id = ?1 AND turn = ?2 AND n = ?3";
    db.execute(sql, params![origin, id.turn.0, id.n])?;
    Ok(())
}

/// Deletes the document of an entry.
pub(crate) fn delete_document(db: &Db, id: VisitId) -> Result<(), StoreError> {
    // Most content has no items, whose tables may be many.
    let sql = "DELETE FROM content WHERE id = ?1 RETURNING record -> '$.items' IS NOT NULL";
    if db.all(sql, [id], |row| row.get(0))?.contains(&true) {
        items::delete(db, id)?;
    }
    for table in ["difference", "document_text", "document"] {
        db.execute(&format!("DELETE FROM {table} WHERE id = ?1"), [id])?;
    }
    Ok(())
}

/// Deletes the stored data of an entry, except for how it ended.
fn delete_content(db: &Db, id: VisitId) -> Result<(), StoreError> {
    delete_document(db, id)?;
    let sql = "UPDATE visit
               SET duration_ms = NULL, first_byte_ms = NULL, status = NULL, remote = NULL, record = NULL, offset = NULL, length = NULL,
                   content_type = NULL, body_bytes = NULL, decoded_bytes = NULL, payload_sha1 = NULL, decoded_sha1 = NULL, etag = NULL,
                   last_modified = NULL, truncated = NULL, resends = NULL, page_requests = NULL
               WHERE id = ?1";
    db.execute(sql, [id])?;
    Ok(())
}

/// Deletes everything stored about an entry.
pub(crate) fn delete_entry(db: &Db, id: VisitId) -> Result<(), StoreError> {
    delete_document(db, id)?;
    // Visits that found the body unchanged are deleted too, or were before it.
    db.execute("UPDATE visit SET body_of = NULL WHERE body_of = ?1", [id])?;
    for table in ["redirect", "visit"] {
        db.execute(&format!("DELETE FROM {table} WHERE id = ?1"), [id])?;
    }
    Ok(())
}
