//! A wrapper around a frontier through which every call goes.

use std::fmt::Display;
use std::future::Future;
use std::ops::Range;
use std::sync::Arc;

use dragline_domain::capture::SegmentLog;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::{
    CandidateUpdate, ChunkKey, Claim, CrawlPut, CrawlStamp, DomainRow, DueQuery, HostRequest, HostRow, Inbox,
    IterationBegun, IterationRow, LaterCandidates, Lease, NamersUpdate, OriginKey, OriginRows, OriginsJoined,
    ParseFault, ReleaseRefused, SegmentCommitted, SegmentId, SegmentRow, ShorterWayState, StatusChange, TakeRefused,
    TakeRequest, TodoChunk,
};
use dragline_domain::ids::{CrawlId, Iteration, ParseToken, TriggerId};
use dragline_domain::lastmod::PageTimes;
use dragline_domain::url::{DomainKey, HostKey, Origin};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{
    BeginIteration, BeginParse, Candidates, ClaimRequest, CommitParse, CommitSegment, CrawlLog, CrawlRow, Crawls,
    CursorMoved, DuePage, Endings, Fact, GiveBackHost, GiveUp, Hosts, IterationClosed, Iterations, JoinOrigins,
    KeptRobots, MoveCursor, MoveSchedule, NoticeKept, NoticeState, Origins, Overdue, OverdueKinds, OverdueWork,
    OwedNotice, OwedNotices, ParseCommitted, Parses, Progress, PutCrawl, ReleaseLease, RobotsRow, SeedOrigin,
    SeedResult, SettleResult, Turns,
};
use jiff::Timestamp;

/// Intercepts the calls to a frontier: counts them, delays them, makes them fail.
pub trait Before: Send + Sync {
    /// Lets a call through, or does not. `operation` is its name, such as `frontier.claim`, and
    /// `subject` what it is done to. `instead` is what the port may answer without doing anything;
    /// `None` if there is no such answer.
    fn pass<T: Send>(
        &self,
        operation: &'static str,
        subject: impl Display + Send,
        instead: Option<T>,
        call: impl Future<Output = PortResult<T>> + Send,
    ) -> impl Future<Output = PortResult<T>> + Send;

    /// Like [`Before::pass`], for the log, which a test may want to put later than requested.
    fn put_log<F: CrawlLog + 'static>(
        &self,
        inner: &Arc<F>,
        log: &Arc<SegmentLog>,
    ) -> impl Future<Output = PortResult<()>> + Send {
        self.pass("frontier.put_log", &log.segment, None, inner.put_log(log))
    }

    /// Whether the first page of due candidates is empty but not the last one, as it may be in a
    /// store that filters what it has read.
    fn empties_first_page(&self) -> bool {
        false
    }
}

/// A frontier whose calls are intercepted.
#[derive(Clone, Debug)]
pub struct Behind<B, F> {
    /// The interceptor.
    pub before: B,
    /// The frontier.
    pub inner: Arc<F>,
}

impl<B, F> Behind<B, F> {
    /// Wraps a frontier in an interceptor.
    pub fn new(before: B, inner: F) -> Self {
        Self { before, inner: Arc::new(inner) }
    }
}

/// All operations but two: the subject of each and, where the port allows one at any time, an
/// answer that does nothing.
macro_rules! operations {
    ($($port:ident { $(
        $operation:ident($($name:ident: $kind:ty),*) -> $answer:ty, on $subject:expr $(, or $instead:expr)?;
    )* })*) => {
        $(impl<B: Before, F: $port> $port for Behind<B, F> {
            $(async fn $operation(&self, $($name: $kind),*) -> PortResult<$answer> {
                let instead = operations!(@instead $($instead)?);
                self.before.pass(concat!("frontier.", stringify!($operation)), $subject, instead, self.inner.$operation($($name),*)).await
            })*
        })*
    };
    (@instead) => { None };
    (@instead $instead:expr) => { Some($instead) };
}

