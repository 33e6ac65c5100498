//! Parses: counting attempts, and committing what was found, part by part.

use dragline_domain::frontier::{
    AddTodo, IterationRow, OriginRows, PartKind, SegmentId, SegmentRow, SegmentState, Target, add_todo,
};
use dragline_pipeline::ports::frontier::{CommitParse, ParseCommitted};

use crate::db::{Db, StoreError};

pub(super) fn begin(db: &Db, id: &SegmentId) -> Result<Option<SegmentRow>, StoreError> {
    let Some(stored) = db.segment(id)? else { return Ok(None) };
    if stored.row.state == SegmentState::Processed {
        return Ok(Some(stored.row));
    }
    let row = SegmentRow { attempts: stored.row.attempts.saturating_add(1), ..stored.row };
    db.update_segment(stored.row_id, &row)?;
    Ok(Some(row))
}

pub(super) fn commit(db: &Db, commit: &CommitParse) -> Result<ParseCommitted, StoreError> {
    let Some(stored) = db.segment(&commit.segment)? else { return Ok(ParseCommitted::Over) };
    let segment = match stored.row.commit_part(commit.part_number, commit.kind) {
        Ok(segment) => segment,
        Err(refused) => return Ok(ParseCommitted::Refused(refused)),
    };
    let Some(iteration) = db.iteration(&commit.segment.origin.crawl, commit.iteration)? else {
        return Ok(ParseCommitted::Over);
    };
    let Some(opened) = plan_targets(db, commit, &iteration)? else { return Ok(ParseCommitted::Over) };
    for (target, rows) in opened.targets {
        let origin = db.ensure_origin(&target.origin)?;
        db.put_origin_rows(origin, &rows)?;
        target.chunks.iter().try_for_each(|chunk| db.put_chunk(origin, chunk))?;
    }
    if opened.iteration != iteration {
        db.update_iteration(&opened.iteration)?;
    }
    if commit.kind == PartKind::Last {
        count_as_parsed(db, commit)?;
    }
    db.update_segment(stored.row_id, &segment)?;
    Ok(ParseCommitted::Done)
}

/// What a part's todo makes of its targets and of the iteration.
struct Opened<'c> {
    targets: Vec<(&'c Target, OriginRows)>,
    iteration: IterationRow,
}

/// The rows of every target after it; `None` if one cannot be opened any more. Nothing is written before all are known.
fn plan_targets<'c>(
    db: &Db,
    commit: &'c CommitParse,
    iteration: &IterationRow,
) -> Result<Option<Opened<'c>>, StoreError> {
    let mut opened = Opened { targets: Vec::new(), iteration: iteration.clone() };
    for target in &commit.part.targets {
        let earlier = opened.targets.iter().rev().find(|(earlier, _)| earlier.origin == target.origin);
        let rows = match (earlier, db.origin_id(&target.origin)?) {
            (Some((_, rows)), _) => Some(rows.clone()),
            (None, Some(origin)) => db.origin_rows(origin)?,
            (None, None) => None,
        };
        let add = AddTodo { count: target.count(), pace: commit.pace, now: commit.now, due: commit.due };
        let Some((rows, iteration)) = add_todo(rows.as_ref(), &opened.iteration, &add) else { return Ok(None) };
        opened.targets.push((target, rows));
        opened.iteration = iteration.unwrap_or(opened.iteration);
    }
    Ok(Some(opened))
}

/// Counts the segment among the parsed ones of its own origin.
fn count_as_parsed(db: &Db, commit: &CommitParse) -> Result<(), StoreError> {
    let origin = db.origin_id(&commit.segment.origin)?.ok_or(StoreError::Missing("origin of the segment"))?;
    let mut inbox = db.inbox(origin)?.ok_or(StoreError::Missing("inbox of the segment's origin"))?;
    inbox.parsed += 1;
    inbox.due = Some(commit.due);
    inbox.counters.add(&commit.counters);
    db.put_inbox(origin, &inbox)
}
