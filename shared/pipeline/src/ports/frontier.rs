//! The frontier: who works on what, what is known, what is left to do.
//!
//! Each operation is one commit point: either all of its effects are there or none. `docs/frontier-dynamodb.md` gives each one as
//! DynamoDB expressions. Reads that decide are consistent; [`Frontier::overdue`] alone is a hint.

use std::future::Future;

use dragline_domain::capture::SegmentLog;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::{
    AddTodo, CandidateUpdate, ChunkKey, Claim, Claimer, Inbox, IterationRow, Lease, LeaseState, Leftover,
    LeftoverReason, OriginKey, OriginRows, ParsePart, ParserCounters, PartKind, PartRefused, RecrawlCursor, Release,
    ReleaseRefused, Reserve, Seeding, SegmentId, SegmentRow, Sighting, StatusChange, Switch, Take, TakeRefused,
    TodoChunk, TodoEntry,
};
use dragline_domain::ids::{CrawlId, Iteration, LeaseToken, TriggerId, Turn};
use dragline_domain::outcome::Outcome;
use dragline_domain::politeness::Pace;
use dragline_domain::url::Origin;
use dragline_formats::robots::RobotsRecord;
use jiff::Timestamp;

use super::error::PortResult;

/// A crawl's definition as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawlRow {
    /// The definition.
    pub definition: Definition,
    /// Its version, from 1; grows with each change.
    pub version: u32,
    /// Origins that joined the scope because a seed redirects to them permanently.
    pub joined: Vec<Origin>,
    /// Whether it begins iterations, and when its schedule does so next.
    pub switch: Switch,
}

impl CrawlRow {
    /// A definition as it stands once it is stored for the first time, with no schedule kept.
    #[must_use]
    pub const fn first(definition: Definition) -> Self {
        Self { definition, version: 1, joined: Vec::new(), switch: Switch::On { next: None } }
    }
}

/// A crawl's definition to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct PutCrawl {
    /// The definition.
    pub definition: Definition,
    /// The version that it was changed from; absent: there was no such crawl.
    pub seen: Option<u32>,
    /// When the schedule begins the next iteration; absent: there is no schedule, or nobody keeps to it.
    pub next: Option<Timestamp>,
}

/// A schedule's time that was passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveSchedule {
    /// The crawl.
    pub crawl: CrawlId,
    /// The time that came due.
    pub seen: Timestamp,
    /// The one after it; absent: there is none.
    pub next: Option<Timestamp>,
}

/// What became of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrawlPut {
    /// It is stored as this version, now or by an earlier try of which no answer came.
    Stored(u32),
    /// Somebody else changed the definition since: read again, decide again.
    Changed,
}

/// The wish for an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeginIteration {
    /// The crawl.
    pub crawl: CrawlId,
    /// What asks for it.
    pub trigger: TriggerId,
    /// The budget of the whole iteration.
    pub budget: Reserve,
    /// The time of now.
    pub now: Timestamp,
    /// When it is stopped at the latest; absent: never.
    pub ends_at: Option<Timestamp>,
    /// When the command is to be sent again if the token is still out.
    pub due: Timestamp,
}

impl BeginIteration {
    /// The row of the iteration, which begins under this number.
    #[must_use]
    pub fn row(&self, number: Iteration) -> IterationRow {
        let (crawl, trigger) = (self.crawl.clone(), self.trigger.clone());
        IterationRow::begin(crawl, number, trigger, self.budget, self.now, self.ends_at, self.due)
    }
}

/// What became of the wish for an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It began now, or this trigger began it earlier.
    Iteration(IterationRow),
    /// Another trigger's iteration still runs.
    Busy(IterationRow),
}

/// URLs of one origin to be claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRequest {
    /// The origin.
    pub origin: OriginKey,
    /// The iteration to queue them in.
    pub iteration: Iteration,
    /// For whom.
    pub claimer: Claimer,
    /// Whether those that are not due are left alone: the time of now. Absent: they are claimed as well.
    pub if_due: Option<Timestamp>,
    /// The time of now, kept as the first sighting of those that are new.
    pub now: Timestamp,
    /// Paths and how they were come by; no path twice.
    pub urls: Vec<(String, Sighting)>,
}

/// Seeds for one origin, which may be none (to open it for its candidates).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedOrigin {
    /// The origin.
    pub origin: OriginKey,
    /// The iteration.
    pub iteration: Iteration,
    /// Which of a trigger's seeds these are.
    pub seeding: Seeding,
    /// Counts and times; `count` is that of the chunks.
    pub add: AddTodo,
    /// The seeds, in at most [`PART_CHUNKS_MAX`](dragline_domain::frontier::PART_CHUNKS_MAX) chunks.
    pub chunks: Vec<TodoChunk>,
}

