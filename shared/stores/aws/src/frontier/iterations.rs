//! Beginning, changing and closing iterations, and the seeds that they begin with.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_domain::frontier::{
    Decided, IterationBegun, IterationRow, IterationStatus, StatusChange, begin_iteration,
};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{
    BeginIteration, CursorMoved, IterationClosed, Iterations, MoveCursor, OwedNotice, Progress,
};
use jiff::Timestamp;

use super::{DynamoFrontier, notices};
use crate::dynamo::{Expression, Item, Role, Write, number};
use crate::errors::{StoreError, at};
use crate::rows::{self, iteration, keys};

const ITERATION: &str = "iteration";

/// How long a trigger and its seedings are remembered: no schedule or queue delivers one later.
pub(super) const TRIGGER_KNOWN: Duration = Duration::from_secs(30 * 24 * 3_600);

impl Iterations for DynamoFrontier {
    async fn begin_iteration(&self, request: &BeginIteration) -> PortResult<IterationBegun> {
        at("begin iteration", &request.crawl, async {
            let crawl = &request.crawl;
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let earlier = match self.find_begun(request).await? {
                    Some(number) => {
                        let gone = || StoreError::Damaged("the iteration of that trigger is missing".to_owned());
                        Some(self.iteration(crawl, number).await?.ok_or_else(gone)?)
                    }
                    None => None,
                };
                let latest = if earlier.is_none() { self.latest(crawl).await? } else { None };
                let decided = begin_iteration(earlier, latest.as_ref(), |number| request.row(number));
                if let Decided::Write(IterationBegun::Iteration(row)) = &decided {
                    let writes = [put_trigger(request, row.number), iteration::begin(row)];
                    if self.db.transact(&writes).await?.is_err() {
                        continue;
                    }
                }
                return Ok(decided.outcome());
            }
        })
        .await
    }

    async fn latest_iteration(&self, crawl: &CrawlId) -> PortResult<Option<IterationRow>> {
        at("load latest iteration", crawl, self.latest(crawl)).await
    }

    async fn load_iteration(&self, crawl: &CrawlId, number: Iteration) -> PortResult<Option<IterationRow>> {
        at("load iteration", crawl, self.iteration(crawl, number)).await
    }

    async fn return_token(&self, crawl: &CrawlId, number: Iteration) -> PortResult<()> {
        at("return token", crawl, async {
            let Some(row) = self.iteration(crawl, number).await? else { return Ok(()) };
            match row.return_token() {
                // Refused: returned before.
                Some(after) => self.db.write(&iteration::return_token(&row, &after)).await.map(|_| ()),
                None => Ok(()),
            }
        })
        .await
    }

    async fn move_cursor(&self, request: &MoveCursor) -> PortResult<CursorMoved> {
        at("move cursor", &request.crawl, async {
            let MoveCursor { crawl, iteration, walk, seen, to } = request;
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let Some(row) = self.iteration(crawl, *iteration).await? else { return Ok(CursorMoved::Elsewhere) };
                let Some(after) = row.move_cursor(*walk, seen, to) else {
                    let is_there = row.cursors.get(*walk) == to;
                    return Ok(if is_there { CursorMoved::Moved } else { CursorMoved::Elsewhere });
                };
                if self.db.write(&iteration::move_cursor(&row, &after, *walk)).await?.is_ok() {
                    return Ok(CursorMoved::Moved);
                }
            }
        })
        .await
    }

    async fn change_status(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        change: StatusChange,
    ) -> PortResult<Option<IterationRow>> {
        at("change status", crawl, async {
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let Some(row) = self.iteration(crawl, number).await? else { return Ok(None) };
                let Some(after) = row.change(change) else { return Ok(None) };
                if let Ok(item) = self.db.write(&iteration::change_status(&row, &after)).await? {
                    return item.as_ref().map(iteration::read).transpose();
                }
            }
        })
        .await
    }

    async fn close_iteration(&self, crawl: &CrawlId, number: Iteration, now: Timestamp) -> PortResult<IterationClosed> {
        at("close iteration", crawl, async {
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let missing = || StoreError::Damaged("there is no such iteration".to_owned());
                let row = self.iteration(crawl, number).await?.ok_or_else(missing)?;
                if row.status == IterationStatus::Closed {
                    return Ok(IterationClosed::Before(row));
                }
                let Some(after) = row.close(now) else { return Ok(IterationClosed::NotYet(row)) };
                let owed = notices::put(&OwedNotice::iteration_closed(&after, now))?;
                if self.db.transact(&[iteration::change_status(&row, &after), owed]).await?.is_ok() {
                    return Ok(IterationClosed::Now(after));
                }
            }
        })
        .await
    }

    async fn progress(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<Progress> {
        at("read progress", crawl, self.load_progress(crawl, iteration)).await
    }
}

impl DynamoFrontier {
    pub(super) async fn iteration(
        &self,
        crawl: &CrawlId,
        number: Iteration,
    ) -> Result<Option<IterationRow>, StoreError> {
        let item = self.db.get(&keys::iteration(crawl, number)).await?;
        item.as_ref().map(iteration::read).transpose()
    }

    pub(super) async fn latest(&self, crawl: &CrawlId) -> Result<Option<IterationRow>, StoreError> {
        let item = self.db.last(&keys::iterations(crawl)).await?;
        item.as_ref().map(iteration::read).transpose()
    }

    async fn find_begun(&self, request: &BeginIteration) -> Result<Option<Iteration>, StoreError> {
        let Some(item) = self.db.get(&keys::trigger(&request.crawl, &request.trigger)).await? else { return Ok(None) };
        rows::fields(&item)?.maybe(ITERATION, rows::iteration_number)
    }
}

fn put_trigger(request: &BeginIteration, begun: Iteration) -> Write {
    let update = Expression::new("SET #v = :v, #iteration = :iteration, #expires = :expires")
        .with(":iteration", number(begun.number()))
        .with(":expires", trigger_expires(request.now));
    let key = keys::trigger(&request.crawl, &request.trigger);
    let write = Write::update(Role::Trigger, &key, rows::versioned(update), &Item::new());
    write.when(Expression::new("attribute_not_exists(#iteration)"))
}

/// Returns when a trigger that is recorded now may be forgotten.
pub(super) fn trigger_expires(now: Timestamp) -> AttributeValue {
    rows::expires(now, TRIGGER_KNOWN).1
}
