//! Turns: taking a lease, its todo, committing segments, letting go.

use dragline_domain::frontier::{
    ChunkKey, EXHAUSTED_CHUNKS_MAX, HostAsk, HostBusy, HostRow, Lease, OriginKey, ReleaseRefused, SegmentDecision,
    Take, TakeRefused, TodoChunk, TurnRefused, commit_segment as decide, take_turn,
};
use dragline_domain::ids::Iteration;
use dragline_domain::url::HostKey;
use dragline_pipeline::ports::frontier::{CommitSegment, Committed, GiveBackHost, ReleaseLease};
use jiff::Timestamp;

use crate::db::{Db, StoreError};

pub(super) fn take_lease(
    db: &Db,
    key: &OriginKey,
    iteration: Iteration,
    take: &Take,
) -> Result<Result<Lease, TakeRefused>, StoreError> {
    let Some(origin) = db.origin_id(key)? else { return Ok(Err(TakeRefused::NothingToDo)) };
    let Some(lease) = db.lease(origin)? else { return Ok(Err(TakeRefused::NothingToDo)) };
    let Some(row) = db.iteration(&key.crawl, iteration)? else { return Ok(Err(TakeRefused::NotOpen)) };
    let host = HostKey::of(&key.origin);
    let stored = db.host(&host)?;
    match take_turn(key, &lease, &row, stored.as_ref(), take) {
        Err(TurnRefused::Lease(refused)) => Ok(Err(refused)),
        Err(TurnRefused::Host(busy)) => {
            stand_in_line(db, &host, stored.as_ref(), &busy)?;
            Ok(Err(TakeRefused::HostBusy { until: busy.until }))
        }
        Ok(taken) => {
            db.put_lease(origin, &taken.lease)?;
            db.put_host(&host, &taken.host)?;
            if taken.iteration != row {
                db.update_iteration(&taken.iteration)?;
            }
            Ok(Ok(taken.lease))
        }
    }
}

pub(super) fn take_host(db: &Db, host: &HostKey, ask: &HostAsk) -> Result<Result<HostRow, Timestamp>, StoreError> {
    let stored = db.host(host)?;
    match HostRow::take(stored.as_ref(), ask, None) {
        Ok(row) => {
            db.put_host(host, &row)?;
            Ok(Ok(row))
        }
        Err(busy) => {
            stand_in_line(db, host, stored.as_ref(), &busy)?;
            Ok(Err(busy.until))
        }
    }
}

fn stand_in_line(db: &Db, host: &HostKey, stored: Option<&HostRow>, busy: &HostBusy) -> Result<(), StoreError> {
    if stored == Some(&busy.row) { Ok(()) } else { db.put_host(host, &busy.row) }
}

pub(super) fn give_back_host(db: &Db, back: &GiveBackHost) -> Result<(), StoreError> {
    let GiveBackHost { host, token, free_from, pace, now } = back;
    match db.host(host)?.and_then(|row| row.give_back(token, *free_from, *pace, *now)) {
        Some(row) => db.put_host(host, &row),
        None => Ok(()),
    }
}

pub(super) fn first_chunk(
    db: &Db,
    key: &OriginKey,
    iteration: Iteration,
    skip: &[ChunkKey],
) -> Result<Option<TodoChunk>, StoreError> {
    let Some(origin) = db.origin_id(key)? else { return Ok(None) };
    match db.first_chunk_key(origin, iteration, skip)? {
        Some(first) => db.chunk(origin, &first),
        None => Ok(None),
    }
}

pub(super) fn commit_segment(db: &Db, commit: &CommitSegment) -> Result<Committed, StoreError> {
    if commit.exhausted.len() > EXHAUSTED_CHUNKS_MAX {
        return Err(StoreError::OutOfRange("the number of exhausted chunks"));
    }
    let segment = &commit.segment;
    let Some(origin) = db.origin_id(&segment.id.origin)? else { return Ok(Committed::Fenced) };
    let earlier = db.segment(&segment.id)?.map(|stored| stored.row);
    match decide(db.lease(origin)?.as_ref(), earlier.as_ref(), segment) {
        SegmentDecision::DoneBefore => return Ok(Committed::Done),
        SegmentDecision::Fenced => return Ok(Committed::Fenced),
        SegmentDecision::Write => {}
    }
    db.insert_segment(origin, segment)?;
    db.put_lease(origin, &commit.lease)?;
    commit.exhausted.iter().try_for_each(|chunk| db.delete_chunk(origin, chunk))?;
    Ok(Committed::Done)
}

pub(super) fn release(db: &Db, request: &ReleaseLease) -> Result<Result<(), ReleaseRefused>, StoreError> {
    let ReleaseLease { origin: key, token, lease: last, seen, how, free_from, now } = request;
    let Some(origin) = db.origin_id(key)? else { return Ok(Err(ReleaseRefused::Fenced)) };
    let Some(rows) = db.origin_rows(origin)? else { return Ok(Err(ReleaseRefused::Fenced)) };
    let number = rows.lease.iteration;
    let iteration = db.iteration(&key.crawl, number)?.ok_or(StoreError::Missing("such iteration"))?;
    let after = match rows.lease.release(token, last, seen, &rows.inbox, &iteration, *how) {
        Ok(after) => after,
        Err(ReleaseRefused::Fenced) if rows.lease.was_released(last, seen, *how) => return Ok(Ok(())),
        Err(refused) => return Ok(Err(refused)),
    };
    if let Some(leftover) = &after.leftover {
        db.put_leftover(origin, leftover)?;
        db.delete_chunks(origin, number)?;
    }
    db.put_lease(origin, &after.rows.lease)?;
    if after.rows.inbox != rows.inbox {
        db.put_inbox(origin, &after.rows.inbox)?;
    }
    if after.iteration != iteration {
        db.update_iteration(&after.iteration)?;
    }
    let host = HostKey::of(&key.origin);
    let (free_from, now) = (*free_from, *now);
    give_back_host(db, &GiveBackHost { host, token: token.clone(), free_from, pace: last.pace, now })?;
    Ok(Ok(()))
}
