//! Beginning, changing and closing iterations, and the seeds that they begin with.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_domain::frontier::{
    Beginning, IterationRow, IterationStatus, PART_CHUNKS_MAX, SeedRefused, StatusChange, begin_iteration, seed,
};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_pipeline::ports::frontier::{
    BeginIteration, Begun, CursorMoved, IterationClosed, MoveCursor, OwedNotice, SeedOrigin, Seeded,
};
use jiff::Timestamp;

use super::{DynamoFrontier, notices};
use crate::dynamo::{Expression, Item, Role, Write, number};
use crate::errors::StoreError;
use crate::rows::{self, chunk, inbox, iteration, keys, lease, seeding};

const ITERATION: &str = "iteration";

/// How long a trigger and its seedings are known: a schedule or a queue does not deliver one so late.
const TRIGGER_KNOWN: Duration = Duration::from_secs(30 * 24 * 3_600);

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

    async fn begun_by(&self, request: &BeginIteration) -> Result<Option<Iteration>, StoreError> {
        let Some(item) = self.db.get(&keys::trigger(&request.crawl, &request.trigger)).await? else { return Ok(None) };
        rows::fields(&item)?.maybe(ITERATION, rows::iteration_number)
    }

    pub(super) async fn begin_by_trigger(&self, request: &BeginIteration) -> Result<Begun, StoreError> {
        let crawl = &request.crawl;
        let mut rounds = self.db.rounds();
        loop {
            rounds.begin().await?;
            let begun = self.begun_by(request).await?;
            let latest = if begun.is_none() { self.latest(crawl).await? } else { None };
            let number = match begin_iteration(begun, latest.as_ref()) {
                Beginning::Begin(number) => number,
                Beginning::Busy(running) => return Ok(Begun::Busy(running)),
                Beginning::GoOn(number) => {
                    let gone = || StoreError::Damaged("the iteration of that trigger is gone".to_owned());
                    return Ok(Begun::Iteration(self.iteration(crawl, number).await?.ok_or_else(gone)?));
                }
            };
            let row = request.row(number);
            if self.db.transact(&[put_trigger(request, number), iteration::begin(&row)]).await?.is_ok() {
                return Ok(Begun::Iteration(row));
            }
        }
    }

    pub(super) async fn return_scheduler_token(&self, crawl: &CrawlId, number: Iteration) -> Result<(), StoreError> {
        let Some(row) = self.iteration(crawl, number).await? else { return Ok(()) };
        match row.return_token() {
            // Refused: returned before.
            Some(after) => self.db.write(&iteration::return_token(&row, &after)).await.map(|_| ()),
            None => Ok(()),
        }
    }

    pub(super) async fn pass_origins(&self, request: &MoveCursor) -> Result<CursorMoved, StoreError> {
        let MoveCursor { crawl, iteration, walk, seen, to } = request;
        let mut rounds = self.db.rounds();
        loop {
            rounds.begin().await?;
            let Some(row) = self.iteration(crawl, *iteration).await? else { return Ok(CursorMoved::Elsewhere) };
            let Some(after) = row.move_cursor(*walk, seen, to) else {
                let is_there = row.cursors.of(*walk) == to;
                return Ok(if is_there { CursorMoved::Moved } else { CursorMoved::Elsewhere });
            };
            if self.db.write(&iteration::move_cursor(&row, &after, *walk)).await?.is_ok() {
                return Ok(CursorMoved::Moved);
            }
        }
    }

    pub(super) async fn change(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        change: StatusChange,
    ) -> Result<Option<IterationRow>, StoreError> {
        let mut rounds = self.db.rounds();
        loop {
            rounds.begin().await?;
            let Some(row) = self.iteration(crawl, number).await? else { return Ok(None) };
            let Some(after) = row.change(change) else { return Ok(None) };
            if let Ok(item) = self.db.write(&iteration::change_status(&row, &after)).await? {
                return item.as_ref().map(iteration::read).transpose();
            }
        }
    }

    pub(super) async fn close(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        now: Timestamp,
    ) -> Result<IterationClosed, StoreError> {
        let mut rounds = self.db.rounds();
        loop {
            rounds.begin().await?;
            let missing = || StoreError::Damaged("there is no such iteration".to_owned());
            let row = self.iteration(crawl, number).await?.ok_or_else(missing)?;
            if row.status == IterationStatus::Closed {
                return Ok(IterationClosed::Before(row));
            }
            let Some(after) = row.close(now) else { return Ok(IterationClosed::NotYet(row)) };
            let owed = notices::put(&OwedNotice::of_closed(&after, now))?;
            if self.db.transact(&[iteration::change_status(&row, &after), owed]).await?.is_ok() {
                return Ok(IterationClosed::Now(after));
            }
        }
    }

    pub(super) async fn seed(&self, request: &SeedOrigin) -> Result<Seeded, StoreError> {
        within_transaction("chunks of seeds", request.chunks.len(), PART_CHUNKS_MAX)?;
        let SeedOrigin { origin, iteration: number, add, .. } = request;
        let beside = [keys::iteration(&origin.crawl, *number), keys::seeding(origin, *number, &request.seeding)];
        let mut rounds = self.db.rounds();
        loop {
            rounds.begin().await?;
            let Some((rows, [row, marked])) = self.current_of([origin].into(), beside.each_ref()).await? else {
                continue;
            };
            let Some(row) = row else { return Ok(Seeded::IterationOver) };
            let (row, before) = (iteration::read(&row)?, rows.get(origin));
            let mark = seeding::mark(marked.as_ref());
            let (after, opened) = match seed(before, &row, mark, &request.seeding, add) {
                Ok(seeded) => seeded,
                Err(SeedRefused::Already) => return Ok(Seeded::Already),
                Err(SeedRefused::IterationOver) => return Ok(Seeded::IterationOver),
            };
            if before.is_none() {
                self.list(origin).await?;
            }
            let mut writes = vec![
                seeding::put(origin, *number, &request.seeding, add.now, TRIGGER_KNOWN),
                inbox::add(origin, before.map(|rows| &rows.inbox), &after.inbox),
            ];
            for seeds in &request.chunks {
                writes.push(chunk::put(origin, seeds)?);
            }
            if let Some(opened) = &opened {
                let old = before.map(|rows| &rows.lease);
                writes.push(lease::replace(origin, old, &after.lease, self.lease_grace)?);
                writes.push(iteration::open(&row, opened));
            }
            match self.db.transact(&writes).await? {
                Ok(()) => return Ok(Seeded::Added),
                Err(refused) if refused.by(Role::Chunk) && !refused.by(Role::Seeding) && !refused.by(Role::Inbox) => {
                    return Err(StoreError::Damaged("seeds are there that nothing marks".to_owned()));
                }
                // Somebody opened, closed or seeded it meanwhile.
                Err(_) => {}
            }
        }
    }
}

/// What a transaction surely holds.
pub(super) fn within_transaction(what: &'static str, count: usize, count_max: usize) -> Result<(), StoreError> {
    let [size, size_max] = [count, count_max].map(|count| u64::try_from(count).unwrap_or(u64::MAX));
    if count > count_max { Err(StoreError::TooLarge { what, size, size_max }) } else { Ok(()) }
}

fn put_trigger(request: &BeginIteration, begun: Iteration) -> Write {
    let update = Expression::new("SET #v = :v, #iteration = :iteration, #expires = :expires")
        .with(":iteration", number(begun.number()))
        .with(":expires", trigger_expires(request.now));
    let key = keys::trigger(&request.crawl, &request.trigger);
    let write = Write::update(Role::Trigger, &key, rows::versioned(update), &Item::new());
    write.when(Expression::new("attribute_not_exists(#iteration)"))
}

/// When a trigger that is noted now may be forgotten.
pub(super) fn trigger_expires(now: Timestamp) -> AttributeValue {
    rows::expires(now, TRIGGER_KNOWN).1
}
