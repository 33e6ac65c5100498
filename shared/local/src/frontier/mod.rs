//! The [`Frontier`] over SQLite: each operation reads rows, asks the domain for the rows afterwards, and writes them, in one transaction.

mod claims;
mod crawls;
mod endings;
mod hosts;
mod iterations;
mod log;
mod overdue;
mod parses;
mod progress;
mod turns;

use std::sync::Arc;

use dragline_domain::capture::SegmentLog;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::{
    Blame, CandidateUpdate, ChunkKey, Claim, DomainRow, HostAsk, HostRow, Inbox, IterationRow, Lease, OriginKey,
    OriginRows, RecrawlCursor, ReleaseRefused, SegmentId, SegmentRow, StatusChange, Take, TakeRefused, TodoChunk,
};
use dragline_domain::ids::{CrawlId, Iteration, ParseToken, TriggerId};
use dragline_domain::url::{DomainKey, HostKey, Origin};
use dragline_pipeline::ports::error::PortResult;
use dragline_pipeline::ports::frontier::{
    BeginIteration, BeginParse, Begun, ClaimRequest, CommitParse, CommitSegment, Committed, CrawlPut, CrawlRow,
    CursorMoved, DuePage, Frontier, GiveBackHost, GiveUp, IterationClosed, MoveCursor, MoveSchedule, NoticeKept,
    Overdue, OverdueKinds, OwedNotice, ParseCommitted, Progress, PutCrawl, ReleaseLease, RobotsRow, SeedOrigin, Seeded,
    Settled,
};
use jiff::Timestamp;

use crate::db::writer::Writer;
use crate::db::{Db, StoreError};

/// The frontier of a data directory.
#[derive(Clone)]
pub struct SqliteFrontier {
    writer: Arc<Writer>,
}

impl SqliteFrontier {
    pub(crate) fn new(writer: Arc<Writer>) -> Self {
        Self { writer }
    }

    async fn run<T: Send + 'static>(
        &self,
        operation: &'static str,
        subject: &impl ToString,
        work: impl FnOnce(&Db) -> Result<T, StoreError> + Send + 'static,
    ) -> PortResult<T> {
        self.writer.run(operation, subject.to_string(), work).await
    }
}

impl Frontier for SqliteFrontier {
    async fn put_crawl(&self, put: &PutCrawl) -> PortResult<CrawlPut> {
        let request = put.clone();
        self.run("put crawl", &put.definition.name, move |db| crawls::put(db, &request)).await
    }

    async fn load_crawl(&self, crawl: &CrawlId) -> PortResult<Option<CrawlRow>> {
        let id = crawl.clone();
        self.run("load crawl", crawl, move |db| db.crawl(&id)).await
    }

    async fn load_definition(&self, crawl: &CrawlId, version: u32) -> PortResult<Option<Definition>> {
        let id = crawl.clone();
        self.run("load definition", crawl, move |db| db.definition(&id, version)).await
    }

    async fn join_origin(&self, crawl: &CrawlId, origin: &Origin) -> PortResult<()> {
        let (id, joined) = (crawl.clone(), origin.clone());
        self.run("join origin", origin, move |db| db.join_origin(db.ensure_crawl(&id)?, &joined)).await
    }

    async fn switch_off(&self, crawl: &CrawlId) -> PortResult<()> {
        let id = crawl.clone();
        self.run("switch crawl off", crawl, move |db| crawls::switch_off(db, &id)).await
    }

    async fn due_crawls(&self, now: Timestamp, limit: usize) -> PortResult<Vec<CrawlId>> {
        self.run("list due crawls", &now, move |db| db.due_crawls(now, limit)).await
    }

    async fn move_schedule(&self, passed: &MoveSchedule) -> PortResult<()> {
        let request = passed.clone();
        self.run("move schedule", &passed.crawl, move |db| crawls::move_schedule(db, &request)).await
    }

    async fn running_crawls(&self, limit: usize) -> PortResult<Vec<CrawlId>> {
        self.run("list running crawls", &"the store", move |db| db.running_crawls(limit)).await
    }

    async fn mark_handled(&self, crawl: &CrawlId, trigger: &TriggerId, _now: Timestamp) -> PortResult<()> {
        let (id, handled) = (crawl.clone(), trigger.clone());
        self.run("mark trigger", trigger, move |db| db.mark_handled(db.ensure_crawl(&id)?, &handled)).await
    }

    async fn was_handled(&self, crawl: &CrawlId, trigger: &TriggerId) -> PortResult<bool> {
        let (id, asked) = (crawl.clone(), trigger.clone());
        self.run("load trigger", trigger, move |db| match db.crawl_id(&id)? {
            Some(crawl) => db.was_handled(crawl, &asked),
            None => Ok(false),
        })
        .await
    }