/// What became of seeding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeded {
    /// The seeds are in.
    Added,
    /// They were in already.
    Already,
    /// The iteration is over.
    IterationOver,
}

/// A page of candidates that are due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuePage {
    /// With their depths, in an order that stays: that of their paths, but for those too long for a store's keys. Those queued in this iteration by others than the cursor are left out.
    pub entries: Vec<(TodoEntry, u32)>,
    /// Where to go on.
    pub next: RecrawlCursor,
}

/// A segment to be committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSegment {
    /// The row; its token is the holder's.
    pub segment: SegmentRow,
    /// The holder's copy of the lease after it, `until` renewed, `segments` one more.
    pub lease: Lease,
    /// The chunks that it exhausts: they exist, and are deleted. At most
    /// [`EXHAUSTED_CHUNKS_MAX`](dragline_domain::frontier::EXHAUSTED_CHUNKS_MAX).
    pub exhausted: Vec<ChunkKey>,
}

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// It is committed, now or by an earlier try of which no answer came.
    Done,
    /// Another worker holds the lease.
    Fenced,
}

/// A lease to be let go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseLease {
    /// The origin.
    pub origin: OriginKey,
    /// The holder's token.
    pub token: LeaseToken,
    /// The holder's copy.
    pub lease: Lease,
    /// The inbox that the decision was made from.
    pub seen: Inbox,
    /// How.
    pub how: Release,
}

/// A part of a parse to be committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitParse {
    /// The segment.
    pub segment: SegmentId,
    /// The iteration.
    pub iteration: Iteration,
    /// The part's number.
    pub part_number: u32,
    /// Whether parts follow.
    pub kind: PartKind,
    /// The todo that it adds, origin by origin.
    pub part: ParsePart,
    /// The pace of origins that it opens for the first time.
    pub pace: Pace,
    /// What to add to the own inbox's counters; with the last part only.
    pub counters: ParserCounters,
    /// The time of now.
    pub now: Timestamp,
    /// When the sweeper looks whether a wake-up was missed.
    pub due: Timestamp,
}

/// What became of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseCommitted {
    /// It is in.
    Done,
    /// Another worker was here first.
    Refused(PartRefused),
    /// The iteration is over, or the segment is not known: nothing to be done.
    Over,
}

/// What became of settling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The origin is ready for this turn.
    Woken(Turn),
    /// It is closed.
    Closed,
    /// It is closed; this was left.
    ClosedWithLeftovers(Leftover),
    /// The rows changed since they were read: read again, decide again.
    Changed,
}

/// Why an origin is closed with what is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiveUp {
    /// The origin.
    pub origin: OriginKey,
    /// The iteration.
    pub iteration: Iteration,
    /// The state and turn that were seen; nothing is done if they changed.
    pub seen: OriginRows,
    /// Why.
    pub reason: LeftoverReason,
    /// The time of now: a lease that has not run out is left alone.
    pub now: Timestamp,
}

/// What became of closing an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IterationClosed {
    /// It closed now.
    Now(IterationRow),
    /// It was closed before.
    Before(IterationRow),
    /// Origins are open.
    NotYet(IterationRow),
}

/// Work that looks overdue. Only a hint: whoever acts on it reads the row again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Overdue {
    /// A lease that is ready or ran out: its ticket may be lost.
    Lease(OriginKey),
    /// An inbox with work owed: a wake-up or close may be missed.
    Inbox(OriginKey),
    /// A segment that is not parsed.
    Segment(SegmentId, Iteration),
    /// A scheduler's token that is still out.
    Token(CrawlId, Iteration),
}

/// How far an iteration is: the sums over its origins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Origins that take part.
    pub origins: u64,
    /// Those that are not closed.
    pub origins_open: u64,
    /// Todo URLs added.
    pub added: u64,
    /// Those consumed.
    pub taken: u64,
    /// Retries that wait.
    pub retries_waiting: u64,
    /// Segments committed.
    pub segments: u64,
    /// Those parsed.
    pub parsed: u64,
    /// What crawlers did.
    pub crawler: dragline_domain::frontier::CrawlerCounters,
    /// What parsers did.
    pub parser: ParserCounters,
    /// URLs left over, by reason.
    pub leftovers: Vec<(LeftoverReason, u64)>,
}

