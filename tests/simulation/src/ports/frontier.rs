//! The frontier behind the conductor.

use std::sync::Arc;

use dragline_domain::capture::SegmentLog;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::{
    Begun, Blame, CandidateUpdate, ChunkKey, Claim, Committed, CrawlPut, DomainRow, HostAsk, HostRow, Inbox,
    IterationRow, Lease, OriginKey, OriginRows, RecrawlCursor, ReleaseRefused, SegmentId, SegmentRow, StatusChange,
    Take, TakeRefused, TodoChunk,
};
use dragline_domain::ids::{CrawlId, Iteration, ParseToken, TriggerId};
use dragline_domain::url::{DomainKey, HostKey, Origin};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{
    BeginIteration, BeginParse, Candidates, ClaimRequest, CommitParse, CommitSegment, CrawlLog, CrawlRow, Crawls,
    CursorMoved, DuePage, Endings, GiveBackHost, GiveUp, Hosts, IterationClosed, Iterations, KeptRobots, MoveCursor,
    MoveSchedule, NoticeKept, Origins, Overdue, OverdueKinds, OverdueWork, OwedNotice, OwedNotices, ParseCommitted,
    Parses, Progress, PutCrawl, ReleaseLease, RobotsRow, SeedOrigin, Seeded, Settled, Turns,
};
use jiff::Timestamp;

use super::Gate;

pub(crate) struct GatedFrontier<F> {
    pub(crate) gate: Gate,
    pub(crate) inner: Arc<F>,
}

impl<F: Crawls> Crawls for GatedFrontier<F> {
    async fn put_crawl(&self, put: &PutCrawl) -> PortResult<CrawlPut> {
        self.gate.pass("frontier.put_crawl", &put.definition.name, self.inner.put_crawl(put)).await
    }

    async fn load_crawl(&self, crawl: &CrawlId) -> PortResult<Option<CrawlRow>> {
        self.gate.pass("frontier.load_crawl", crawl, self.inner.load_crawl(crawl)).await
    }

    async fn load_definition(&self, crawl: &CrawlId, version: u32) -> PortResult<Option<Definition>> {
        self.gate.pass("frontier.load_definition", crawl, self.inner.load_definition(crawl, version)).await
    }

    async fn join_origin(&self, crawl: &CrawlId, origin: &Origin) -> PortResult<()> {
        self.gate.pass("frontier.join_origin", origin, self.inner.join_origin(crawl, origin)).await
    }

    async fn switch_off(&self, crawl: &CrawlId) -> PortResult<()> {
        self.gate.pass("frontier.switch_off", crawl, self.inner.switch_off(crawl)).await
    }

    async fn due_crawls(&self, now: Timestamp, limit: usize) -> PortResult<Vec<CrawlId>> {
        self.gate.pass("frontier.due_crawls", now, self.inner.due_crawls(now, limit)).await
    }

    async fn move_schedule(&self, passed: &MoveSchedule) -> PortResult<()> {
        self.gate.pass("frontier.move_schedule", &passed.crawl, self.inner.move_schedule(passed)).await
    }

    async fn running_crawls(&self, limit: usize) -> PortResult<Vec<CrawlId>> {
        self.gate.pass("frontier.running_crawls", "all", self.inner.running_crawls(limit)).await
    }

    async fn mark_handled(&self, crawl: &CrawlId, trigger: &TriggerId, now: Timestamp) -> PortResult<()> {
        self.gate.pass("frontier.mark_handled", trigger, self.inner.mark_handled(crawl, trigger, now)).await
    }

    async fn was_handled(&self, crawl: &CrawlId, trigger: &TriggerId) -> PortResult<bool> {
        self.gate.pass("frontier.was_handled", trigger, self.inner.was_handled(crawl, trigger)).await
    }
}

impl<F: Iterations> Iterations for GatedFrontier<F> {
    async fn begin_iteration(&self, begin: &BeginIteration) -> PortResult<Begun> {
        self.gate.pass("frontier.begin_iteration", &begin.crawl, self.inner.begin_iteration(begin)).await
    }

    async fn latest_iteration(&self, crawl: &CrawlId) -> PortResult<Option<IterationRow>> {
        self.gate.pass("frontier.latest_iteration", crawl, self.inner.latest_iteration(crawl)).await
    }

    async fn load_iteration(&self, crawl: &CrawlId, number: Iteration) -> PortResult<Option<IterationRow>> {
        self.gate.pass("frontier.load_iteration", crawl, self.inner.load_iteration(crawl, number)).await
    }

