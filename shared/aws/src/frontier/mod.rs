//! The [`Frontier`] over DynamoDB: rows are read, the domain decides, and what becomes of them is written under conditions that hold
//! only while what was read still stands. `docs/frontier-dynamodb.md` gives each operation's requests.

mod claims;
mod crawls;
mod current;
mod endings;
mod hosts;
mod iterations;
mod log;
mod noted;
mod notices;
mod overdue;
mod parses;
mod progress;
mod reading;
mod robots;
mod turns;

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::capture::SegmentLog;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::{
    Blame, CandidateUpdate, ChunkKey, Claim, DomainRow, HostAsk, HostRow, Inbox, IterationRow, Lease, OriginKey,
    OriginRows, RecrawlCursor, ReleaseRefused, SegmentId, SegmentRow, StatusChange, Take, TakeRefused, TodoChunk,
};
use dragline_domain::ids::{CrawlId, Iteration, ParseToken, TriggerId};
use dragline_domain::url::{DomainKey, HostKey, Origin};
use dragline_pipeline::ports::clock::Chance;
use dragline_pipeline::ports::error::PortResult;
use dragline_pipeline::ports::frontier::{
    BeginIteration, BeginParse, Begun, ClaimRequest, CommitParse, CommitSegment, Committed, CrawlPut, CrawlRow,
    CursorMoved, DuePage, Frontier, GiveBackHost, GiveUp, IterationClosed, MoveCursor, MoveSchedule, NoticeKept,
    Overdue, OverdueKinds, OwedNotice, ParseCommitted, Progress, PutCrawl, ReleaseLease, RobotsRow, SeedOrigin, Seeded,
    Settled,
};
use jiff::Timestamp;

use self::noted::Noted;
pub use self::reading::{Cursor, Listed};
use crate::clients::AwsClients;
use crate::dynamo::Dynamo;
use crate::objects::Bucket;
use crate::tables::TableNames;

/// The frontier in a stack's tables.
#[derive(Clone)]
pub struct DynamoFrontier {
    db: Dynamo,
    /// Where a robots.txt is that is too large for its row.
    objects: Bucket,
    lease_grace: Duration,
    log_kept: Option<Duration>,
    /// How large chunks are.
    chunk_bytes: Arc<Noted<u64>>,
    /// When held leases are due.
    leases_due: Arc<Noted<Timestamp>>,
}

impl DynamoFrontier {
    /// The frontier in these tables, with a bucket for what is too large for them. So long after a ticket or a lease ran out the sweeper
    /// looks.
    #[must_use]
    pub fn new(
        clients: &AwsClients,
        tables: TableNames,
        bucket: &str,
        lease_grace: Duration,
        chance: Arc<dyn Chance>,
    ) -> Self {
        Self {
            db: Dynamo::new(clients.dynamodb.clone(), tables, clients.meter.clone(), Arc::clone(&chance)),
            objects: Bucket::new(clients.s3.clone(), bucket, chance),
            lease_grace,
            log_kept: None,
            chunk_bytes: Arc::default(),
            leases_due: Arc::default(),
        }
    }

    /// The same, with logs that are forgotten so long after their segment was committed; absent: never.
    #[must_use]
    pub fn with_log_kept(self, log_kept: Option<Duration>) -> Self {
        Self { log_kept, ..self }
    }
}

impl Frontier for DynamoFrontier {
    async fn put_crawl(&self, put: &PutCrawl) -> PortResult<CrawlPut> {
        self.put_definition(put).await.map_err(|e| e.at("put crawl", &put.definition.name))
    }

    async fn load_crawl(&self, crawl: &CrawlId) -> PortResult<Option<CrawlRow>> {
        self.crawl(crawl).await.map_err(|e| e.at("load crawl", crawl))
    }

    async fn load_definition(&self, crawl: &CrawlId, version: u32) -> PortResult<Option<Definition>> {
        self.definition(crawl, version).await.map_err(|e| e.at("load definition", crawl))
    }

    async fn join_origin(&self, crawl: &CrawlId, origin: &Origin) -> PortResult<()> {
        self.join(crawl, origin).await.map_err(|e| e.at("join origin", origin))
    }

    async fn switch_off(&self, crawl: &CrawlId) -> PortResult<()> {
        self.switch_crawl_off(crawl).await.map_err(|e| e.at("switch crawl off", crawl))
    }

    async fn due_crawls(&self, now: Timestamp, limit: usize) -> PortResult<Vec<CrawlId>> {
        self.scheduled_by(now, limit).await.map_err(|e| e.at("list due crawls", now))
    }

