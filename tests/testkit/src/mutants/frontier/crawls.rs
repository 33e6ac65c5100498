//! Defects of crawls.

use std::ops::Range;

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{CrawlPut, CrawlStamp, OriginsJoined};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_domain::url::Origin;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{CrawlRow, Crawls, Frontier, JoinOrigins, MoveSchedule, PutCrawl};
use jiff::Timestamp;

use super::super::FrontierMutation as M;
use super::{MutantFrontier, far_ahead};

impl<F: Frontier> Crawls for MutantFrontier<F> {
    async fn put_crawl(&self, put: &PutCrawl) -> PortResult<CrawlPut> {
        let mut put = put.clone();
        let stored = match self.mutation {
            Some(M::DefinitionKeptFirst | M::DefinitionPutBlindly) => {
                self.inner.load_crawl(&put.definition.name).await?
            }
            _ => None,
        };
        match (self.mutation, stored) {
            (Some(M::DefinitionKeptFirst), Some(row)) => return Ok(CrawlPut::Stored(row.version + 1)),
            (Some(M::DefinitionPutBlindly), stored) => put.seen = stored.map(|row| row.version),
            _ => {}
        }
        self.inner.put_crawl(&put).await
    }

    async fn load_crawl(&self, crawl: &CrawlId) -> PortResult<Option<CrawlRow>> {
        self.inner.load_crawl(crawl).await
    }

    async fn load_definition(&self, crawl: &CrawlId, version: u32) -> PortResult<Option<Definition>> {
        if self.is(M::PastDefinitionsForgotten) {
            return Ok(self.inner.load_crawl(crawl).await?.map(|row| row.definition));
        }
        self.inner.load_definition(crawl, version).await
    }

    async fn load_stamp(&self, crawl: &CrawlId) -> PortResult<Option<CrawlStamp>> {
        let mut stamp = self.inner.load_stamp(crawl).await?;
        if self.is(M::JoinedForgotten)
            && let Some(stamp) = stamp.as_mut().filter(|stamp| stamp.version > 1)
        {
            stamp.joined = 0;
        }
        Ok(stamp)
    }

    async fn load_joined(&self, crawl: &CrawlId, places: Range<u64>) -> PortResult<Vec<Origin>> {
        let places = if self.is(M::JoinedFromTheBeginning) { 0..places.end } else { places };
        self.inner.load_joined(crawl, places).await
    }

    async fn join_origins(&self, join: &JoinOrigins) -> PortResult<OriginsJoined> {
        let mut join = join.clone();
        if self.is(M::JoinedBlindly)
            && let Some(stamp) = self.inner.load_stamp(&join.crawl).await?
        {
            join.seen = stamp.joined;
        }
        self.inner.join_origins(&join).await
    }

    async fn switch_off(&self, crawl: &CrawlId) -> PortResult<()> {
        if self.is(M::SwitchedOffStillDue) { Ok(()) } else { self.inner.switch_off(crawl).await }
    }

    async fn due_crawls(&self, now: Timestamp, limit: usize) -> PortResult<Vec<CrawlId>> {
        let now = if self.is(M::CrawlsDueTooEarly) { far_ahead(now) } else { now };
        self.inner.due_crawls(now, limit).await
    }

    async fn move_schedule(&self, passed: &MoveSchedule) -> PortResult<()> {
        let mut passed = passed.clone();
        if self.is(M::ScheduleMovedBlindly)
            && let Some(row) = self.inner.load_crawl(&passed.crawl).await?
        {
            passed.seen = row.switch.next().unwrap_or(passed.seen);
        }
        self.inner.move_schedule(&passed).await
    }

    async fn running_crawls(&self, limit: usize) -> PortResult<Vec<CrawlId>> {
        if self.is(M::NothingRuns) { Ok(Vec::new()) } else { self.inner.running_crawls(limit).await }
    }

    async fn mark_handled(&self, crawl: &CrawlId, trigger: &TriggerId, now: Timestamp) -> PortResult<()> {
        if self.is(M::HandledForgotten) { Ok(()) } else { self.inner.mark_handled(crawl, trigger, now).await }
    }

    async fn was_handled(&self, crawl: &CrawlId, trigger: &TriggerId) -> PortResult<bool> {
        self.inner.was_handled(crawl, trigger).await
    }
}