    async fn return_token(&self, crawl: &CrawlId, number: Iteration) -> PortResult<()> {
        self.gate.pass("frontier.return_token", crawl, self.inner.return_token(crawl, number)).await
    }

    async fn move_cursor(&self, moved: &MoveCursor) -> PortResult<CursorMoved> {
        self.gate
            .pass_or("frontier.move_cursor", &moved.crawl, CursorMoved::Elsewhere, self.inner.move_cursor(moved))
            .await
    }

    async fn change_status(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        change: StatusChange,
    ) -> PortResult<Option<IterationRow>> {
        self.gate.pass("frontier.change_status", crawl, self.inner.change_status(crawl, number, change)).await
    }

    async fn close_iteration(&self, crawl: &CrawlId, number: Iteration, now: Timestamp) -> PortResult<IterationClosed> {
        self.gate.pass("frontier.close_iteration", crawl, self.inner.close_iteration(crawl, number, now)).await
    }

    async fn progress(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<Progress> {
        self.gate.pass("frontier.progress", crawl, self.inner.progress(crawl, iteration)).await
    }
}

impl<F: Origins> Origins for GatedFrontier<F> {
    async fn seed_origin(&self, seed: &SeedOrigin) -> PortResult<Seeded> {
        self.gate.pass("frontier.seed_origin", &seed.origin, self.inner.seed_origin(seed)).await
    }

    async fn list_origins(&self, crawl: &CrawlId, after: Option<&Origin>, limit: usize) -> PortResult<Vec<Origin>> {
        self.gate.pass("frontier.list_origins", crawl, self.inner.list_origins(crawl, after, limit)).await
    }

    async fn load_origin(&self, origin: &OriginKey) -> PortResult<Option<OriginRows>> {
        self.gate.pass("frontier.load_origin", origin, self.inner.load_origin(origin)).await
    }

    async fn load_inbox(&self, origin: &OriginKey) -> PortResult<Option<Inbox>> {
        self.gate.pass("frontier.load_inbox", origin, self.inner.load_inbox(origin)).await
    }
}

impl<F: Candidates> Candidates for GatedFrontier<F> {
    async fn claim(&self, request: &ClaimRequest) -> PortResult<Vec<Claim>> {
        self.gate.pass("frontier.claim", &request.origin, self.inner.claim(request)).await
    }

    async fn due_candidates(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        cursor: &RecrawlCursor,
        now: Timestamp,
        limit: usize,
    ) -> PortResult<DuePage> {
        let page = self.inner.due_candidates(origin, iteration, cursor, now, limit);
        let none_there = DuePage { entries: Vec::new(), next: cursor.clone() };
        self.gate.pass_or("frontier.due_candidates", origin, none_there, page).await
    }

    async fn update_candidates(&self, origin: &OriginKey, updates: &[CandidateUpdate]) -> PortResult<()> {
        self.gate.pass("frontier.update_candidates", origin, self.inner.update_candidates(origin, updates)).await
    }
}

impl<F: Turns> Turns for GatedFrontier<F> {
    async fn take_lease(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        take: &Take,
    ) -> PortResult<Result<Lease, TakeRefused>> {
        self.gate.pass("frontier.take_lease", origin, self.inner.take_lease(origin, iteration, take)).await
    }

    async fn load_chunk(&self, origin: &OriginKey, key: &ChunkKey) -> PortResult<Option<TodoChunk>> {
        self.gate.pass("frontier.load_chunk", origin, self.inner.load_chunk(origin, key)).await
    }

    async fn first_chunk(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        skip: &[ChunkKey],
    ) -> PortResult<Option<TodoChunk>> {
        self.gate.pass("frontier.first_chunk", origin, self.inner.first_chunk(origin, iteration, skip)).await
    }

    async fn commit_segment(&self, commit: &CommitSegment) -> PortResult<Committed> {
        self.gate.pass("frontier.commit_segment", &commit.segment.id, self.inner.commit_segment(commit)).await
    }

    async fn release(&self, release: &ReleaseLease) -> PortResult<Result<(), ReleaseRefused>> {
        self.gate
            .pass_or("frontier.release", &release.origin, Err(ReleaseRefused::Changed), self.inner.release(release))
            .await
    }
}

impl<F: Hosts> Hosts for GatedFrontier<F> {
    async fn load_host(&self, host: &HostKey) -> PortResult<Option<HostRow>> {
        self.gate.pass("frontier.load_host", host, self.inner.load_host(host)).await
    }

    async fn load_domain(&self, domain: &DomainKey) -> PortResult<Option<DomainRow>> {
        self.gate.pass("frontier.load_domain", domain, self.inner.load_domain(domain)).await
    }