impl Progress {
    /// Adds what an origin's rows count.
    pub fn add_origin(&mut self, rows: &OriginRows) {
        let OriginRows { lease, inbox } = rows;
        self.origins += 1;
        self.origins_open += u64::from(lease.state != LeaseState::Closed);
        self.added += inbox.added;
        self.taken += lease.taken;
        self.retries_waiting += u64::try_from(lease.retries.len()).unwrap_or(u64::MAX);
        self.segments += lease.segments;
        self.parsed += inbox.parsed;
        self.crawler.requests += lease.counters.requests;
        self.crawler.pages += lease.counters.pages;
        self.crawler.retries += lease.counters.retries;
        self.crawler.body_bytes += lease.counters.body_bytes;
        self.parser.add(&inbox.counters);
    }

    /// URLs with a final outcome.
    #[must_use]
    pub fn finished(&self) -> u64 {
        self.parser.outcomes.values().sum()
    }

    /// URLs that wait to be fetched.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.added.saturating_sub(self.taken) + self.retries_waiting
    }

    /// How many ended so.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.parser.outcomes.get(&outcome).copied().unwrap_or(0)
    }
}

/// robots.txt as kept for an origin.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsRow {
    /// What was got, and what it means.
    pub record: RobotsRecord,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// When it is to be fetched again.
    pub expires_at: Timestamp,
}

/// The store of everything but bodies and documents.
pub trait Frontier: Send + Sync {
    /// Stores a crawl's definition as the version after the one that was seen, and switches the crawl on. Origins that joined stay.
    /// Trying again is success.
    fn put_crawl(&self, put: &PutCrawl) -> impl Future<Output = PortResult<CrawlPut>> + Send;

