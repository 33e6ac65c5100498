//! Frontiers with one defect each.

mod defects;
#[macro_use]
mod work;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dragline_domain::capture::SegmentLog;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::*;
use dragline_domain::ids::{CrawlId, Iteration, ParseToken, TriggerId, Turn};
use dragline_domain::lastmod::PageTimes;
use dragline_domain::url::{DomainKey, HostKey, Origin};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::*;
use jiff::Timestamp;

use super::{Mutant, mutants, spoil, spoil_each};
use defects::{add_again, blank, far_ahead, never_ended, taken};

/// A frontier with one defect, or with none.
pub type MutantFrontier<F> = Mutant<F, FrontierMutation>;

with_mutants_of_work! {
    this,
    /// What is wrong with a frontier.
    FrontierMutation, for F, |this| this.inner;
    Crawls<F: Frontier> {
        fn put_crawl(put: &PutCrawl) -> CrawlPut;
            - DefinitionKeptFirst: "an existing definition is not replaced" {
                let stored = this.inner.load_crawl(&put.definition.name).await?;
                if let Some(row) = stored { return Ok(CrawlPut::Stored(row.version + 1)) }
            };
            - DefinitionPutBlindly: "a definition is put over any version" {
                let seen = this.inner.load_crawl(&put.definition.name).await?.map(|row| row.version);
                let put = &PutCrawl { seen, ..put.clone() };
            };
        fn load_crawl(crawl: &CrawlId) -> Option<CrawlRow>;
            - OffForgotten: "a crawl that was switched off is read as one that is on"
                but |row| if let Some(row) = &mut row && row.switch == Switch::Off {
                    row.switch = Switch::On { next: None };
                };
        fn load_definition(crawl: &CrawlId, version: u32) -> Option<Definition>;
            - PastDefinitionsForgotten: "any version of a definition that is asked for is the newest one"
                => Ok(this.inner.load_crawl(crawl).await?.map(|row| row.definition));
        fn load_stamp(crawl: &CrawlId) -> Option<CrawlStamp>;
            - JoinedForgotten: "a new version forgets the origins that joined"
                but |stamp| if let Some(stamp) = &mut stamp && stamp.version > 1 { stamp.joined = 0 };
        fn load_joined(crawl: &CrawlId, places: Range<u64>) -> Vec<Origin>;
            - JoinedFromTheBeginning: "who joined is read from the beginning, not from a place on"
                { let places = 0..places.end; };
        fn join_origins(join: &JoinOrigins) -> OriginsJoined;
            - JoinedBlindly: "origins join whoever joined meanwhile" {
                let seen = this.inner.load_stamp(&join.crawl).await?.map_or(join.seen, |stamp| stamp.joined);
                let join = &JoinOrigins { seen, ..join.clone() };
            };
        fn switch_off(crawl: &CrawlId) -> ();
            - SwitchedOffStillDue: "a crawl that was switched off comes due" => Ok(());
        fn due_crawls(now: Timestamp, limit: usize) -> Vec<CrawlId>;
            - CrawlsDueTooEarly: "a crawl is due a day early" { let now = far_ahead(now); };
        fn move_schedule(passed: &MoveSchedule) -> ();
            - ScheduleMovedBlindly: "a schedule is advanced from any time" {
                let row = this.inner.load_crawl(&passed.crawl).await?;
                let seen = row.and_then(|row| row.switch.next()).unwrap_or(passed.seen);
                let passed = &MoveSchedule { seen, ..passed.clone() };
            };
        fn running_crawls(limit: usize) -> Vec<CrawlId>;
            - NothingRuns: "no crawl is ever listed as running" => Ok(Vec::new());
        fn mark_handled(crawl: &CrawlId, trigger: &TriggerId, now: Timestamp) -> ();
            - HandledForgotten: "a trigger is not recorded as handled" => Ok(());
        fn was_handled(crawl: &CrawlId, trigger: &TriggerId) -> bool;
    }
    Iterations<F: Frontier> {
        fn begin_iteration(begin: &BeginIteration) -> IterationBegun;
            - OldTriggerGetsNewest: "a repeated trigger gets the newest iteration, not its own" => {
                let begun = this.inner.begin_iteration(begin).await?;
                let newest = this.inner.latest_iteration(&begin.crawl).await?;
                Ok(if let (IterationBegun::Iteration(_), Some(row)) = (&begun, newest) { IterationBegun::Iteration(row) } else { begun })
            };
            - BusyIsOwn: "a trigger that arrives during another's iteration gets that iteration"
                but |begun| if let IterationBegun::Busy(row) = begun { begun = IterationBegun::Iteration(row) };
        fn latest_iteration(crawl: &CrawlId) -> Option<IterationRow>;
        fn load_iteration(crawl: &CrawlId, number: Iteration) -> Option<IterationRow>;
            - OriginsNotCounted: "the origins that were opened in an iteration are not counted"
                but |row| row.iter_mut().for_each(|row| row.origins = 0);
        fn return_token(crawl: &CrawlId, number: Iteration) -> ();
            - TokenNotReturned: "the scheduler's token is never returned" => Ok(());
        fn move_cursor(moved: &MoveCursor) -> CursorMoved;
            - CursorStays: "a cursor is reported as moved but is not" => Ok(CursorMoved::Moved);
            - CursorAhead: "the first move of a cursor takes it to the end" {
                let to = if moved.to.is_not_begun() { OriginCursor::NotBegun } else { OriginCursor::Done };
                let moved = &MoveCursor { to, ..moved.clone() };
            };
            - CursorMovedBlindly: "a cursor is moved from anywhere" {
                let cursor = this.cursor(&moved.crawl, moved.iteration, moved.walk).await?;
                let moved = &MoveCursor { seen: cursor.unwrap_or_else(|| moved.seen.clone()), ..moved.clone() };
            };
            - RepeatedMoveRefused: "a repeated move is refused" {
                let cursor = this.cursor(&moved.crawl, moved.iteration, moved.walk).await?;
                if cursor.as_ref() == Some(&moved.to) { return Ok(CursorMoved::Elsewhere) }
            };
        fn change_status(crawl: &CrawlId, number: Iteration, change: StatusChange) -> Option<IterationRow>;
            - StatusNotChecked: "a change of status that does not fit is reported as done" => {
                this.inner.change_status(crawl, number, change).await?;
                this.inner.load_iteration(crawl, number).await
            };
        fn close_iteration(crawl: &CrawlId, number: Iteration, now: Timestamp) -> IterationClosed;
            - EndNotOwed: "the close of an iteration stores no notice" => {
                let closed = this.inner.close_iteration(crawl, number, now).await?;
                if let IterationClosed::Now(row) = &closed {
                    this.inner.forget_notice(&OwedNotice::iteration_closed(row, now)).await?;
                }
                Ok(closed)
            };
            - ClosedWithOpenOrigins: "an iteration with open origins is reported as closed"
                but |closed| if let IterationClosed::NotYet(row) = closed {
                    closed = IterationClosed::Now(row);
                };
        fn progress(crawl: &CrawlId, iteration: Iteration) -> Progress;
            also RepeatedCommitCounted but |progress| progress.segments += this.calls.load(Ordering::Relaxed);
            - ParsersNotSummed: "the parsers' counts are left out of the sums"
                but |progress| progress.parser = ParserCounters::default();
            - LeftoversForgotten: "leftovers are left out of the sums" but |progress| progress.leftovers.clear();
            - PastCountsForgotten: "what an iteration counted is forgotten when the next one begins" {
                let newest = this.inner.latest_iteration(crawl).await?;
                if newest.is_some_and(|row| row.number != iteration) { return Ok(Progress::default()) }
            };
    }
    Origins<F: Frontier> {
        fn seed_origin(seed: &SeedOrigin) -> SeedResult;
            - SeedsAddedAgain: "a trigger's seeds are added each time they arrive" {
                let seeding = Seeding::new(&TriggerId(this.fresh().to_string()), 0);
                let chunks = spoil_each(&seed.chunks, |chunk| chunk.key.source = TodoSource::seeds(&seeding));
                let seed = &SeedOrigin { seeding, chunks, ..seed.clone() };
            };
            - SeedsCut: "seeds that do not fit the transaction are dropped"
                { let seed = &spoil(seed.clone(), |seed| seed.chunks.truncate(PART_CHUNKS_MAX)); };
        fn list_origins(crawl: &CrawlId, after: Option<&Origin>, limit: usize) -> Vec<Origin>;
            - ListDropsLast: "a full page of origins lacks its last one" but |origins| origins.truncate(limit - 1);
        fn load_origin(origin: &OriginKey) -> Option<OriginRows>;
            - DueNeverCleared: "an inbox never stops being due"
                but |rows| if let Some(OriginRows { inbox, .. }) = &mut rows {
                    inbox.due.get_or_insert(Timestamp::UNIX_EPOCH);
                };
            - RetriesCut: "a lease keeps only eight retries"
                but |rows| rows.iter_mut().for_each(|rows| rows.lease.retries.truncate(8));
        fn load_inbox(origin: &OriginKey) -> Option<Inbox>;
    }
    Candidates<F: Frontier> {
        fn claim(request: &ClaimRequest) -> Vec<Claim>;
            - ClaimAlwaysOwn: "a URL that another claimer queued is reported as own"
                but |claims| taken(&mut claims).for_each(|it| *it = Claim::Own { known: UrlHistory::default() });
            - ClaimerMistaken: "the wrong claimer of a URL is reported"
                but |claims| taken(&mut claims).for_each(|claim| {
                    *claim = Claim::Taken { by: Claimer::recrawl(), found_at: None };
                });
            - ClaimForgotten: "a repeated claim is not recognised" {
                let claimer = Claimer::from_stored(this.fresh().to_string());
                let request = &ClaimRequest { claimer, ..request.clone() };
            };
            - ShorterWayIgnored: "a shorter way is ignored"
                { let request = &ClaimRequest { shorter_ways: ShorterWays::Ignored, ..request.clone() }; };
            - ClaimBeforeDue: "a URL is claimed before it is due"
                { let request = &ClaimRequest { claimable: Claimable::All, ..request.clone() }; };
            - LongPathsCut: "paths are cut at the length of a sort key" {
                let urls = spoil_each(&request.urls, |(path, _)| path.truncate(1_024));
                let request = &ClaimRequest { urls, ..request.clone() };
            };
        fn nearer(origin: &OriginKey, iteration: Iteration, paths: &[String]) -> Vec<Option<ShorterWayState>>;
            - ShorterWayUnvisited: "no visit of a URL is known where a shorter way was found"
                but |found| found.iter_mut().flatten().for_each(|nearer| nearer.has_ended = false);
        fn page_times(origin: &OriginKey, paths: &[String]) -> Vec<Option<PageTimes>>;
            - ChangesUnknown: "nobody knows when a page changed"
                but |times| times.iter_mut().flatten().for_each(|times| times.changed_at = None);
        fn due_candidates(origin: &OriginKey, query: &DueQuery, after: &str, limit: usize) -> DuePage;
            - CursorTakesQueued: "the cursor returns what is queued in this iteration"
                { let query = &DueQuery { iteration: query.iteration.next(), ..*query }; };
            - CursorBeforeDue: "the cursor returns what is not due"
                { let query = &DueQuery { now: far_ahead(query.now), ..*query }; };
            - CursorIgnoresPasses: "a pass through candidates selects what any pass selects"
                { let query = &DueQuery { pass: Pass::All, ..*query }; };
            - CursorIgnoresRules: "a pass does not know which rules are in force"
                { let query = &DueQuery { rules: RulesDigest(0), ..*query }; };
            - CursorLost: "the cursor ends after one page" but |page| page.next = None;
            - CursorLooksNotAhead: "a pass does not tell what later passes visit"
                but |page| page.ahead = LaterCandidates::default();
        fn update_candidates(origin: &OriginKey, updates: &[CandidateUpdate]) -> ();
            - UpdateGoesBack: "a late update overwrites a newer one" {
                let updates = &spoil_each(updates, |update| {
                    update.iteration = Iteration::new(99).unwrap_or(update.iteration);
                    update.turn = Turn(this.fresh());
                });
            };
            - CaptureErased: "an update without a capture erases the last capture" {
                let updates = &spoil_each(updates, |update| if let Some(ended) = &mut update.ended {
                    ended.capture = ended.capture.take().or_else(|| Some(blank(ended)));
                });
            };
            - CaptureRedated: "the last capture is dated by the last visit, which may have found it unchanged" {
                let updates = &spoil_each(updates, |update| if let Some(ended) = &mut update.ended {
                    ended.capture.iter_mut().for_each(|capture| capture.fetched_at = ended.at);
                });
            };
            - HiddenForgotten: "what a visit changes in what is shown is lost"
                { let updates = &spoil_each(updates, |update| update.state = StateChange::Kept); };
            - ReparseEnds: "a document that is made again counts as a visit" {
                let updates = &spoil_each(updates, |update| _ = update.ended.get_or_insert_with(never_ended));
            };
        fn add_namers(origin: &OriginKey, named: &[NamersUpdate]) -> ();
    }
    KeptRobots<F: Frontier> {
        fn load_robots(origin: &OriginKey) -> Option<RobotsRow>;
        fn put_robots(origin: &OriginKey, robots: &RobotsRow) -> ();
            - RobotsKeptFirst: "the first robots.txt is kept for good"
                { if this.inner.load_robots(origin).await?.is_some() { return Ok(()) } };
            - RobotsNotKept: "robots.txt is not kept" => Ok(());
            - RobotsGoBack: "the robots.txt put last is kept, whenever it was fetched" {
                let kept = this.inner.load_robots(origin).await?;
                let fetched_at = kept.map_or(robots.fetched_at, |kept| kept.fetched_at.max(robots.fetched_at));
                let robots = &RobotsRow { fetched_at, ..robots.clone() };
            };
            - RobotsOfTheFutureKept: "a robots.txt fetched by a clock that was ahead stays until that time has come" {
                let kept = this.inner.load_robots(origin).await?;
                if kept.is_some_and(|kept| kept.fetched_at > robots.fetched_at) { return Ok(()) }
            };
    }
    CrawlLog<F: Frontier> {
        fn put_log(log: &Arc<SegmentLog>) -> ();
            - RepeatedLogRefused: "a repeated log is refused" {
                if this.fresh() > 0 {
                    return Err(PortError::new(PortErrorKind::Other, "put log", &log.segment, "it already exists"));
                }
            };
            - EmptyLogNotPut: "a log without entries is not put" { if log.entries.is_empty() { return Ok(()) } };
            - LogCut: "a log is cut after a hundred entries"
                { let log = &Arc::new(spoil(SegmentLog::clone(log), |log| log.entries.truncate(100))); };
    }
    OverdueWork<F: Frontier> {
        fn overdue(crawl: &CrawlId, due_by: Timestamp, kinds: OverdueKinds, limit: usize) -> Vec<Overdue>;
            - LeasesHideTheRest: "leases are listed as overdue where they were not asked for"
                { let kinds = OverdueKinds::All; };
            - OriginsHideLostParses: "origins and segments share their room among the overdue work"
                but |work| work.truncate(limit);
            - SegmentsNeverOverdue: "unparsed segments are never overdue"
                but |work| work.retain(|work| !matches!(work, Overdue::Segment(..)));
        fn postpone(work: &Overdue, due: Timestamp) -> ();
            - PostponeForgotten: "postponed work keeps its old due time" => Ok(());
    }
    OwedNotices<F: Frontier> {
        fn owe_notice(owed: &OwedNotice) -> NoticeKept;
            - NoticeForgotten: "a notice is reported as kept but is not" => Ok(NoticeKept::Kept);
            - NoticesPileUp: "each notice gets a new key, so that they pile up" {
                let key = NoticeKey::from_stored(format!("{}#{}", owed.key, this.fresh()));
                let owed = &OwedNotice { key, ..owed.clone() };
            };
        fn owed_notices(due_by: Timestamp, limit: usize) -> Vec<OwedNotice>;
            - NoticesDueTooEarly: "a notice is due a day early" { let due_by = far_ahead(due_by); };
        fn postpone_notice(owed: &OwedNotice, due: Timestamp) -> ();
            - NoticePostponeForgotten: "a postponed notice keeps its old due time" => Ok(());
            - ToldNoticeComesBack: "postponing a notice that was sent brings it back"
                => this.inner.owe_notice(&OwedNotice { due, ..owed.clone() }).await.map(drop);
        fn mark_told(crawl: &CrawlId, fact: &Fact, now: Timestamp) -> NoticeState;
            - ToldAgain: "everybody who marks a fact as told is the first" => Ok(NoticeState::Now);
            - ToldOfAnyCrawl: "what one crawl told is told for all" { let crawl = &CrawlId::default(); };
        fn forget_notice(owed: &OwedNotice) -> ();
            - ToldNoticeStays: "a notice that was sent is still due" => Ok(());
    }
}