    async fn begin_iteration(&self, begin: &BeginIteration) -> PortResult<Begun> {
        let request = begin.clone();
        self.run("begin iteration", &begin.crawl, move |db| iterations::begin(db, &request)).await
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
        self.run("return token", crawl, move |db| iterations::return_token(db, &id, number)).await
    }

    async fn move_cursor(&self, moved: &MoveCursor) -> PortResult<CursorMoved> {
        let request = moved.clone();
        self.run("move cursor", &moved.crawl, move |db| iterations::move_cursor(db, &request)).await
    }

    async fn change_status(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        change: StatusChange,
    ) -> PortResult<Option<IterationRow>> {
        let id = crawl.clone();
        self.run("change status", crawl, move |db| iterations::change_status(db, &id, number, change)).await
    }

    async fn close_iteration(&self, crawl: &CrawlId, number: Iteration, now: Timestamp) -> PortResult<IterationClosed> {
        let id = crawl.clone();
        self.run("close iteration", crawl, move |db| iterations::close(db, &id, number, now)).await
    }

    async fn claim(&self, request: &ClaimRequest) -> PortResult<Vec<Claim>> {
        let claim = request.clone();
        self.run("claim", &request.origin, move |db| claims::claim(db, &claim)).await
    }

    async fn seed_origin(&self, seed: &SeedOrigin) -> PortResult<Seeded> {
        let request = seed.clone();
        self.run("seed origin", &seed.origin, move |db| iterations::seed_origin(db, &request)).await
    }

    async fn list_origins(&self, crawl: &CrawlId, after: Option<&Origin>, limit: usize) -> PortResult<Vec<Origin>> {
        let (id, after) = (crawl.clone(), after.cloned());
        self.run("list origins", crawl, move |db| overdue::list_origins(db, &id, after.as_ref(), limit)).await
    }

    async fn load_origin(&self, origin: &OriginKey) -> PortResult<Option<OriginRows>> {
        let key = origin.clone();
        self.run("load origin", origin, move |db| match db.origin_id(&key)? {
            Some(id) => db.origin_rows(id),
            None => Ok(None),
        })
        .await
    }

    async fn load_inbox(&self, origin: &OriginKey) -> PortResult<Option<Inbox>> {
        let key = origin.clone();
        self.run("load inbox", origin, move |db| match db.origin_id(&key)? {
            Some(id) => db.inbox(id),
            None => Ok(None),
        })
        .await
    }

    async fn load_robots(&self, origin: &OriginKey) -> PortResult<Option<RobotsRow>> {
        let key = origin.clone();
        self.run("load robots", origin, move |db| match db.origin_id(&key)? {
            Some(id) => db.robots(id),
            None => Ok(None),
        })
        .await
    }

    async fn put_robots(&self, origin: &OriginKey, robots: &RobotsRow) -> PortResult<()> {
        let (key, robots) = (origin.clone(), robots.clone());
        self.run("put robots", origin, move |db| db.put_robots(db.ensure_origin(&key)?, &robots)).await
    }

    async fn take_lease(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        take: &Take,
    ) -> PortResult<Result<Lease, TakeRefused>> {
        let (key, take) = (origin.clone(), take.clone());
        self.run("take lease", origin, move |db| turns::take_lease(db, &key, iteration, &take)).await
    }

    async fn load_host(&self, host: &HostKey) -> PortResult<Option<HostRow>> {
        let key = host.clone();
        self.run("load host", host, move |db| db.host(&key)).await
    }

    async fn load_domain(&self, domain: &DomainKey) -> PortResult<Option<DomainRow>> {
        let key = domain.clone();
        self.run("load domain", domain, move |db| db.domain(&key)).await
    }

    async fn take_host(&self, host: &HostKey, ask: &HostAsk) -> PortResult<Result<HostRow, Timestamp>> {
        let (key, ask) = (host.clone(), ask.clone());
        self.run("take host", host, move |db| hosts::take_host(db, &key, &ask)).await
    }

    async fn give_back_host(&self, back: &GiveBackHost) -> PortResult<()> {
        let request = back.clone();
        self.run("give back host", &back.host, move |db| hosts::give_back_host(db, &request)).await
    }

    async fn load_chunk(&self, origin: &OriginKey, key: &ChunkKey) -> PortResult<Option<TodoChunk>> {
        let (owner, key) = (origin.clone(), key.clone());
        self.run("load todo", origin, move |db| match db.origin_id(&owner)? {
            Some(id) => db.chunk(id, &key),
            None => Ok(None),
        })
        .await
    }

