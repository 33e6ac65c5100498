//! Beginning, changing and closing iterations, and the seeds that they begin with.

use dragline_domain::frontier::{
    Decided, IterationBegun, IterationRow, IterationStatus, StatusChange, begin_iteration as decide,
};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{
    BeginIteration, CursorMoved, IterationClosed, Iterations, MoveCursor, OwedNotice, Progress,
};
use jiff::Timestamp;

use super::SqliteFrontier;
use crate::db::{Db, StoreError};

impl Iterations for SqliteFrontier {
    async fn begin_iteration(&self, begin: &BeginIteration) -> PortResult<IterationBegun> {
        let request = begin.clone();
        self.run("begin iteration", &begin.crawl, move |db| begin_iteration(db, &request)).await
    }

    async fn latest_iteration(&self, crawl: &CrawlId) -> PortResult<Option<IterationRow>> {
        let id = crawl.clone();
        self.run("load latest iteration", crawl, move |db| db.latest_iteration(&id)).await
    }

    async fn load_iteration(&self, crawl: &CrawlId, number: Iteration) -> PortResult<Option<IterationRow>> {
        let id = crawl.clone();
        self.run("load iteration", crawl, move |db| db.iteration(&id, number)).await
    }

    async fn return_token(&self, crawl: &CrawlId, number: Iteration) -> PortResult<()> {
        let id = crawl.clone();
        self.run("return token", crawl, move |db| return_token(db, &id, number)).await
    }

    async fn move_cursor(&self, moved: &MoveCursor) -> PortResult<CursorMoved> {
        let request = moved.clone();
        self.run("move cursor", &moved.crawl, move |db| move_cursor(db, &request)).await
    }

    async fn change_status(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        change: StatusChange,
    ) -> PortResult<Option<IterationRow>> {
        let id = crawl.clone();
        self.run("change status", crawl, move |db| change_status(db, &id, number, change)).await
    }

    async fn close_iteration(&self, crawl: &CrawlId, number: Iteration, now: Timestamp) -> PortResult<IterationClosed> {
        let id = crawl.clone();
        self.run("close iteration", crawl, move |db| close_iteration(db, &id, number, now)).await
    }

    async fn progress(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<Progress> {
        let id = crawl.clone();
        self.run("sum progress", crawl, move |db| super::progress::progress(db, &id, iteration)).await
    }
}

fn begin_iteration(db: &Db, request: &BeginIteration) -> Result<IterationBegun, StoreError> {
    let crawl = db.ensure_crawl(&request.crawl)?;
    let latest = db.latest_iteration(&request.crawl)?;
    let earlier = match db.trigger(crawl, &request.trigger)? {
        Some(number) => {
            Some(db.iteration(&request.crawl, number)?.ok_or(StoreError::Missing("iteration of that trigger"))?)
        }
        None => None,
    };
    let decided = decide(earlier, latest.as_ref(), |number| request.row(number));
    if let Decided::Write(IterationBegun::Iteration(row)) = &decided {
        db.put_trigger(crawl, &request.trigger, row.number)?;
        db.put_iteration(crawl, row)?;
    }
    Ok(decided.outcome())
}

fn return_token(db: &Db, crawl: &CrawlId, number: Iteration) -> Result<(), StoreError> {
    match db.iteration(crawl, number)?.and_then(|row| row.return_token()) {
        Some(row) => db.update_iteration(&row),
        None => Ok(()),
    }
}

fn move_cursor(db: &Db, request: &MoveCursor) -> Result<CursorMoved, StoreError> {
    let MoveCursor { crawl, iteration, walk, seen, to } = request;
    let Some(row) = db.iteration(crawl, *iteration)? else { return Ok(CursorMoved::Elsewhere) };
    if let Some(moved) = row.move_cursor(*walk, seen, to) {
        db.update_iteration(&moved)?;
        return Ok(CursorMoved::Moved);
    }
    Ok(if row.cursors.get(*walk) == to { CursorMoved::Moved } else { CursorMoved::Elsewhere })
}

fn change_status(
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

fn close_iteration(db: &Db, crawl: &CrawlId, number: Iteration, now: Timestamp) -> Result<IterationClosed, StoreError> {
    let row = db.iteration(crawl, number)?.ok_or(StoreError::Missing("such iteration"))?;
    if row.status == IterationStatus::Closed {
        return Ok(IterationClosed::Before(row));
    }
    let Some(closed) = row.close(now) else { return Ok(IterationClosed::NotYet(row)) };
    db.update_iteration(&closed)?;
    db.owe_notice(&OwedNotice::iteration_closed(&closed, now))?;
    Ok(IterationClosed::Now(closed))
}