    async fn move_schedule(&self, passed: &MoveSchedule) -> PortResult<()> {
        self.pass_schedule_on(passed).await.map_err(|e| e.at("move schedule", &passed.crawl))
    }

    async fn running_crawls(&self, limit: usize) -> PortResult<Vec<CrawlId>> {
        self.running(limit).await.map_err(|e| e.at("list running crawls", "the stack"))
    }

    async fn mark_handled(&self, crawl: &CrawlId, trigger: &TriggerId, now: Timestamp) -> PortResult<()> {
        self.note_handled(crawl, trigger, now).await.map_err(|e| e.at("mark trigger", trigger))
    }

    async fn was_handled(&self, crawl: &CrawlId, trigger: &TriggerId) -> PortResult<bool> {
        self.is_handled(crawl, trigger).await.map_err(|e| e.at("load trigger", trigger))
    }

    async fn begin_iteration(&self, begin: &BeginIteration) -> PortResult<Begun> {
        self.begin_by_trigger(begin).await.map_err(|e| e.at("begin iteration", &begin.crawl))
    }

    async fn latest_iteration(&self, crawl: &CrawlId) -> PortResult<Option<IterationRow>> {
        self.latest(crawl).await.map_err(|e| e.at("load latest iteration", crawl))
    }

    async fn load_iteration(&self, crawl: &CrawlId, number: Iteration) -> PortResult<Option<IterationRow>> {
        self.iteration(crawl, number).await.map_err(|e| e.at("load iteration", crawl))
    }

    async fn return_token(&self, crawl: &CrawlId, number: Iteration) -> PortResult<()> {
        self.return_scheduler_token(crawl, number).await.map_err(|e| e.at("return token", crawl))
    }

    async fn move_cursor(&self, moved: &MoveCursor) -> PortResult<CursorMoved> {
        self.pass_origins(moved).await.map_err(|e| e.at("move cursor", &moved.crawl))
    }

    async fn change_status(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        change: StatusChange,
    ) -> PortResult<Option<IterationRow>> {
        self.change(crawl, number, change).await.map_err(|e| e.at("change status", crawl))
    }

    async fn close_iteration(&self, crawl: &CrawlId, number: Iteration, now: Timestamp) -> PortResult<IterationClosed> {
        self.close(crawl, number, now).await.map_err(|e| e.at("close iteration", crawl))
    }

    async fn claim(&self, request: &ClaimRequest) -> PortResult<Vec<Claim>> {
        self.claim_all(request).await.map_err(|e| e.at("claim", &request.origin))
    }

    async fn seed_origin(&self, seed: &SeedOrigin) -> PortResult<Seeded> {
        self.seed(seed).await.map_err(|e| e.at("seed origin", &seed.origin))
    }

    async fn list_origins(&self, crawl: &CrawlId, after: Option<&Origin>, limit: usize) -> PortResult<Vec<Origin>> {
        self.origins(crawl, after, limit).await.map_err(|e| e.at("list origins", crawl))
    }

    async fn load_origin(&self, origin: &OriginKey) -> PortResult<Option<OriginRows>> {
        self.origin(origin).await.map_err(|e| e.at("load origin", origin))
    }

    async fn load_inbox(&self, origin: &OriginKey) -> PortResult<Option<Inbox>> {
        self.inbox(origin).await.map_err(|e| e.at("load inbox", origin))
    }

    async fn load_robots(&self, origin: &OriginKey) -> PortResult<Option<RobotsRow>> {
        self.robots(origin).await.map_err(|e| e.at("load robots", origin))
    }

    async fn put_robots(&self, origin: &OriginKey, robots: &RobotsRow) -> PortResult<()> {
        self.put_robots_row(origin, robots).await.map_err(|e| e.at("put robots", origin))
    }

    async fn take_lease(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        take: &Take,
    ) -> PortResult<Result<Lease, TakeRefused>> {
        self.take(origin, iteration, take).await.map_err(|e| e.at("take lease", origin))
    }

    async fn load_host(&self, host: &HostKey) -> PortResult<Option<HostRow>> {
        self.host(host).await.map_err(|e| e.at("load host", host))
    }

    async fn load_domain(&self, domain: &DomainKey) -> PortResult<Option<DomainRow>> {
        self.domain(domain).await.map_err(|e| e.at("load domain", domain))
    }

    async fn take_host(&self, host: &HostKey, ask: &HostAsk) -> PortResult<Result<HostRow, Timestamp>> {
        self.ask_host(host, ask).await.map_err(|e| e.at("take host", host))
    }

