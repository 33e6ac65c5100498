//! Endings of origins that nobody holds: another turn, a close, or a close with leftovers.

use dragline_domain::frontier::{
    ClosedWithLeftovers, IterationRow, OriginKey, OriginRows, SettledRows, give_up as give_up_rows,
    settle_origin as settle_rows,
};
use dragline_domain::ids::Iteration;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Endings, GiveUp, SettleResult};

use super::SqliteFrontier;
use crate::db::{Db, OriginRowId, StoreError};

/// The current rows of an origin and its iteration.
struct Current {
    origin: OriginRowId,
    rows: OriginRows,
    iteration: IterationRow,
}

impl Endings for SqliteFrontier {
    async fn settle(&self, origin: &OriginKey, seen: &OriginRows) -> PortResult<SettleResult> {
        let (key, seen) = (origin.clone(), seen.clone());
        self.run("settle", origin, move |db| settle(db, &key, &seen)).await
    }

    async fn give_up(&self, request: &GiveUp) -> PortResult<SettleResult> {
        let owned = request.clone();
        self.run("give up origin", &request.origin, move |db| give_up(db, &owned)).await
    }
}

fn load(db: &Db, key: &OriginKey, number: Iteration) -> Result<Option<Current>, StoreError> {
    let Some(origin) = db.origin_id(key)? else { return Ok(None) };
    let Some(rows) = db.origin_rows(origin)?.filter(|rows| rows.lease.iteration == number) else { return Ok(None) };
    let iteration = db.iteration(&key.crawl, number)?.ok_or(StoreError::Missing("such iteration"))?;
    Ok(Some(Current { origin, rows, iteration }))
}

fn settle(db: &Db, key: &OriginKey, seen: &OriginRows) -> Result<SettleResult, StoreError> {
    let Some(Current { origin, rows, iteration }) = load(db, key, seen.lease.iteration)? else {
        return Ok(SettleResult::Changed);
    };
    match settle_rows(&rows, seen, &iteration) {
        None => Ok(SettleResult::Changed),
        Some(SettledRows::Woken(rows)) => {
            db.put_origin_rows(origin, &rows)?;
            Ok(SettleResult::Woken(rows.lease.turn))
        }
        Some(SettledRows::Closed(rows, iteration)) => {
            db.put_origin_rows(origin, &rows)?;
            db.update_iteration(&iteration)?;
            Ok(SettleResult::Closed)
        }
        Some(SettledRows::ClosedWithLeftovers(closed)) => put_closed(db, origin, closed),
    }
}

fn give_up(db: &Db, request: &GiveUp) -> Result<SettleResult, StoreError> {
    let Some(Current { origin, rows, iteration }) = load(db, &request.origin, request.iteration)? else {
        return Ok(SettleResult::Changed);
    };
    match give_up_rows(&rows, &request.seen, &iteration, request.reason, request.now) {
        None => Ok(SettleResult::Changed),
        Some(closed) => put_closed(db, origin, closed),
    }
}

fn put_closed(db: &Db, origin: OriginRowId, closed: ClosedWithLeftovers) -> Result<SettleResult, StoreError> {
    let ClosedWithLeftovers { rows, iteration, leftover, chunk: _ } = closed;
    db.put_origin_rows(origin, &rows)?;
    db.update_iteration(&iteration)?;
    db.put_leftover(origin, &leftover)?;
    db.delete_chunks(origin, leftover.iteration)?;
    Ok(SettleResult::ClosedWithLeftovers(leftover))
}
