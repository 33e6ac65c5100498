//! Beginning, changing and closing iterations, and the seeds that they begin with.

use dragline_domain::frontier::{
    Beginning, IterationRow, IterationStatus, PART_CHUNKS_MAX, SeedRefused, StatusChange, begin_iteration, seed,
};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_pipeline::ports::frontier::{
    BeginIteration, Begun, CursorMoved, IterationClosed, MoveCursor, OwedNotice, SeedOrigin, Seeded,
};
use jiff::Timestamp;

use crate::db::{Db, StoreError};

pub(super) fn begin(db: &Db, request: &BeginIteration) -> Result<Begun, StoreError> {
    let crawl = db.ensure_crawl(&request.crawl)?;
    let latest = db.latest_iteration(&request.crawl)?;
    let number = match begin_iteration(db.trigger(crawl, &request.trigger)?, latest.as_ref()) {
        Beginning::Begin(number) => number,
        Beginning::Busy(running) => return Ok(Begun::Busy(running)),
        Beginning::GoOn(number) => {
            let row = db.iteration(&request.crawl, number)?.ok_or(StoreError::Missing("iteration of that trigger"))?;
            return Ok(Begun::Iteration(row));
        }
    };
    let row = request.row(number);
    db.put_trigger(crawl, &request.trigger, number)?;
    db.put_iteration(crawl, &row)?;
    Ok(Begun::Iteration(row))
}

pub(super) fn return_token(db: &Db, crawl: &CrawlId, number: Iteration) -> Result<(), StoreError> {
    match db.iteration(crawl, number)?.and_then(|row| row.return_token()) {
        Some(row) => db.update_iteration(&row),
        None => Ok(()),
    }
}

pub(super) fn move_cursor(db: &Db, request: &MoveCursor) -> Result<CursorMoved, StoreError> {
    let MoveCursor { crawl, iteration, walk, seen, to } = request;
    let Some(row) = db.iteration(crawl, *iteration)? else { return Ok(CursorMoved::Elsewhere) };
    if let Some(moved) = row.move_cursor(*walk, seen, to) {
        db.update_iteration(&moved)?;
        return Ok(CursorMoved::Moved);
    }
    Ok(if row.cursors.of(*walk) == to { CursorMoved::Moved } else { CursorMoved::Elsewhere })
}

pub(super) fn change_status(
    db: &Db,
    crawl: &CrawlId,
    number: Iteration,
    change: StatusChange,
) -> Result<Option<IterationRow>, StoreError> {
    let changed = db.iteration(crawl, number)?.and_then(|row| row.change(change));
    if let Some(row) = &changed {
        db.update_iteration(row)?;
    }
    Ok(changed)
}

pub(super) fn close(
    db: &Db,
    crawl: &CrawlId,
    number: Iteration,
    now: Timestamp,
) -> Result<IterationClosed, StoreError> {
    let row = db.iteration(crawl, number)?.ok_or(StoreError::Missing("such iteration"))?;
    if row.status == IterationStatus::Closed {
        return Ok(IterationClosed::Before(row));
    }
    let Some(closed) = row.close(now) else { return Ok(IterationClosed::NotYet(row)) };
    db.update_iteration(&closed)?;
    db.owe_notice(&OwedNotice::of_closed(&closed, now))?;
    Ok(IterationClosed::Now(closed))
}

pub(super) fn seed_origin(db: &Db, request: &SeedOrigin) -> Result<Seeded, StoreError> {
    if request.chunks.len() > PART_CHUNKS_MAX {
        return Err(StoreError::OutOfRange("the number of chunks of seeds"));
    }
    let Some(iteration) = db.iteration(&request.origin.crawl, request.iteration)? else {
        return Ok(Seeded::IterationOver);
    };
    let origin = db.ensure_origin(&request.origin)?;
    let rows = db.origin_rows(origin)?;
    let mark = db.seeding_mark(origin, request.iteration, &request.seeding)?;
    let (seeded, opened) = match seed(rows.as_ref(), &iteration, mark, &request.seeding, &request.add) {
        Ok(seeded) => seeded,
        Err(SeedRefused::Already) => return Ok(Seeded::Already),
        Err(SeedRefused::IterationOver) => return Ok(Seeded::IterationOver),
    };
    db.put_seeding(origin, request.iteration, &request.seeding)?;
    db.put_origin_rows(origin, &seeded)?;
    if let Some(iteration) = opened {
        db.update_iteration(&iteration)?;
    }
    request.chunks.iter().try_for_each(|chunk| db.put_chunk(origin, chunk))?;
    Ok(Seeded::Added)
}
