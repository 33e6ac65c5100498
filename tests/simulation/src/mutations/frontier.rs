//! A frontier with a defect, or none.

use std::time::Duration;

use dragline_domain::capture::SegmentLog;
use dragline_domain::frontier::{
    CandidateUpdate, ChunkKey, Claim, IterationRow, Lease, OriginKey, OriginRows, ParserCounters, RecrawlCursor,
    ReleaseRefused, SegmentId, SegmentRow, StatusChange, Take, TakeRefused, TodoChunk,
};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use dragline_domain::time::after;
use dragline_domain::url::Origin;
use dragline_local::SqliteFrontier;
use dragline_pipeline::ports::error::PortResult;
use dragline_pipeline::ports::frontier::{
    BeginIteration, Begun, ClaimRequest, CommitParse, CommitSegment, Committed, CrawlPut, CrawlRow, DuePage, Frontier,
    GiveUp, IterationClosed, MoveSchedule, Overdue, ParseCommitted, Progress, PutCrawl, ReleaseLease, RobotsRow,
    SeedOrigin, Seeded, Settled,
};
use jiff::Timestamp;

use super::Mutation;

pub(crate) struct MutatedFrontier {
    inner: SqliteFrontier,
    mutation: Option<Mutation>,
}

impl MutatedFrontier {
    pub(crate) const fn new(inner: SqliteFrontier, mutation: Option<Mutation>) -> Self {
        Self { inner, mutation }
    }

    fn has(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }
}

impl Frontier for MutatedFrontier {
    async fn put_crawl(&self, put: &PutCrawl) -> PortResult<CrawlPut> {
        self.inner.put_crawl(put).await
    }

    async fn load_crawl(&self, crawl: &CrawlId) -> PortResult<Option<CrawlRow>> {
        self.inner.load_crawl(crawl).await
    }

    async fn join_origin(&self, crawl: &CrawlId, origin: &Origin) -> PortResult<()> {
        self.inner.join_origin(crawl, origin).await
    }

    async fn switch_off(&self, crawl: &CrawlId) -> PortResult<()> {
        self.inner.switch_off(crawl).await
    }

    async fn due_crawls(&self, now: Timestamp, limit: usize) -> PortResult<Vec<CrawlId>> {
        self.inner.due_crawls(now, limit).await
    }

    async fn move_schedule(&self, passed: &MoveSchedule) -> PortResult<()> {
        self.inner.move_schedule(passed).await
    }

    async fn running_crawls(&self, limit: usize) -> PortResult<Vec<CrawlId>> {
        self.inner.running_crawls(limit).await
    }

    async fn mark_handled(&self, crawl: &CrawlId, trigger: &TriggerId, now: Timestamp) -> PortResult<()> {
        self.inner.mark_handled(crawl, trigger, now).await
    }

    async fn was_handled(&self, crawl: &CrawlId, trigger: &TriggerId) -> PortResult<bool> {
        self.inner.was_handled(crawl, trigger).await
    }

    async fn begin_iteration(&self, begin: &BeginIteration) -> PortResult<Begun> {
        self.inner.begin_iteration(begin).await
    }

    async fn latest_iteration(&self, crawl: &CrawlId) -> PortResult<Option<IterationRow>> {
        self.inner.latest_iteration(crawl).await
    }

    async fn load_iteration(&self, crawl: &CrawlId, number: Iteration) -> PortResult<Option<IterationRow>> {
        self.inner.load_iteration(crawl, number).await
    }

    async fn return_token(&self, crawl: &CrawlId, number: Iteration) -> PortResult<()> {
        if self.has(Mutation::OpenTokenKept) {
            return Ok(());
        }
        self.inner.return_token(crawl, number).await
    }

    async fn change_status(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        change: StatusChange,
    ) -> PortResult<Option<IterationRow>> {
        self.inner.change_status(crawl, number, change).await
    }

    async fn close_iteration(&self, crawl: &CrawlId, number: Iteration, now: Timestamp) -> PortResult<IterationClosed> {
        self.inner.close_iteration(crawl, number, now).await
    }

    async fn claim(&self, request: &ClaimRequest) -> PortResult<Vec<Claim>> {
        let claims = self.inner.claim(request).await?;
        if !self.has(Mutation::ClaimNotChecked) {
            return Ok(claims);
        }
        let own = |claim| if claim == Claim::Taken { Claim::Own { last: None } } else { claim };
        Ok(claims.into_iter().map(own).collect())
    }