operations! {
    Crawls {
        put_crawl(put: &PutCrawl) -> CrawlPut, on &put.definition.name;
        load_crawl(crawl: &CrawlId) -> Option<CrawlRow>, on crawl;
        load_definition(crawl: &CrawlId, version: u32) -> Option<Definition>, on crawl;
        load_stamp(crawl: &CrawlId) -> Option<CrawlStamp>, on crawl;
        load_joined(crawl: &CrawlId, places: Range<u64>) -> Vec<Origin>, on format!("{crawl} {places:?}");
        join_origins(join: &JoinOrigins) -> OriginsJoined, on &join.crawl, or OriginsJoined::Changed;
        switch_off(crawl: &CrawlId) -> (), on crawl;
        due_crawls(now: Timestamp, limit: usize) -> Vec<CrawlId>, on now;
        move_schedule(passed: &MoveSchedule) -> (), on &passed.crawl;
        running_crawls(limit: usize) -> Vec<CrawlId>, on "all";
        mark_handled(crawl: &CrawlId, trigger: &TriggerId, now: Timestamp) -> (), on trigger;
        was_handled(crawl: &CrawlId, trigger: &TriggerId) -> bool, on trigger;
    }
    Iterations {
        begin_iteration(begin: &BeginIteration) -> IterationBegun, on &begin.crawl;
        latest_iteration(crawl: &CrawlId) -> Option<IterationRow>, on crawl;
        load_iteration(crawl: &CrawlId, number: Iteration) -> Option<IterationRow>, on crawl;
        return_token(crawl: &CrawlId, number: Iteration) -> (), on crawl;
        move_cursor(moved: &MoveCursor) -> CursorMoved, on &moved.crawl, or CursorMoved::Elsewhere;
        change_status(crawl: &CrawlId, number: Iteration, change: StatusChange) -> Option<IterationRow>, on crawl;
        close_iteration(crawl: &CrawlId, number: Iteration, now: Timestamp) -> IterationClosed, on crawl;
        progress(crawl: &CrawlId, iteration: Iteration) -> Progress, on crawl;
    }
    Origins {
        seed_origin(seed: &SeedOrigin) -> SeedResult, on &seed.origin;
        list_origins(crawl: &CrawlId, after: Option<&Origin>, limit: usize) -> Vec<Origin>, on crawl;
        load_origin(origin: &OriginKey) -> Option<OriginRows>, on origin;
        load_inbox(origin: &OriginKey) -> Option<Inbox>, on origin;
    }
    Turns {
        take_lease(origin: &OriginKey, iteration: Iteration, take: &TakeRequest) -> Result<Lease, TakeRefused>, on origin;
        load_chunk(origin: &OriginKey, key: &ChunkKey) -> Option<TodoChunk>, on origin;
        first_chunk(origin: &OriginKey, iteration: Iteration, skip: &[ChunkKey]) -> Option<TodoChunk>, on origin;
        commit_segment(commit: &CommitSegment) -> SegmentCommitted, on &commit.segment.id;
        release(release: &ReleaseLease) -> Result<(), ReleaseRefused>, on &release.origin, or Err(ReleaseRefused::Changed);
    }
    Hosts {
        load_host(host: &HostKey) -> Option<HostRow>, on host;
        load_domain(domain: &DomainKey) -> Option<DomainRow>, on domain;
        take_host(host: &HostKey, ask: &HostRequest) -> Result<HostRow, Timestamp>, on host;
        give_back_host(back: &GiveBackHost) -> (), on &back.host;
    }
    KeptRobots {
        load_robots(origin: &OriginKey) -> Option<RobotsRow>, on origin;
        put_robots(origin: &OriginKey, robots: &RobotsRow) -> (), on origin;
    }
    Parses {
        load_segment(id: &SegmentId) -> Option<SegmentRow>, on id;
        begin_parse(begin: &BeginParse) -> Option<SegmentRow>, on &begin.segment;
        give_back_parse(id: &SegmentId, token: &ParseToken, blame: ParseFault) -> (), on id;
        commit_parse(commit: &CommitParse) -> ParseCommitted, on &commit.segment;
    }
    Endings {
        settle(origin: &OriginKey, seen: &OriginRows) -> SettleResult, on origin, or SettleResult::Changed;
        give_up(give_up: &GiveUp) -> SettleResult, on &give_up.origin, or SettleResult::Changed;
    }
    OverdueWork {
        overdue(crawl: &CrawlId, due_by: Timestamp, kinds: OverdueKinds, limit: usize) -> Vec<Overdue>, on crawl, or Vec::new();
        postpone(work: &Overdue, due: Timestamp) -> (), on format!("{work:?}");
    }
    OwedNotices {
        owe_notice(owed: &OwedNotice) -> NoticeKept, on &owed.key;
        owed_notices(due_by: Timestamp, limit: usize) -> Vec<OwedNotice>, on due_by;
        postpone_notice(owed: &OwedNotice, due: Timestamp) -> (), on &owed.key;
        forget_notice(owed: &OwedNotice) -> (), on &owed.key;
        mark_told(crawl: &CrawlId, fact: &Fact, now: Timestamp) -> NoticeState, on fact;
    }
}

impl<B: Before, F: Candidates> Candidates for Behind<B, F> {
    async fn claim(&self, request: &ClaimRequest) -> PortResult<Vec<Claim>> {
        self.before.pass("frontier.claim", &request.origin, None, self.inner.claim(request)).await
    }

    async fn nearer(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        paths: &[String],
    ) -> PortResult<Vec<Option<ShorterWayState>>> {
        self.before.pass("frontier.nearer", origin, None, self.inner.nearer(origin, iteration, paths)).await
    }

    async fn page_times(&self, origin: &OriginKey, paths: &[String]) -> PortResult<Vec<Option<PageTimes>>> {
        self.before.pass("frontier.page_times", origin, None, self.inner.page_times(origin, paths)).await
    }

    async fn due_candidates(
        &self,
        origin: &OriginKey,
        query: &DueQuery,
        after: &str,
        limit: usize,
    ) -> PortResult<DuePage> {
        let none_there = |next: &str| DuePage {
            entries: Vec::new(),
            next: Some(next.to_owned()),
            ahead: LaterCandidates::default(),
        };
        let page = async {
            if after.is_empty() && self.before.empties_first_page() {
                // Comes before every path.
                return Ok(none_there("!"));
            }
            self.inner.due_candidates(origin, query, after, limit).await
        };
        self.before.pass("frontier.due_candidates", origin, Some(none_there(after)), page).await
    }

    async fn update_candidates(&self, origin: &OriginKey, updates: &[CandidateUpdate]) -> PortResult<()> {
        self.before
            .pass("frontier.update_candidates", origin, None, self.inner.update_candidates(origin, updates))
            .await
    }

    async fn add_namers(&self, origin: &OriginKey, named: &[NamersUpdate]) -> PortResult<()> {
        self.before.pass("frontier.add_namers", origin, None, self.inner.add_namers(origin, named)).await
    }
}

impl<B: Before, F: CrawlLog + 'static> CrawlLog for Behind<B, F> {
    async fn put_log(&self, log: &Arc<SegmentLog>) -> PortResult<()> {
        self.before.put_log(&self.inner, log).await
    }
}
