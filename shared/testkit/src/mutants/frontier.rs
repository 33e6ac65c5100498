//! Frontiers with one defect each.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dragline_domain::capture::SegmentLog;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::{
    Blame, CandidateUpdate, ChunkKey, Claim, Claimer, DomainRow, EXHAUSTED_CHUNKS_MAX, Holder, HostAsk, HostRow, Inbox,
    IterationRow, LastCapture, Lease, LeaseState, OriginCursor, OriginKey, OriginRows, PART_CHUNKS_MAX, ParserCounters,
    PartRefused, RecrawlCursor, ReleaseRefused, Reserve, Seeding, SegmentId, SegmentRow, SegmentState, StatusChange,
    Take, TakeRefused, TodoChunk, TodoSource, Walk,
};
use dragline_domain::ids::{CrawlId, Iteration, ParseToken, TriggerId, Turn};
use dragline_domain::time::after;
use dragline_domain::url::{DomainKey, HostKey, Origin};
use dragline_pipeline::ports::error::{PortError, PortErrorKind, PortResult};
use dragline_pipeline::ports::frontier::{
    BeginIteration, BeginParse, Begun, ClaimRequest, CommitParse, CommitSegment, Committed, CrawlPut, CrawlRow,
    CursorMoved, DuePage, Frontier, GiveBackHost, GiveUp, IterationClosed, MoveCursor, MoveSchedule, NoticeKept,
    NoticeKey, Overdue, OverdueKinds, OwedNotice, ParseCommitted, Progress, PutCrawl, ReleaseLease, RobotsRow,
    SeedOrigin, Seeded, Settled,
};
use jiff::Timestamp;

use super::FrontierMutation;
use super::FrontierMutation as M;

/// A frontier with one defect, or with none.
#[derive(Debug)]
pub struct MutantFrontier<F> {
    inner: F,
    mutation: Option<FrontierMutation>,
    calls: AtomicU64,
}

impl<F: Frontier> MutantFrontier<F> {
    /// Spoils a frontier, or leaves it as it is.
    #[must_use]
    pub fn new(inner: F, mutation: impl Into<Option<FrontierMutation>>) -> Self {
        Self { inner, mutation: mutation.into(), calls: AtomicU64::new(0) }
    }

    fn is(&self, mutation: FrontierMutation) -> bool {
        self.mutation == Some(mutation)
    }

