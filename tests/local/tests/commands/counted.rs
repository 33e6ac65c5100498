//! A frontier that counts what is asked of it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use dragline_domain::capture::SegmentLog;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::{
    Begun, Blame, CandidateUpdate, ChunkKey, Claim, Committed, CrawlPut, DomainRow, HostAsk, HostRow, Inbox,
    IterationRow, Lease, OriginKey, OriginRows, RecrawlCursor, ReleaseRefused, SegmentId, SegmentRow, StatusChange,
    Take, TakeRefused, TodoChunk,
};
use dragline_domain::ids::{CrawlId, Iteration, ParseToken, TriggerId};
use dragline_domain::url::{DomainKey, HostKey, Origin};
use dragline_local::SqliteFrontier;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{
    BeginIteration, BeginParse, Candidates, ClaimRequest, CommitParse, CommitSegment, CrawlLog, CrawlRow, Crawls,
    CursorMoved, DuePage, Endings, GiveBackHost, GiveUp, Hosts, IterationClosed, Iterations, KeptRobots, MoveCursor,
    MoveSchedule, NoticeKept, Origins, Overdue, OverdueKinds, OverdueWork, OwedNotice, OwedNotices, ParseCommitted,
    Parses, Progress, PutCrawl, ReleaseLease, RobotsRow, SeedOrigin, Seeded, Settled, Turns,
};
use jiff::Timestamp;

/// The local frontier, with how often each operation was called.
pub(crate) struct Counted {
    inner: SqliteFrontier,
    calls: Mutex<BTreeMap<&'static str, usize>>,
}

impl Counted {
    pub(crate) fn new(inner: SqliteFrontier) -> Self {
        Self { inner, calls: Mutex::default() }
    }

    /// How often these operations were called since it was asked last, in their order. The others are forgotten.
    pub(crate) fn calls<const N: usize>(&self, operations: [&str; N]) -> [usize; N] {
        let calls = std::mem::take(&mut *self.calls.lock().unwrap());
        operations.map(|operation| calls.get(operation).copied().unwrap_or(0))
    }

    fn count(&self, operation: &'static str) {
        *self.calls.lock().unwrap().entry(operation).or_default() += 1;
    }
}

macro_rules! counted {
    ($($port:ident { $($operation:ident($($name:ident: $kind:ty),*) -> $answer:ty;)* })*) => {
        $(impl $port for Counted {
            $(async fn $operation(&self, $($name: $kind),*) -> PortResult<$answer> {
                self.count(stringify!($operation));
                self.inner.$operation($($name),*).await
            })*
        })*
    };
}

impl Candidates for Counted {
    async fn claim(&self, request: &ClaimRequest) -> PortResult<Vec<Claim>> {
        self.count("claim");
        self.inner.claim(request).await
    }

    /// As a store may that filters what it has read: nothing is on the first page, which is not the last.
    async fn due_candidates(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        cursor: &RecrawlCursor,
        now: Timestamp,
        limit: usize,
    ) -> PortResult<DuePage> {
        self.count("due_candidates");
        if *cursor == RecrawlCursor::Start {
            return Ok(DuePage { entries: Vec::new(), next: RecrawlCursor::After(String::new()) });
        }
        self.inner.due_candidates(origin, iteration, cursor, now, limit).await
    }

    async fn update_candidates(&self, origin: &OriginKey, updates: &[CandidateUpdate]) -> PortResult<()> {
        self.count("update_candidates");
        self.inner.update_candidates(origin, updates).await
    }
}

counted! {
    Crawls {
        put_crawl(put: &PutCrawl) -> CrawlPut;
        load_crawl(crawl: &CrawlId) -> Option<CrawlRow>;
        load_definition(crawl: &CrawlId, version: u32) -> Option<Definition>;
        join_origin(crawl: &CrawlId, origin: &Origin) -> ();
        switch_off(crawl: &CrawlId) -> ();
        due_crawls(now: Timestamp, limit: usize) -> Vec<CrawlId>;
        move_schedule(passed: &MoveSchedule) -> ();
        running_crawls(limit: usize) -> Vec<CrawlId>;
        mark_handled(crawl: &CrawlId, trigger: &TriggerId, now: Timestamp) -> ();
        was_handled(crawl: &CrawlId, trigger: &TriggerId) -> bool;
    }
    Iterations {
        begin_iteration(begin: &BeginIteration) -> Begun;
        latest_iteration(crawl: &CrawlId) -> Option<IterationRow>;
        load_iteration(crawl: &CrawlId, number: Iteration) -> Option<IterationRow>;
        return_token(crawl: &CrawlId, number: Iteration) -> ();
        move_cursor(moved: &MoveCursor) -> CursorMoved;
        change_status(crawl: &CrawlId, number: Iteration, change: StatusChange) -> Option<IterationRow>;
        close_iteration(crawl: &CrawlId, number: Iteration, now: Timestamp) -> IterationClosed;
        progress(crawl: &CrawlId, iteration: Iteration) -> Progress;
    }
    Origins {
        seed_origin(seed: &SeedOrigin) -> Seeded;
        list_origins(crawl: &CrawlId, after: Option<&Origin>, limit: usize) -> Vec<Origin>;
        load_origin(origin: &OriginKey) -> Option<OriginRows>;
        load_inbox(origin: &OriginKey) -> Option<Inbox>;
    }
    Turns {
        take_lease(origin: &OriginKey, iteration: Iteration, take: &Take) -> Result<Lease, TakeRefused>;
        load_chunk(origin: &OriginKey, key: &ChunkKey) -> Option<TodoChunk>;
        first_chunk(origin: &OriginKey, iteration: Iteration, skip: &[ChunkKey]) -> Option<TodoChunk>;
        commit_segment(commit: &CommitSegment) -> Committed;
        release(release: &ReleaseLease) -> Result<(), ReleaseRefused>;
    }
    Hosts {
        load_host(host: &HostKey) -> Option<HostRow>;
        load_domain(domain: &DomainKey) -> Option<DomainRow>;
        take_host(host: &HostKey, ask: &HostAsk) -> Result<HostRow, Timestamp>;
        give_back_host(back: &GiveBackHost) -> ();
    }
    KeptRobots {
        load_robots(origin: &OriginKey) -> Option<RobotsRow>;
        put_robots(origin: &OriginKey, robots: &RobotsRow) -> ();
    }
    Parses {
        load_segment(id: &SegmentId) -> Option<SegmentRow>;
        begin_parse(begin: &BeginParse) -> Option<SegmentRow>;
        give_back_parse(id: &SegmentId, token: &ParseToken, blame: Blame) -> ();
        commit_parse(commit: &CommitParse) -> ParseCommitted;
    }
    CrawlLog {
        put_log(log: &SegmentLog) -> ();
    }
    Endings {
        settle(origin: &OriginKey, seen: &OriginRows) -> Settled;
        give_up(give_up: &GiveUp) -> Settled;
    }
    OverdueWork {
        overdue(crawl: &CrawlId, due_by: Timestamp, kinds: OverdueKinds, limit: usize) -> Vec<Overdue>;
        postpone(work: &Overdue, due: Timestamp) -> ();
    }
    OwedNotices {
        owe_notice(owed: &OwedNotice) -> NoticeKept;
        owed_notices(due_by: Timestamp, limit: usize) -> Vec<OwedNotice>;
        postpone_notice(owed: &OwedNotice, due: Timestamp) -> ();
        forget_notice(owed: &OwedNotice) -> ();
    }
}
