//! What becomes of origins that nobody holds: another turn, a close, or a close with leftovers.

use std::mem::discriminant;

use dragline_domain::frontier::{
    ClosedWithLeftovers, IterationRow, Lease, LeaseState, Leftover, OriginKey, OriginRows, Settlement,
    close_with_leftovers, settle,
};
use dragline_domain::ids::Iteration;
use dragline_domain::time::after;
use dragline_pipeline::ports::frontier::{GiveUp, Settled};
use jiff::Timestamp;

use crate::db::{Db, OriginRowId, StoreError};

/// An origin's rows and its iteration's, as they are now.
struct Current {
    origin: OriginRowId,
    rows: OriginRows,
    iteration: IterationRow,
}

fn load(db: &Db, key: &OriginKey, number: Iteration) -> Result<Option<Current>, StoreError> {
    let Some(origin) = db.origin_id(key)? else { return Ok(None) };
    let Some(rows) = db.origin_rows(origin)?.filter(|rows| rows.lease.iteration == number) else { return Ok(None) };
    let iteration = db.iteration(&key.crawl, number)?.ok_or(StoreError::Missing("such iteration"))?;
    Ok(Some(Current { origin, rows, iteration }))
}

pub(super) fn settle_origin(db: &Db, key: &OriginKey, seen: &OriginRows) -> Result<Settled, StoreError> {
    let current = load(db, key, seen.lease.iteration)?;
    let Some(Current { origin, mut rows, iteration }) = current.filter(|current| is_unchanged(&current.rows, seen))
    else {
        return Ok(Settled::Changed);
    };
    match settle(&rows.lease, &rows.inbox) {
        Settlement::Wait => Ok(Settled::Changed),
        Settlement::Wake => {
            rows.lease.state = LeaseState::Ready;
            rows.lease.turn = rows.lease.turn.next();
            rows.inbox.due = None;
            db.put_origin_rows(origin, &rows)?;
            Ok(Settled::Woken(rows.lease.turn))
        }
        Settlement::Close => {
            rows.lease.state = LeaseState::Closed;
            rows.inbox.open = false;
            rows.inbox.due = None;
            db.put_origin_rows(origin, &rows)?;
            db.update_iteration(&iteration.one_origin_less())?;
            Ok(Settled::Closed)
        }
        Settlement::CloseWithLeftovers => {
            let closed = close_with_leftovers(&rows.lease, &rows.inbox, &iteration);
            put_closed(db, origin, closed)
        }
    }
}

/// Whether the numbers that a settlement is decided from are as they were.
fn is_unchanged(now: &OriginRows, seen: &OriginRows) -> bool {
    let lease = |lease: &Lease| (lease.turn, lease.taken, lease.segments);
    lease(&now.lease) == lease(&seen.lease)
        && now.lease.state == seen.lease.state
        && (now.inbox.added, now.inbox.parsed) == (seen.inbox.added, seen.inbox.parsed)
}

pub(super) fn give_up(db: &Db, request: &GiveUp) -> Result<Settled, StoreError> {
    let Some(Current { origin, rows, iteration }) = load(db, &request.origin, request.iteration)? else {
        return Ok(Settled::Changed);
    };
    let seen = &request.seen;
    let token = |lease: &Lease| lease.holder().map(|holder| holder.token.clone());
    let is_as_seen = rows.lease.turn == seen.lease.turn
        && discriminant(&rows.lease.state) == discriminant(&seen.lease.state)
        && token(&rows.lease) == token(&seen.lease)
        && rows.inbox.added == seen.inbox.added;
    if !is_as_seen || !is_free(&rows.lease, request.now) {
        return Ok(Settled::Changed);
    }
    let iteration = match rows.lease.holder() {
        Some(dead) => iteration.give_back(dead.reserved),
        None => iteration,
    };
    let ending = rows.lease.ending.or(Some(request.reason));
    let lease = Lease { ending, ..rows.lease };
    put_closed(db, origin, close_with_leftovers(&lease, &rows.inbox, &iteration))
}

/// Whether nobody holds it, or whoever did ran out of time.
fn is_free(lease: &Lease, now: Timestamp) -> bool {
    lease.holder().is_none_or(|holder| after(holder.until, lease.pace.delay()) < now)
}

fn put_closed(db: &Db, origin: OriginRowId, closed: Option<ClosedWithLeftovers>) -> Result<Settled, StoreError> {
    let Some(ClosedWithLeftovers { rows, iteration, leftover, chunk: _ }) = closed else { return Ok(Settled::Changed) };
    let Leftover { iteration: number, .. } = leftover;
    db.put_origin_rows(origin, &rows)?;
    db.update_iteration(&iteration)?;
    db.put_leftover(origin, &leftover)?;
    db.delete_chunks(origin, number)?;
    Ok(Settled::ClosedWithLeftovers(leftover))
}