    /// A number that was not given before.
    fn fresh(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether nobody holds the host of an origin.
    async fn is_free(&self, origin: &OriginKey) -> PortResult<bool> {
        let row = self.inner.load_host(&HostKey::of(&origin.origin)).await?;
        Ok(row.is_none_or(|row| row.holder.is_none()))
    }

    /// How far the search for holders came.
    async fn search(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<Option<OriginCursor>> {
        let row = self.inner.load_iteration(crawl, iteration).await?;
        Ok(row.map(|row| row.cursors.of(Walk::Holders).clone()))
    }

    /// Who holds an origin now.
    async fn holder(&self, origin: &OriginKey) -> PortResult<Option<Holder>> {
        let rows = self.inner.load_origin(origin).await?;
        Ok(rows.and_then(|rows| rows.lease.holder().cloned()))
    }
}

/// Doubles todo, under keys of its own.
fn add_again(chunks: &mut Vec<TodoChunk>) {
    let mut again = chunks.clone();
    again.iter_mut().for_each(|chunk| chunk.key.part += 1_000);
    chunks.extend(again);
}

/// A time after every lease.
fn far_ahead(now: Timestamp) -> Timestamp {
    after(now, Duration::from_hours(24))
}

impl<F: Frontier> Frontier for MutantFrontier<F> {
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
        let mut row = self.inner.load_crawl(crawl).await?;
        if self.is(M::JoinedForgotten)
            && let Some(row) = row.as_mut().filter(|row| row.version > 1)
        {
            row.joined.clear();
        }
        Ok(row)
    }

    async fn load_definition(&self, crawl: &CrawlId, version: u32) -> PortResult<Option<Definition>> {
        if self.is(M::PastDefinitionsForgotten) {
            return Ok(self.inner.load_crawl(crawl).await?.map(|row| row.definition));
        }
        self.inner.load_definition(crawl, version).await
    }

    async fn join_origin(&self, crawl: &CrawlId, origin: &Origin) -> PortResult<()> {
        self.inner.join_origin(crawl, origin).await
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

    async fn begin_iteration(&self, begin: &BeginIteration) -> PortResult<Begun> {
        Ok(match self.inner.begin_iteration(begin).await? {
            Begun::Busy(row) if self.is(M::BusyIsOwn) => Begun::Iteration(row),
            Begun::Iteration(row) if self.is(M::OldTriggerGetsNewest) => {
                Begun::Iteration(self.inner.latest_iteration(&begin.crawl).await?.unwrap_or(row))
            }
            begun => begun,
        })
    }

    async fn latest_iteration(&self, crawl: &CrawlId) -> PortResult<Option<IterationRow>> {
        self.inner.latest_iteration(crawl).await
    }

    async fn load_iteration(&self, crawl: &CrawlId, number: Iteration) -> PortResult<Option<IterationRow>> {
        self.inner.load_iteration(crawl, number).await
    }

    async fn return_token(&self, crawl: &CrawlId, number: Iteration) -> PortResult<()> {
        if self.is(M::TokenNotReturned) { Ok(()) } else { self.inner.return_token(crawl, number).await }
    }

    async fn move_cursor(&self, moved: &MoveCursor) -> PortResult<CursorMoved> {
        let mut moved = moved.clone();
        match self.mutation {
            Some(M::CursorStays) => return Ok(CursorMoved::Moved),
            Some(M::CursorAhead) if !moved.to.is_not_begun() => moved.to = OriginCursor::Done,
            Some(M::CursorMovedBlindly) => {
                let row = self.inner.load_iteration(&moved.crawl, moved.iteration).await?;
                moved.seen = row.map_or(moved.seen, |row| row.cursors.of(moved.walk).clone());
            }
            Some(M::RepeatedMoveRefused) => {
                let row = self.inner.load_iteration(&moved.crawl, moved.iteration).await?;
                if row.is_some_and(|row| *row.cursors.of(moved.walk) == moved.to) {
                    return Ok(CursorMoved::Elsewhere);
                }
            }
            _ => {}
        }
        self.inner.move_cursor(&moved).await
    }

    async fn change_status(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        change: StatusChange,
    ) -> PortResult<Option<IterationRow>> {
        match self.inner.change_status(crawl, number, change).await? {
            None if self.is(M::StatusNotChecked) => self.inner.load_iteration(crawl, number).await,
            changed => Ok(changed),
        }
    }

    async fn close_iteration(&self, crawl: &CrawlId, number: Iteration, now: Timestamp) -> PortResult<IterationClosed> {
        let closed = self.inner.close_iteration(crawl, number, now).await?;
        if let IterationClosed::Now(row) = &closed
            && self.is(M::EndNotOwed)
        {
            self.inner.forget_notice(&OwedNotice::of_closed(row, now)).await?;
        }
        Ok(match closed {
            IterationClosed::NotYet(row) if self.is(M::ClosedWithOpenOrigins) => IterationClosed::Now(row),
            closed => closed,
        })
    }

    async fn claim(&self, request: &ClaimRequest) -> PortResult<Vec<Claim>> {
        let mut request = request.clone();
        match self.mutation {
            Some(M::ClaimForgotten) => request.claimer = Claimer::stored(self.fresh().to_string()),
            Some(M::ClaimBeforeDue) => request.if_due = None,
            Some(M::LongPathsCut) => request.urls.iter_mut().for_each(|(path, _)| path.truncate(1_024)),
            _ => {}
        }
        let mut claims = self.inner.claim(&request).await?;
        for claim in claims.iter_mut().filter(|claim| matches!(claim, Claim::Taken { .. })) {
            match self.mutation {
                Some(M::ClaimAlwaysOwn) => *claim = Claim::Own { last: None },
                Some(M::ClaimerMistaken) => *claim = Claim::Taken { by: Claimer::recrawl() },
                _ => {}
            }
        }
        Ok(claims)
    }

    async fn seed_origin(&self, seed: &SeedOrigin) -> PortResult<Seeded> {
        let mut seed = seed.clone();
        if self.is(M::SeedsAddedAgain) {
            seed.seeding = Seeding::new(&TriggerId(self.fresh().to_string()), 0);
            for chunk in &mut seed.chunks {
                chunk.key.source = TodoSource::seeds(&seed.seeding);
            }
        }
        if self.is(M::SeedingsListed) {
            self.fresh();
        }
        if self.is(M::SeedsCut) {
            seed.chunks.truncate(PART_CHUNKS_MAX);
        }
        self.inner.seed_origin(&seed).await
    }

    async fn list_origins(&self, crawl: &CrawlId, after: Option<&Origin>, limit: usize) -> PortResult<Vec<Origin>> {
        let mut origins = self.inner.list_origins(crawl, after, limit).await?;
        if self.is(M::ListDropsLast) && origins.len() == limit {
            origins.pop();
        }
        Ok(origins)
    }

    async fn load_origin(&self, origin: &OriginKey) -> PortResult<Option<OriginRows>> {
        let mut rows = self.inner.load_origin(origin).await?;
        if let Some(OriginRows { lease, inbox }) = &mut rows {
            match self.mutation {
                Some(M::DueNeverCleared) => inbox.due = inbox.due.or(Some(Timestamp::UNIX_EPOCH)),
                Some(M::CandidatesPassedOver) => lease.cursor = RecrawlCursor::End,
                Some(M::SeedingsListed) => {
                    let listed = 0..self.calls.load(Ordering::Relaxed);
                    inbox.seeded = listed.map(|number| Seeding::stored(number.to_string())).collect();
                }
                Some(M::RetriesCut) => lease.retries.truncate(8),
                _ => {}
            }
        }
        Ok(rows)
    }

    async fn load_inbox(&self, origin: &OriginKey) -> PortResult<Option<Inbox>> {
        let inbox = self.inner.load_inbox(origin).await?;
        Ok(if self.is(M::InboxReadAsOpened) { inbox.map(|inbox| Inbox::new(inbox.iteration)) } else { inbox })
    }

    async fn load_robots(&self, origin: &OriginKey) -> PortResult<Option<RobotsRow>> {
        self.inner.load_robots(origin).await
    }

    async fn put_robots(&self, origin: &OriginKey, robots: &RobotsRow) -> PortResult<()> {
        let is_kept_first = self.is(M::RobotsKeptFirst) && self.inner.load_robots(origin).await?.is_some();
        if is_kept_first || self.is(M::RobotsNotKept) {
            return Ok(());
        }
        if self.is(M::RobotsOfTheFutureKept)
            && let Some(kept) = self.inner.load_robots(origin).await?
            && kept.fetched_at > robots.fetched_at
        {
            return Ok(());
        }
        if self.is(M::RobotsGoBack)
            && let Some(kept) = self.inner.load_robots(origin).await?
        {
            let fetched_at = robots.fetched_at.max(kept.fetched_at);
            return self.inner.put_robots(origin, &RobotsRow { fetched_at, ..robots.clone() }).await;
        }
        self.inner.put_robots(origin, robots).await
    }

    async fn take_lease(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        take: &Take,
    ) -> PortResult<Result<Lease, TakeRefused>> {
        let mut wish = take.clone();
        match self.mutation {
            Some(M::TakeOfAnyTurn) => {
                wish.turn = self.inner.load_origin(origin).await?.map_or(take.turn, |rows| rows.lease.turn);
            }
            Some(M::LivingForgotten) => wish.alive.clear(),
            Some(M::DomainForgotten) => wish.hosts_per_domain = u16::MAX,
            Some(M::HostEndsWithLease) => wish.host_until = wish.until,
            Some(M::NothingReserved) => wish.wanted = Reserve { pages: Some(0), bytes: Some(0) },
            _ => {}
        }
        let searched = if self.is(M::SearchGoesOn) { self.search(&origin.crawl, iteration).await? } else { None };
        let mut taken = self.inner.take_lease(origin, iteration, &wish).await?;
        if let Some(to) = searched {
            let (crawl, walk, seen) = (origin.crawl.clone(), Walk::Holders, OriginCursor::NotBegun);
            self.inner.move_cursor(&MoveCursor { crawl, iteration, walk, seen, to }).await?;
        }
        match (self.mutation, &mut taken) {
            (Some(M::HeldLeaseGiven), Err(TakeRefused::Held)) => {
                let rows = self.inner.load_origin(origin).await?;
                taken = rows.map(|rows| rows.lease).ok_or(TakeRefused::Held);
            }
            (Some(M::LivingHolderReplaced), Err(TakeRefused::Held))
            | (Some(M::HeldHostGiven), Err(TakeRefused::HostBusy { .. })) => {
                let wish = Take { now: far_ahead(wish.now), alive: Vec::new(), ..wish };
                taken = self.inner.take_lease(origin, iteration, &wish).await?;
                if let Ok(lease) = &mut taken {
                    lease.not_before = take.now;
                }
            }
            (Some(M::TakeoverWithoutDelay), Err(TakeRefused::Held)) => {
                let delay =
                    self.inner.load_origin(origin).await?.map_or(Duration::ZERO, |rows| rows.lease.pace.delay());
                let wish = Take { now: after(wish.now, delay), ..wish };
                return self.inner.take_lease(origin, iteration, &wish).await;
            }
            (Some(M::LineIgnored), Err(TakeRefused::HostBusy { until })) if self.is_free(origin).await? => {
                let wish = Take { now: *until, ..wish };
                return self.inner.take_lease(origin, iteration, &wish).await;
            }
            (Some(M::TakeWhilePaused), Err(TakeRefused::NotOpen)) => {
                self.inner.change_status(&origin.crawl, iteration, StatusChange::Resume).await?;
                taken = self.inner.take_lease(origin, iteration, &wish).await?;
                self.inner.change_status(&origin.crawl, iteration, StatusChange::Pause).await?;
            }
            (Some(M::ReservedAsWanted), Ok(Lease { state: LeaseState::Leased(holder), .. })) => {
                holder.reserved = take.wanted;
            }
            _ => {}
        }
        Ok(taken)
    }

    async fn load_host(&self, host: &HostKey) -> PortResult<Option<HostRow>> {
        let mut row = self.inner.load_host(host).await?;
        if let Some(row) = row.as_mut().filter(|_| self.is(M::NobodyWaits)) {
            row.waiting.clear();
        }
        Ok(row)
    }

    async fn load_domain(&self, domain: &DomainKey) -> PortResult<Option<DomainRow>> {
        let mut row = self.inner.load_domain(domain).await?;
        if let Some(row) = row.as_mut().filter(|_| self.is(M::NobodyWaits)) {
            row.waiting.clear();
        }
        Ok(row)
    }

    async fn take_host(&self, host: &HostKey, ask: &HostAsk) -> PortResult<Result<HostRow, Timestamp>> {
        let mut ask = ask.clone();
        match self.mutation {
            Some(M::LivingForgotten) => ask.alive.clear(),
            Some(M::DomainForgotten) => ask.hosts_per_domain = ask.hosts_per_domain.map(|_| u16::MAX),
            Some(M::PlaceNotTaken) => ask.hosts_per_domain = None,
            _ => {}
        }
        self.inner.take_host(host, &ask).await
    }

    async fn give_back_host(&self, back: &GiveBackHost) -> PortResult<()> {
        let mut back = back.clone();
        if self.is(M::HostGivenBackByAnyone)
            && let Some(holder) = self.inner.load_host(&back.host).await?.and_then(|row| row.holder)
        {
            back.token = holder.token;
        }
        if self.is(M::HostKept) { Ok(()) } else { self.inner.give_back_host(&back).await }
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
        let skip = if self.is(M::SkippedChunksGiven) { &[] } else { skip };
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
        let iteration = if self.is(M::CursorTakesQueued) { iteration.next() } else { iteration };
        let now = if self.is(M::CursorBeforeDue) { far_ahead(now) } else { now };
        let page = self.inner.due_candidates(origin, iteration, cursor, now, limit).await?;
        Ok(if self.is(M::CursorLost) { DuePage { next: RecrawlCursor::End, ..page } } else { page })
    }

    async fn commit_segment(&self, commit: &CommitSegment) -> PortResult<Committed> {
        let mut commit = commit.clone();
        let is_repeated = match self.mutation {
            Some(M::RepeatedCommitFenced | M::CommitCountedTwice) => {
                self.inner.load_segment(&commit.segment.id).await?.is_some()
            }
            _ => false,
        };
        match self.mutation {
            Some(M::CommitWithoutTokenCheck) => {
                let holder = self.holder(&commit.segment.id.origin).await?;
                if let Some(holder) = holder.filter(|holder| holder.token != commit.segment.token) {
                    commit.segment.token = holder.token.clone();
                    commit.lease.state = LeaseState::Leased(holder);
                }
            }
            Some(M::RepeatedCommitFenced) if is_repeated => return Ok(Committed::Fenced),
            Some(M::CommitCountedTwice) if is_repeated => {
                commit.segment.id.n += 1;
                commit.lease.segments += 1;
                commit.exhausted.clear();
            }
            Some(M::ExhaustedChunksStay) => commit.exhausted.clear(),
            Some(M::ExhaustedChunksCut) => commit.exhausted.truncate(EXHAUSTED_CHUNKS_MAX),
            _ => {}
        }
        self.inner.commit_segment(&commit).await
    }

    async fn release(&self, release: &ReleaseLease) -> PortResult<Result<(), ReleaseRefused>> {
        let mut release = release.clone();
        match self.mutation {
            Some(M::ReleaseWithoutInboxCheck) => {
                let rows = self.inner.load_origin(&release.origin).await?;
                release.seen = rows.map_or(release.seen, |rows| rows.inbox);
            }
            Some(M::RepeatedReleaseFenced) if self.holder(&release.origin).await?.is_none() => {
                return Ok(Err(ReleaseRefused::Fenced));
            }
            Some(M::ReleaseWithoutTokenCheck) => {
                let holder = self.holder(&release.origin).await?;
                release.token = holder.map_or(release.token, |holder| holder.token);
            }
            Some(M::HostFreeAtOnce) => release.free_from = Timestamp::UNIX_EPOCH,
            Some(M::BackOffForgotten) => release.lease.pace.back_off_exponent = 0,
            _ => {}
        }
        self.inner.release(&release).await
    }

    async fn load_segment(&self, id: &SegmentId) -> PortResult<Option<SegmentRow>> {
        self.inner.load_segment(id).await
    }

    async fn begin_parse(&self, begin: &BeginParse) -> PortResult<Option<SegmentRow>> {
        match self.mutation {
            Some(M::DeathsNotCounted) => self.inner.load_segment(&begin.segment).await,
            Some(M::BeginningsCounted) => {
                let Some(row) = self.inner.begin_parse(begin).await? else { return Ok(None) };
                let Some(begun) = &row.parsing else { return Ok(Some(row)) };
                self.inner.give_back_parse(&row.id, &begun.token, Blame::Segment).await?;
                self.inner.begin_parse(begin).await
            }
            _ => self.inner.begin_parse(begin).await,
        }
    }

    async fn give_back_parse(&self, id: &SegmentId, token: &ParseToken, blame: Blame) -> PortResult<()> {
        match self.mutation {
            Some(M::ParseNotGivenBack) => Ok(()),
            Some(M::BlameForgotten) => self.inner.give_back_parse(id, token, Blame::Elsewhere).await,
            Some(M::ForeignParseGivenBack) => {
                let row = self.inner.load_segment(id).await?;
                let noted = row.and_then(|row| row.parsing).map_or_else(|| token.clone(), |begun| begun.token);
                self.inner.give_back_parse(id, &noted, blame).await
            }
            _ => self.inner.give_back_parse(id, token, blame).await,
        }
    }

    async fn put_log(&self, log: &SegmentLog) -> PortResult<()> {
        let mut log = log.clone();
        match self.mutation {
            Some(M::EmptyLogNotPut) if log.entries.is_empty() => return Ok(()),
            Some(M::RepeatedLogRefused) if self.fresh() > 0 => {
                return Err(PortError::new(PortErrorKind::Other, "put log", &log.segment, "it is there"));
            }
            Some(M::LogCut) => log.entries.truncate(100),
            _ => {}
        }
        self.inner.put_log(&log).await
    }

    async fn update_candidates(&self, origin: &OriginKey, updates: &[CandidateUpdate]) -> PortResult<()> {
        let mut updates = updates.to_vec();
        for update in &mut updates {
            match self.mutation {
                Some(M::UpdateGoesBack) => {
                    update.iteration = Iteration::new(99).unwrap_or(update.iteration);
                    update.turn = Turn(self.fresh());
                }
                Some(M::CaptureErased) if update.capture.is_none() => update.capture = Some(blank(update)),
                _ => {}
            }
        }
        self.inner.update_candidates(origin, &updates).await
    }

    async fn commit_parse(&self, commit: &CommitParse) -> PortResult<ParseCommitted> {
        if self.is(M::ParseForgotten) {
            return Ok(ParseCommitted::Done);
        }
        let mut commit = commit.clone();
        match self.mutation {
            Some(M::ParseNotCounted) => commit.counters = ParserCounters::default(),
            Some(M::UnreadableNotCounted) => commit.counters.unreadable = 0,
            Some(M::TodoAddedTwice) => commit.part.targets.iter_mut().for_each(|target| add_again(&mut target.chunks)),
            Some(M::PartOrderIgnored) => {
                let row = self.inner.load_segment(&commit.segment).await?;
                if let Some(SegmentState::Crawled { part }) = row.map(|row| row.state) {
                    commit.part_number = part;
                }
            }
            Some(M::TargetsCut) => commit.part.targets.truncate(16),
            Some(M::ForeignTargetsDropped) => {
                commit.part.targets.retain(|target| target.origin == commit.segment.origin);
            }
            _ => {}
        }
        Ok(match self.inner.commit_parse(&commit).await? {
            ParseCommitted::Refused(PartRefused::AlreadyParsed) if self.is(M::RepeatedParseDone) => {
                ParseCommitted::Done
            }
            ParseCommitted::Over if self.is(M::UnknownSegmentDone) => ParseCommitted::Done,
            committed => committed,
        })
    }

    async fn settle(&self, origin: &OriginKey, seen: &OriginRows) -> PortResult<Settled> {
        if self.is(M::SettlementForgotten) {
            return Ok(Settled::Closed);
        }
        let now = if self.is(M::SettleFromStaleRows) { self.inner.load_origin(origin).await? } else { None };
        self.inner.settle(origin, now.as_ref().unwrap_or(seen)).await
    }

    async fn give_up(&self, give_up: &GiveUp) -> PortResult<Settled> {
        let mut give_up = give_up.clone();
        match self.mutation {
            Some(M::GiveUpFromStaleRows) => {
                give_up.seen = self.inner.load_origin(&give_up.origin).await?.unwrap_or(give_up.seen);
            }
            Some(M::GiveUpOnTheLiving) => give_up.now = far_ahead(give_up.now),
            _ => {}
        }
        self.inner.give_up(&give_up).await
    }

    async fn overdue(
        &self,
        crawl: &CrawlId,
        due_by: Timestamp,
        kinds: OverdueKinds,
        limit: usize,
    ) -> PortResult<Vec<Overdue>> {
        let kinds = if self.is(M::LeasesHideTheRest) { OverdueKinds::All } else { kinds };
        let mut work = self.inner.overdue(crawl, due_by, kinds, limit).await?;
        work.retain(|work| !(self.is(M::SegmentsNeverOverdue) && matches!(work, Overdue::Segment(..))));
        Ok(work)
    }

    async fn postpone(&self, work: &Overdue, due: Timestamp) -> PortResult<()> {
        if self.is(M::PostponeForgotten) { Ok(()) } else { self.inner.postpone(work, due).await }
    }

    async fn owe_notice(&self, owed: &OwedNotice) -> PortResult<NoticeKept> {
        match self.mutation {
            Some(M::NoticeForgotten) => Ok(NoticeKept::Kept),
            Some(M::NoticesPileUp) => {
                let key = NoticeKey::stored(format!("{}#{}", owed.key, self.fresh()));
                self.inner.owe_notice(&OwedNotice { key, ..owed.clone() }).await
            }
            _ => self.inner.owe_notice(owed).await,
        }
    }

    async fn owed_notices(&self, due_by: Timestamp, limit: usize) -> PortResult<Vec<OwedNotice>> {
        let due_by = if self.is(M::NoticesDueTooEarly) { far_ahead(due_by) } else { due_by };
        self.inner.owed_notices(due_by, limit).await
    }

    async fn postpone_notice(&self, owed: &OwedNotice, due: Timestamp) -> PortResult<()> {
        match self.mutation {
            Some(M::NoticePostponeForgotten) => Ok(()),
            Some(M::ToldNoticeComesBack) => self.inner.owe_notice(&OwedNotice { due, ..owed.clone() }).await.map(drop),
            _ => self.inner.postpone_notice(owed, due).await,
        }
    }

    async fn forget_notice(&self, owed: &OwedNotice) -> PortResult<()> {
        if self.is(M::ToldNoticeStays) { Ok(()) } else { self.inner.forget_notice(owed).await }
    }

    async fn progress(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<Progress> {
        let mut progress = self.inner.progress(crawl, iteration).await?;
        match self.mutation {
            Some(M::ParsersNotSummed) => progress.parser = ParserCounters::default(),
            Some(M::LeftoversForgotten) => progress.leftovers.clear(),
            _ => {}
        }
        Ok(progress)
    }
}

/// A capture of which nothing is known.
fn blank(update: &CandidateUpdate) -> LastCapture {
    LastCapture {
        etag: None,
        last_modified: None,
        payload_sha1: [0; 20],
        decoded_sha1: [0; 20],
        fetched_at: update.at,
        outcome: update.outcome,
        interval_ms: None,
        read_by: None,
    }
}
