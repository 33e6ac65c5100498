//! The frontier: who works on what, what is known, what is left to do.
//!
//! Each operation is one commit point: either all of its effects are there or none. `docs/frontier-dynamodb.md` gives each one as
//! DynamoDB expressions. Reads that decide are consistent; [`Frontier::overdue`] alone is a hint.

mod claims;
mod crawls;
mod endings;
mod notices;
mod parses;
mod progress;
mod turns;

use std::future::Future;

use dragline_domain::capture::SegmentLog;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::{
    Blame, CandidateUpdate, ChunkKey, Claim, DomainRow, HostAsk, HostRow, Inbox, IterationRow, Lease, OriginKey,
    OriginRows, RecrawlCursor, ReleaseRefused, SegmentId, SegmentRow, StatusChange, Take, TakeRefused, TodoChunk,
};
use dragline_domain::ids::{CrawlId, Iteration, ParseToken, TriggerId};
use dragline_domain::url::{DomainKey, HostKey, Origin};
use jiff::Timestamp;

use super::error::PortResult;
pub use claims::{ClaimRequest, DuePage, SeedOrigin, Seeded};
pub use crawls::{
    BeginIteration, Begun, CrawlPut, CrawlRow, CursorMoved, IterationClosed, MoveCursor, MoveSchedule, PutCrawl,
};
pub use endings::{GiveUp, Overdue, OverdueKinds, Settled};
pub use notices::{NoticeKept, NoticeKey, OwedNotice};
pub use parses::{BeginParse, CommitParse, ParseCommitted};
pub use progress::Progress;
pub use turns::{CommitSegment, Committed, GiveBackHost, ReleaseLease, RobotsRow};

/// The store of everything but bodies and documents.
pub trait Frontier: Send + Sync {
    /// Stores a crawl's definition as the version after the one that was seen, which is kept beside it, and switches the crawl on. Origins that
    /// joined stay. Trying again is success.
    fn put_crawl(&self, put: &PutCrawl) -> impl Future<Output = PortResult<CrawlPut>> + Send;

    /// A crawl's definition; `None` if there is no such crawl.
    fn load_crawl(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Option<CrawlRow>>> + Send;

    /// A definition as it was stored as this version; `None` if it never was.
    fn load_definition(
        &self,
        crawl: &CrawlId,
        version: u32,
    ) -> impl Future<Output = PortResult<Option<Definition>>> + Send;

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

    /// Moves a cursor of an iteration, if it is where it was seen. Trying again is success.
    fn move_cursor(&self, moved: &MoveCursor) -> impl Future<Output = PortResult<CursorMoved>> + Send;

    /// Pauses, resumes or stops. `None` where that does not fit the iteration's status.
    fn change_status(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        change: StatusChange,
    ) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// Closes an iteration whose count of open origins is zero, and owes people the notice of it: [`OwedNotice::of_closed`].
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

    /// The inbox of an origin alone, read consistently, for who holds its lease: half of what both rows cost. `None` if it was never opened.
    fn load_inbox(&self, origin: &OriginKey) -> impl Future<Output = PortResult<Option<Inbox>>> + Send;

    /// robots.txt as kept; `None` if it was never fetched.
    fn load_robots(&self, origin: &OriginKey) -> impl Future<Output = PortResult<Option<RobotsRow>>> + Send;

    /// Keeps robots.txt, in place of what was kept. What was fetched earlier than that is ignored, as a holder that slept may come late; unless what is
    /// kept is so much later that the clock was set back since ([`is_set_back`](dragline_domain::time::is_set_back)).
    fn put_robots(&self, origin: &OriginKey, robots: &RobotsRow) -> impl Future<Output = PortResult<()>> + Send;

    /// Takes the lease of an origin's turn with its host and a place in the host's domain, or takes it over. Where the host is busy, or the domain
    /// has no place left, the turn stands in line there.
    fn take_lease(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        take: &Take,
    ) -> impl Future<Output = PortResult<Result<Lease, TakeRefused>>> + Send;

    /// A host's row, read consistently; `None` if nobody asked it yet.
    fn load_host(&self, host: &HostKey) -> impl Future<Output = PortResult<Option<HostRow>>> + Send;

    /// A registered domain's row, read consistently; `None` if nobody asked a host of it yet.
    fn load_domain(&self, domain: &DomainKey) -> impl Future<Output = PortResult<Option<DomainRow>>> + Send;

    /// Takes a host, and a place in its domain, for a request that no lease of it covers, or stands in line for it: then it says when to try again. Trying again with
    /// the same token is success.
    fn take_host(
        &self,
        host: &HostKey,
        ask: &HostAsk,
    ) -> impl Future<Output = PortResult<Result<HostRow, Timestamp>>> + Send;

    /// Gives such a host back. Does nothing if another has it by now.
    fn give_back_host(&self, back: &GiveBackHost) -> impl Future<Output = PortResult<()>> + Send;

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

    /// Lets go of a lease, and of the host and the place in its domain if they were not lost since.
    fn release(&self, release: &ReleaseLease) -> impl Future<Output = PortResult<Result<(), ReleaseRefused>>> + Send;

    /// A segment; `None` if there is none of this key.
    fn load_segment(&self, id: &SegmentId) -> impl Future<Output = PortResult<Option<SegmentRow>>> + Send;

    /// Notes that a parse of a segment begins, and returns its row; `None` if there is none. A parse that was begun earlier and whose time is
    /// over counts as one that died. While another has time left, and where it is parsed, nothing is noted.
    fn begin_parse(&self, begin: &BeginParse) -> impl Future<Output = PortResult<Option<SegmentRow>>> + Send;

    /// Gives back a parse that was begun: it did not die. Does nothing if it is not the one that is noted.
    fn give_back_parse(
        &self,
        id: &SegmentId,
        token: &ParseToken,
        blame: Blame,
    ) -> impl Future<Output = PortResult<()>> + Send;

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

    /// Work of these kinds that is due by then, the longest due first, at most `limit`. Only a hint, and it may lag; inboxes of origins that are not idle may be among it.
    fn overdue(
        &self,
        crawl: &CrawlId,
        due_by: Timestamp,
        kinds: OverdueKinds,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<Overdue>>> + Send;

    /// Looks at overdue work again at `due`, not before: it was just sent again. Does nothing if the work is no longer owed.
    fn postpone(&self, work: &Overdue, due: Timestamp) -> impl Future<Output = PortResult<()>> + Send;

    /// Keeps a notice until people were told. One that has its place already stays.
    fn owe_notice(&self, owed: &OwedNotice) -> impl Future<Output = PortResult<NoticeKept>> + Send;

    /// The notices of all crawls that are due by then, the longest due first, at most `limit`. Only a hint, and it may lag.
    fn owed_notices(&self, due_by: Timestamp, limit: usize)
    -> impl Future<Output = PortResult<Vec<OwedNotice>>> + Send;

    /// Tries an owed notice again at `due`, not before. Does nothing if it is no longer owed.
    fn postpone_notice(&self, owed: &OwedNotice, due: Timestamp) -> impl Future<Output = PortResult<()>> + Send;

    /// Forgets a notice: people were told. Idempotent.
    fn forget_notice(&self, owed: &OwedNotice) -> impl Future<Output = PortResult<()>> + Send;

    /// The sums over an iteration's origins. May lag.
    fn progress(&self, crawl: &CrawlId, iteration: Iteration) -> impl Future<Output = PortResult<Progress>> + Send;
}