    async fn first_chunk(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        skip: &[ChunkKey],
    ) -> PortResult<Option<TodoChunk>> {
        let (owner, skip) = (origin.clone(), skip.to_vec());
        self.run("next todo", origin, move |db| turns::first_chunk(db, &owner, iteration, &skip)).await
    }

    async fn due_candidates(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        cursor: &RecrawlCursor,
        now: Timestamp,
        limit: usize,
    ) -> PortResult<DuePage> {
        let (owner, cursor) = (origin.clone(), cursor.clone());
        self.run("list due candidates", origin, move |db| claims::due(db, &owner, iteration, &cursor, now, limit)).await
    }

    async fn commit_segment(&self, commit: &CommitSegment) -> PortResult<Committed> {
        let request = commit.clone();
        self.run("commit segment", &commit.segment.id, move |db| turns::commit_segment(db, &request)).await
    }

    async fn release(&self, release: &ReleaseLease) -> PortResult<Result<(), ReleaseRefused>> {
        let request = release.clone();
        self.run("release lease", &release.origin, move |db| turns::release(db, &request)).await
    }

    async fn load_segment(&self, id: &SegmentId) -> PortResult<Option<SegmentRow>> {
        let key = id.clone();
        self.run("load segment", id, move |db| Ok(db.segment(&key)?.map(|stored| stored.row))).await
    }

    async fn begin_parse(&self, begin: &BeginParse) -> PortResult<Option<SegmentRow>> {
        let wish = begin.clone();
        self.run("begin parse", &begin.segment, move |db| parses::begin(db, &wish)).await
    }

    async fn give_back_parse(&self, id: &SegmentId, token: &ParseToken, blame: Blame) -> PortResult<()> {
        let (key, token) = (id.clone(), token.clone());
        self.run("give back parse", id, move |db| parses::give_back(db, &key, &token, blame)).await
    }

    async fn put_log(&self, log: &SegmentLog) -> PortResult<()> {
        let content = log.clone();
        self.run("put log", &log.segment, move |db| log::put(db, &content)).await
    }

    async fn update_candidates(&self, origin: &OriginKey, updates: &[CandidateUpdate]) -> PortResult<()> {
        let (key, updates) = (origin.clone(), updates.to_vec());
        self.run("update candidates", origin, move |db| claims::update(db, &key, &updates)).await
    }

    async fn commit_parse(&self, commit: &CommitParse) -> PortResult<ParseCommitted> {
        let request = commit.clone();
        self.run("commit parse", &commit.segment, move |db| parses::commit(db, &request)).await
    }

    async fn settle(&self, origin: &OriginKey, seen: &OriginRows) -> PortResult<Settled> {
        let (key, seen) = (origin.clone(), seen.clone());
        self.run("settle", origin, move |db| endings::settle_origin(db, &key, &seen)).await
    }

    async fn give_up(&self, give_up: &GiveUp) -> PortResult<Settled> {
        let request = give_up.clone();
        self.run("give up origin", &give_up.origin, move |db| endings::give_up(db, &request)).await
    }

    async fn overdue(
        &self,
        crawl: &CrawlId,
        due_by: Timestamp,
        kinds: OverdueKinds,
        limit: usize,
    ) -> PortResult<Vec<Overdue>> {
        let id = crawl.clone();
        self.run("list overdue work", crawl, move |db| overdue::list(db, &id, due_by, kinds, limit)).await
    }

    async fn postpone(&self, work: &Overdue, due: Timestamp) -> PortResult<()> {
        let owned = work.clone();
        self.run("postpone overdue work", &format!("{work:?}"), move |db| overdue::postpone(db, &owned, due)).await
    }

    async fn owe_notice(&self, owed: &OwedNotice) -> PortResult<NoticeKept> {
        let notice = owed.clone();
        self.run("owe notice", &owed.key, move |db| db.owe_notice(&notice)).await
    }

    async fn owed_notices(&self, due_by: Timestamp, limit: usize) -> PortResult<Vec<OwedNotice>> {
        self.run("list owed notices", &due_by, move |db| db.owed_notices(due_by, limit)).await
    }

    async fn postpone_notice(&self, owed: &OwedNotice, due: Timestamp) -> PortResult<()> {
        let notice = owed.clone();
        self.run("postpone notice", &owed.key, move |db| db.postpone_notice(&notice, due)).await
    }

    async fn forget_notice(&self, owed: &OwedNotice) -> PortResult<()> {
        let notice = owed.clone();
        self.run("forget notice", &owed.key, move |db| db.forget_notice(&notice)).await
    }

    async fn progress(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<Progress> {
        let id = crawl.clone();
        self.run("sum progress", crawl, move |db| progress::sum(db, &id, iteration)).await
    }
}