    async fn take_host(&self, host: &HostKey, ask: &HostAsk) -> PortResult<Result<HostRow, Timestamp>> {
        self.gate.pass("frontier.take_host", host, self.inner.take_host(host, ask)).await
    }

    async fn give_back_host(&self, back: &GiveBackHost) -> PortResult<()> {
        self.gate.pass("frontier.give_back_host", &back.host, self.inner.give_back_host(back)).await
    }
}

impl<F: KeptRobots> KeptRobots for GatedFrontier<F> {
    async fn load_robots(&self, origin: &OriginKey) -> PortResult<Option<RobotsRow>> {
        self.gate.pass("frontier.load_robots", origin, self.inner.load_robots(origin)).await
    }

    async fn put_robots(&self, origin: &OriginKey, robots: &RobotsRow) -> PortResult<()> {
        self.gate.pass("frontier.put_robots", origin, self.inner.put_robots(origin, robots)).await
    }
}

impl<F: Parses> Parses for GatedFrontier<F> {
    async fn load_segment(&self, id: &SegmentId) -> PortResult<Option<SegmentRow>> {
        self.gate.pass("frontier.load_segment", id, self.inner.load_segment(id)).await
    }

    async fn begin_parse(&self, begin: &BeginParse) -> PortResult<Option<SegmentRow>> {
        self.gate.pass("frontier.begin_parse", &begin.segment, self.inner.begin_parse(begin)).await
    }

    async fn give_back_parse(&self, id: &SegmentId, token: &ParseToken, blame: Blame) -> PortResult<()> {
        self.gate.pass("frontier.give_back_parse", id, self.inner.give_back_parse(id, token, blame)).await
    }

    async fn commit_parse(&self, commit: &CommitParse) -> PortResult<ParseCommitted> {
        self.gate.pass("frontier.commit_parse", &commit.segment, self.inner.commit_parse(commit)).await
    }
}

impl<F: CrawlLog + 'static> CrawlLog for GatedFrontier<F> {
    async fn put_log(&self, log: &SegmentLog) -> PortResult<()> {
        if self.gate.put_off.holds("frontier.put_log") {
            let (gate, inner, log) = (self.gate.without_delay(), Arc::clone(&self.inner), log.clone());
            self.gate
                .put_off
                .put_off(async move { gate.pass("frontier.put_log", &log.segment, inner.put_log(&log)).await });
            return Ok(());
        }
        self.gate.pass("frontier.put_log", &log.segment, self.inner.put_log(log)).await
    }
}

impl<F: Endings> Endings for GatedFrontier<F> {
    async fn settle(&self, origin: &OriginKey, seen: &OriginRows) -> PortResult<Settled> {
        self.gate.pass_or("frontier.settle", origin, Settled::Changed, self.inner.settle(origin, seen)).await
    }

    async fn give_up(&self, give_up: &GiveUp) -> PortResult<Settled> {
        self.gate.pass_or("frontier.give_up", &give_up.origin, Settled::Changed, self.inner.give_up(give_up)).await
    }
}

impl<F: OverdueWork> OverdueWork for GatedFrontier<F> {
    async fn overdue(
        &self,
        crawl: &CrawlId,
        due_by: Timestamp,
        kinds: OverdueKinds,
        limit: usize,
    ) -> PortResult<Vec<Overdue>> {
        self.gate.pass_or("frontier.overdue", crawl, Vec::new(), self.inner.overdue(crawl, due_by, kinds, limit)).await
    }

    async fn postpone(&self, work: &Overdue, due: Timestamp) -> PortResult<()> {
        self.gate.pass("frontier.postpone", format!("{work:?}"), self.inner.postpone(work, due)).await
    }
}

impl<F: OwedNotices> OwedNotices for GatedFrontier<F> {
    async fn owe_notice(&self, owed: &OwedNotice) -> PortResult<NoticeKept> {
        self.gate.pass("frontier.owe_notice", &owed.key, self.inner.owe_notice(owed)).await
    }

    async fn owed_notices(&self, due_by: Timestamp, limit: usize) -> PortResult<Vec<OwedNotice>> {
        self.gate.pass("frontier.owed_notices", due_by, self.inner.owed_notices(due_by, limit)).await
    }

    async fn postpone_notice(&self, owed: &OwedNotice, due: Timestamp) -> PortResult<()> {
        self.gate.pass("frontier.postpone_notice", &owed.key, self.inner.postpone_notice(owed, due)).await
    }

    async fn forget_notice(&self, owed: &OwedNotice) -> PortResult<()> {
        self.gate.pass("frontier.forget_notice", &owed.key, self.inner.forget_notice(owed)).await
    }
}