    async fn seed_origin(&self, seed: &SeedOrigin) -> PortResult<Seeded> {
        self.inner.seed_origin(seed).await
    }

    async fn list_origins(&self, crawl: &CrawlId, after: Option<&Origin>, limit: usize) -> PortResult<Vec<Origin>> {
        self.inner.list_origins(crawl, after, limit).await
    }

    async fn load_origin(&self, origin: &OriginKey) -> PortResult<Option<OriginRows>> {
        self.inner.load_origin(origin).await
    }

    async fn load_robots(&self, origin: &OriginKey) -> PortResult<Option<RobotsRow>> {
        self.inner.load_robots(origin).await
    }

    async fn put_robots(&self, origin: &OriginKey, robots: &RobotsRow) -> PortResult<()> {
        self.inner.put_robots(origin, robots).await
    }

    async fn take_lease(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        take: &Take,
    ) -> PortResult<Result<Lease, TakeRefused>> {
        let is_early = self.has(Mutation::LeaseTakenEarly);
        let now = if is_early { after(take.now, Duration::from_secs(3600)) } else { take.now };
        let mut taken = self.inner.take_lease(origin, iteration, &Take { now, ..take.clone() }).await?;
        if is_early && let Ok(lease) = &mut taken {
            lease.not_before = take.now;
        }
        Ok(taken)
    }

    async fn load_chunk(&self, origin: &OriginKey, key: &ChunkKey) -> PortResult<Option<TodoChunk>> {
        self.inner.load_chunk(origin, key).await
    }

    async fn first_chunk(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        skip: &[ChunkKey],
    ) -> PortResult<Option<TodoChunk>> {
        self.inner.first_chunk(origin, iteration, skip).await
    }

    async fn due_candidates(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        cursor: &RecrawlCursor,
        now: Timestamp,
        limit: usize,
    ) -> PortResult<DuePage> {
        self.inner.due_candidates(origin, iteration, cursor, now, limit).await
    }

    async fn commit_segment(&self, commit: &CommitSegment) -> PortResult<Committed> {
        let mut commit = commit.clone();
        if self.has(Mutation::ChunkConsumedTwice) {
            commit.exhausted.clear();
        }
        self.inner.commit_segment(&commit).await
    }

    async fn release(&self, release: &ReleaseLease) -> PortResult<Result<(), ReleaseRefused>> {
        self.inner.release(release).await
    }

    async fn load_segment(&self, id: &SegmentId) -> PortResult<Option<SegmentRow>> {
        self.inner.load_segment(id).await
    }

    async fn begin_parse(&self, id: &SegmentId) -> PortResult<Option<SegmentRow>> {
        self.inner.begin_parse(id).await
    }

    async fn put_log(&self, log: &SegmentLog) -> PortResult<()> {
        if self.has(Mutation::LogForgotten) {
            return Ok(());
        }
        self.inner.put_log(log).await
    }

    async fn update_candidates(&self, origin: &OriginKey, updates: &[CandidateUpdate]) -> PortResult<()> {
        self.inner.update_candidates(origin, updates).await
    }

    async fn commit_parse(&self, commit: &CommitParse) -> PortResult<ParseCommitted> {
        if self.has(Mutation::ParseNotCommitted) {
            return Ok(ParseCommitted::Done);
        }
        let mut commit = commit.clone();
        if self.has(Mutation::ParseNotCounted) {
            commit.counters = ParserCounters::default();
        }
        self.inner.commit_parse(&commit).await
    }

    async fn settle(&self, origin: &OriginKey, seen: &OriginRows) -> PortResult<Settled> {
        if self.has(Mutation::WakeUpLeftOut) {
            return Ok(Settled::Closed);
        }
        self.inner.settle(origin, seen).await
    }

    async fn give_up(&self, give_up: &GiveUp) -> PortResult<Settled> {
        self.inner.give_up(give_up).await
    }

    async fn overdue(&self, crawl: &CrawlId, due_by: Timestamp, limit: usize) -> PortResult<Vec<Overdue>> {
        self.inner.overdue(crawl, due_by, limit).await
    }

    async fn postpone(&self, work: &Overdue, due: Timestamp) -> PortResult<()> {
        self.inner.postpone(work, due).await
    }

    async fn progress(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<Progress> {
        self.inner.progress(crawl, iteration).await
    }
}