    /// A crawl's definition; `None` if there is no such crawl.
    fn load_crawl(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Option<CrawlRow>>> + Send;

    /// Adds an origin to those that joined a crawl's scope. Idempotent.
    fn join_origin(&self, crawl: &CrawlId, origin: &Origin) -> impl Future<Output = PortResult<()>> + Send;

    /// Switches a crawl off, so that nothing of it comes due until a definition is put again. Idempotent, also where there is no such crawl.
    fn switch_off(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<()>> + Send;

    /// The crawls whose schedule calls for an iteration by now, at most `limit`. Only a hint, and it may lag.
    fn due_crawls(&self, now: Timestamp, limit: usize) -> impl Future<Output = PortResult<Vec<CrawlId>>> + Send;

    /// Passes a schedule's time on, if it is still the one that was seen. Does nothing otherwise.
    fn move_schedule(&self, passed: &MoveSchedule) -> impl Future<Output = PortResult<()>> + Send;

    /// The crawls with an iteration that is not closed, those that began first before others, at most `limit`. Only a hint, and it may lag.
    fn running_crawls(&self, limit: usize) -> impl Future<Output = PortResult<Vec<CrawlId>>> + Send;

    /// Notes that what a trigger asked for was done. Idempotent; a trigger that began an iteration keeps it.
    fn mark_handled(
        &self,
        crawl: &CrawlId,
        trigger: &TriggerId,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<()>> + Send;

    /// Whether what a trigger asked for was done, as [`Frontier::mark_handled`] noted. One that began an iteration may still owe seeds, and
    /// counts only once that was noted.
    fn was_handled(&self, crawl: &CrawlId, trigger: &TriggerId) -> impl Future<Output = PortResult<bool>> + Send;

    /// Begins the next iteration once per trigger. While an iteration runs that another trigger began, that one is told instead.
    fn begin_iteration(&self, begin: &BeginIteration) -> impl Future<Output = PortResult<Begun>> + Send;

    /// The newest iteration of a crawl; `None` before the first.
    fn latest_iteration(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// One iteration.
    fn load_iteration(
        &self,
        crawl: &CrawlId,
        number: Iteration,
    ) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// Returns the scheduler's token. Idempotent.
    fn return_token(&self, crawl: &CrawlId, number: Iteration) -> impl Future<Output = PortResult<()>> + Send;

    /// Pauses, resumes or stops. `None` where that does not fit the iteration's status.
    fn change_status(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        change: StatusChange,
    ) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// Closes an iteration whose count of open origins is zero.
    fn close_iteration(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<IterationClosed>> + Send;

    /// Claims URLs, each on its own; the answers stand in the order of the request. Idempotent for the same claimer.
    fn claim(&self, request: &ClaimRequest) -> impl Future<Output = PortResult<Vec<Claim>>> + Send;

    /// Adds seeds to an origin, once, and opens it. More chunks than a transaction puts are an error of kind `TooLarge`.
    fn seed_origin(&self, seed: &SeedOrigin) -> impl Future<Output = PortResult<Seeded>> + Send;

    /// The origins of a crawl, in order, after `after`, at most `limit`.
    fn list_origins(
        &self,
        crawl: &CrawlId,
        after: Option<&Origin>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<Origin>>> + Send;

    /// The rows of an origin, read consistently; `None` if it was never opened.
    fn load_origin(&self, origin: &OriginKey) -> impl Future<Output = PortResult<Option<OriginRows>>> + Send;

    /// robots.txt as kept; `None` if it was never fetched.
    fn load_robots(&self, origin: &OriginKey) -> impl Future<Output = PortResult<Option<RobotsRow>>> + Send;

    /// Keeps robots.txt, in place of what was kept. What was fetched earlier than that is ignored: a holder that slept may come late.
    fn put_robots(&self, origin: &OriginKey, robots: &RobotsRow) -> impl Future<Output = PortResult<()>> + Send;

    /// Takes the lease of an origin's turn, or takes it over.
    fn take_lease(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        take: &Take,
    ) -> impl Future<Output = PortResult<Result<Lease, TakeRefused>>> + Send;

    /// A chunk by its key; `None` if it is exhausted.
    fn load_chunk(
        &self,
        origin: &OriginKey,
        key: &ChunkKey,
    ) -> impl Future<Output = PortResult<Option<TodoChunk>>> + Send;

    /// The first chunk of an iteration in the order of their keys that is not among `skip`; `None` if there is none.
    fn first_chunk(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        skip: &[ChunkKey],
    ) -> impl Future<Output = PortResult<Option<TodoChunk>>> + Send;

    /// The next candidates that an earlier iteration left and that are due, at most `limit`. May lag: each is claimed before it is fetched.
    /// Only the page's `next` says whether there are more. A cursor after any of the paths is good.
    fn due_candidates(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        cursor: &RecrawlCursor,
        now: Timestamp,
        limit: usize,
    ) -> impl Future<Output = PortResult<DuePage>> + Send;

    /// Commits a segment: its row, the lease after it, the chunks that it exhausts. Trying again is success. More chunks than a
    /// transaction deletes are an error of kind `TooLarge`.
    fn commit_segment(&self, commit: &CommitSegment) -> impl Future<Output = PortResult<Committed>> + Send;

    /// Lets go of a lease.
    fn release(&self, release: &ReleaseLease) -> impl Future<Output = PortResult<Result<(), ReleaseRefused>>> + Send;

    /// A segment; `None` if there is none of this key.
    fn load_segment(&self, id: &SegmentId) -> impl Future<Output = PortResult<Option<SegmentRow>>> + Send;

    /// Counts one more attempt at parsing a segment and returns its row; `None` if there is none.
    fn begin_parse(&self, id: &SegmentId) -> impl Future<Output = PortResult<Option<SegmentRow>>> + Send;

    /// Puts the log of a segment once; later tries change nothing.
    fn put_log(&self, log: &SegmentLog) -> impl Future<Output = PortResult<()>> + Send;

    /// Updates candidates of one origin, each unless it holds something newer.
    fn update_candidates(
        &self,
        origin: &OriginKey,
        updates: &[CandidateUpdate],
    ) -> impl Future<Output = PortResult<()>> + Send;

    /// Commits one part of a parse.
    fn commit_parse(&self, commit: &CommitParse) -> impl Future<Output = PortResult<ParseCommitted>> + Send;

    /// Does to an idle origin what [`dragline_domain::frontier::settle`] said of these rows, if they are still so.
    /// `seen` must be idle and not to `Wait`; it is decided again inside.
    fn settle(&self, origin: &OriginKey, seen: &OriginRows) -> impl Future<Output = PortResult<Settled>> + Send;

    /// Closes an origin with what is left: after a stop, or when the budget is spent. Needs every segment parsed.
    fn give_up(&self, give_up: &GiveUp) -> impl Future<Output = PortResult<Settled>> + Send;

    /// Work that is due by then, at most `limit`. Only a hint, and it may lag; inboxes of origins that are not idle may be among it.
    fn overdue(
        &self,
        crawl: &CrawlId,
        due_by: Timestamp,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<Overdue>>> + Send;

    /// Looks at overdue work again at `due`, not before: it was just sent again. Does nothing if the work is no longer owed.
    fn postpone(&self, work: &Overdue, due: Timestamp) -> impl Future<Output = PortResult<()>> + Send;

    /// The sums over an iteration's origins. May lag.
    fn progress(&self, crawl: &CrawlId, iteration: Iteration) -> impl Future<Output = PortResult<Progress>> + Send;
}