    async fn give_back_host(&self, back: &GiveBackHost) -> PortResult<()> {
        self.return_host(back).await.map_err(|e| e.at("give back host", &back.host))
    }

    async fn load_chunk(&self, origin: &OriginKey, key: &ChunkKey) -> PortResult<Option<TodoChunk>> {
        self.chunk(origin, key).await.map_err(|e| e.at("load todo", origin))
    }

    async fn first_chunk(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        skip: &[ChunkKey],
    ) -> PortResult<Option<TodoChunk>> {
        self.first_chunk_but(origin, iteration, skip).await.map_err(|e| e.at("next todo", origin))
    }

    async fn due_candidates(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        cursor: &RecrawlCursor,
        now: Timestamp,
        limit: usize,
    ) -> PortResult<DuePage> {
        self.due(origin, iteration, cursor, now, limit).await.map_err(|e| e.at("list due candidates", origin))
    }

    async fn commit_segment(&self, commit: &CommitSegment) -> PortResult<Committed> {
        self.commit(commit).await.map_err(|e| e.at("commit segment", &commit.segment.id))
    }

    async fn release(&self, release: &ReleaseLease) -> PortResult<Result<(), ReleaseRefused>> {
        self.let_go(release).await.map_err(|e| e.at("release lease", &release.origin))
    }

    async fn load_segment(&self, id: &SegmentId) -> PortResult<Option<SegmentRow>> {
        self.segment(id).await.map_err(|e| e.at("load segment", id))
    }

    async fn begin_parse(&self, begin: &BeginParse) -> PortResult<Option<SegmentRow>> {
        self.begin(begin).await.map_err(|e| e.at("begin parse", &begin.segment))
    }

    async fn give_back_parse(&self, id: &SegmentId, token: &ParseToken, blame: Blame) -> PortResult<()> {
        self.give_back(id, token, blame).await.map_err(|e| e.at("give back parse", id))
    }

    async fn put_log(&self, log: &SegmentLog) -> PortResult<()> {
        self.log(log).await.map_err(|e| e.at("put log", &log.segment))
    }

    async fn update_candidates(&self, origin: &OriginKey, updates: &[CandidateUpdate]) -> PortResult<()> {
        self.update(origin, updates).await.map_err(|e| e.at("update candidates", origin))
    }

    async fn commit_parse(&self, commit: &CommitParse) -> PortResult<ParseCommitted> {
        self.commit_parsed(commit).await.map_err(|e| e.at("commit parse", &commit.segment))
    }

    async fn settle(&self, origin: &OriginKey, seen: &OriginRows) -> PortResult<Settled> {
        self.settle_as(origin, seen).await.map_err(|e| e.at("settle", origin))
    }

    async fn give_up(&self, give_up: &GiveUp) -> PortResult<Settled> {
        self.give_up_origin(give_up).await.map_err(|e| e.at("give up origin", &give_up.origin))
    }

    async fn overdue(
        &self,
        crawl: &CrawlId,
        due_by: Timestamp,
        kinds: OverdueKinds,
        limit: usize,
    ) -> PortResult<Vec<Overdue>> {
        self.due_by(crawl, due_by, kinds, limit).await.map_err(|e| e.at("list overdue work", crawl))
    }

    async fn postpone(&self, work: &Overdue, due: Timestamp) -> PortResult<()> {
        self.postpone_to(work, due).await.map_err(|e| e.at("postpone overdue work", format_args!("{work:?}")))
    }

    async fn owe_notice(&self, owed: &OwedNotice) -> PortResult<NoticeKept> {
        self.owe(owed).await.map_err(|e| e.at("owe notice", &owed.key))
    }

    async fn owed_notices(&self, due_by: Timestamp, limit: usize) -> PortResult<Vec<OwedNotice>> {
        self.owed(due_by, limit).await.map_err(|e| e.at("list owed notices", due_by))
    }

    async fn postpone_notice(&self, owed: &OwedNotice, due: Timestamp) -> PortResult<()> {
        self.owe_later(owed, due).await.map_err(|e| e.at("postpone notice", &owed.key))
    }

    async fn forget_notice(&self, owed: &OwedNotice) -> PortResult<()> {
        self.forget(owed).await.map_err(|e| e.at("forget notice", &owed.key))
    }

    async fn progress(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<Progress> {
        self.sums(crawl, iteration).await.map_err(|e| e.at("sum progress", crawl))
    }
}
