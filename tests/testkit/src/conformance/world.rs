//! The building blocks of behaviours: what the steps do, in its simplest form.

use std::time::Duration;

use dragline_domain::frontier::{
    AddTodo, ChunkKey, Claim, Claimable, Claimer, Holder, HostRequest, HostWaiter, IterationBegun, IterationRow, Lease,
    LeaseState, LeftoverReason, ObjectKey, OriginKey, OriginRows, ParsePart, ParserCounters, PartKind, RecrawlCursor,
    Release, ReleaseRefused, Reserve, Seeding, SegmentCommitted, SegmentId, SegmentRow, SegmentState, ShorterWays,
    TakeRefused, TakeRequest, Target, Task, TodoChunk, TodoPlace, TodoSource, split_into_chunks,
};
use dragline_domain::ids::{Iteration, LeaseToken, Turn};
use dragline_domain::politeness::Pace;
use dragline_domain::url::CrawlUrl;
use dragline_ports::frontier::{
    BeginIteration, ClaimRequest, CommitParse, CommitSegment, Frontier, ParseCommitted, Progress, ReleaseLease,
    SeedOrigin, SeedResult,
};

use super::lag::assert_comes_to;
use super::samples::{at, crawl, entry, sighting, token, trigger};

/// How long a lease lasts here, in seconds; the delay of every origin is [`DELAY`].
pub(super) const LEASE_S: i64 = 120;

/// How long a turn may hold its host, in seconds.
pub(super) const HOST_S: i64 = 360;

/// How many hosts of one domain are visited at once.
pub(super) const PLACES: u16 = 4;

/// The delay of every origin.
pub(super) const DELAY: Duration = Duration::from_secs(1);

pub(super) const UNLIMITED: Reserve = Reserve { pages: None, bytes: None };

/// A path that makes a URL of `a.example` as long as possible, and differs from others of its kind
/// only in its last bytes.
pub(super) fn long_path(number: usize) -> String {
    format!("/{number:0>width$}", width = CrawlUrl::LEN_MAX - "https://a.example/".len())
}

/// A frontier with an iteration under way.
pub(super) struct World<'f, F> {
    pub(super) frontier: &'f F,
    pub(super) iteration: Iteration,
}

/// A request to begin an iteration, by this trigger.
pub(super) fn request_to_begin(by: &str, budget: Reserve) -> BeginIteration {
    BeginIteration {
        crawl: crawl(),
        trigger: trigger(by),
        version: 1,
        joined: 3,
        budget,
        now: at(0),
        ends_at: None,
        due: at(60),
        task: Task::Crawl,
    }
}

impl<'f, F: Frontier> World<'f, F> {
    /// Begins an iteration by the trigger `t`, with a budget.
    pub(super) async fn begin(frontier: &'f F, budget: Reserve) -> Self {
        Self::begin_by(frontier, "t", budget).await
    }

    pub(super) async fn begin_by(frontier: &'f F, by: &str, budget: Reserve) -> Self {
        match frontier.begin_iteration(&request_to_begin(by, budget)).await.unwrap() {
            IterationBegun::Iteration(row) => Self { frontier, iteration: row.number },
            IterationBegun::Busy(row) => panic!("iteration {} still runs", row.number),
        }
    }

    pub(super) async fn row(&self) -> IterationRow {
        self.frontier.load_iteration(&crawl(), self.iteration).await.unwrap().expect("it began")
    }

    pub(super) async fn origin(&self, origin: &OriginKey) -> OriginRows {
        self.frontier.load_origin(origin).await.unwrap().expect("it was opened")
    }

    /// Claims paths, due or not.
    pub(super) async fn claim(&self, origin: &OriginKey, claimer: Claimer, paths: &[&str]) -> Vec<Claim> {
        self.claim_of(origin, claimer, paths, Claimable::All).await
    }

    pub(super) async fn claim_of(
        &self,
        origin: &OriginKey,
        claimer: Claimer,
        paths: &[&str],
        claimable: Claimable,
    ) -> Vec<Claim> {
        let request = self.claims(origin, claimer, paths, claimable, 1);
        self.frontier.claim(&request).await.unwrap()
    }

    /// Claims paths that are this many links from a seed, where shorter ways are passed on.
    pub(super) async fn claim_at(
        &self,
        depth: u32,
        origin: &OriginKey,
        claimer: Claimer,
        paths: &[&str],
    ) -> Vec<Claim> {
        let request = self.claims(origin, claimer, paths, Claimable::All, depth);
        self.frontier.claim(&ClaimRequest { shorter_ways: ShorterWays::PassedOn, ..request }).await.unwrap()
    }

    fn claims(
        &self,
        origin: &OriginKey,
        claimer: Claimer,
        paths: &[&str],
        claimable: Claimable,
        depth: u32,
    ) -> ClaimRequest {
        let urls = paths.iter().map(|&path| (path.to_owned(), sighting(depth))).collect();
        let (origin, iteration, shorter_ways) = (origin.clone(), self.iteration, ShorterWays::Ignored);
        ClaimRequest { origin, iteration, claimer, claimable, shorter_ways, now: at(0), urls }
    }

    /// Claims seeds and adds them, as the trigger `t` does.
    pub(super) async fn seed(&self, origin: &OriginKey, paths: &[&str]) -> SeedResult {
        self.seed_by(origin, "t", paths).await
    }

    pub(super) async fn seed_by(&self, origin: &OriginKey, by: &str, paths: &[&str]) -> SeedResult {
        self.claim(origin, Claimer::trigger(&trigger(by)), paths).await;
        let seeding = Seeding::new(&trigger(by), 0);
        let source = TodoSource::seeds(&seeding);
        let chunks =
            split_into_chunks(self.iteration, TodoPlace::by_depth(0), &source, paths.iter().map(|&path| entry(path)));
        self.frontier.seed_origin(&self.seeds(origin, seeding, chunks)).await.unwrap()
    }

    pub(super) fn seeds(&self, origin: &OriginKey, seeding: Seeding, chunks: Vec<TodoChunk>) -> SeedOrigin {
        let count = chunks.iter().map(|chunk| u64::try_from(chunk.entries.len()).unwrap()).sum();
        SeedOrigin {
            origin: origin.clone(),
            iteration: self.iteration,
            seeding,
            add: AddTodo { count, pace: Pace::new(DELAY), now: at(0), due: at(60) },
            chunks,
        }
    }

    /// Tries to take the lease of the origin's current turn.
    pub(super) async fn try_take(
        &self,
        origin: &OriginKey,
        by: u128,
        second: i64,
        wanted: Reserve,
    ) -> Result<Lease, TakeRefused> {
        self.try_take_beside(&[], origin, by, second, wanted).await
    }

    /// The same, with these turns known to be alive.
    pub(super) async fn try_take_beside(
        &self,
        alive: &[u128],
        origin: &OriginKey,
        by: u128,
        second: i64,
        wanted: Reserve,
    ) -> Result<Lease, TakeRefused> {
        let turn = self.origin(origin).await.lease.turn;
        let take = TakeRequest {
            turn,
            token: token(by),
            until: at(second + LEASE_S),
            host_until: at(second + HOST_S),
            wanted,
            now: at(second),
            alive: alive.iter().map(|by| token(*by)).collect(),
            hosts_per_domain: PLACES,
        };
        self.frontier.take_lease(origin, self.iteration, &take).await.unwrap()
    }

    pub(super) async fn take(&self, origin: &OriginKey, by: u128, second: i64) -> Lease {
        self.try_take(origin, by, second, UNLIMITED).await.expect("the lease is free")
    }

    /// A segment that takes all of the first chunk, or nothing if there is no chunk.
    pub(super) async fn segment(&self, origin: &OriginKey, lease: &Lease, second: i64) -> CommitSegment {
        let chunk = self.frontier.first_chunk(origin, self.iteration, &[]).await.unwrap();
        let (count, exhausted): (usize, Vec<ChunkKey>) =
            chunk.map_or((0, Vec::new()), |chunk| (chunk.entries.len(), vec![chunk.key]));
        let holder = lease.holder().expect("it is held");
        let id = SegmentId { origin: origin.clone(), turn: lease.turn, n: lease.segments };
        let segment = SegmentRow {
            object: ObjectKey::for_segment(&id, self.iteration, &holder.token),
            id,
            iteration: self.iteration,
            token: holder.token.clone(),
            state: SegmentState::Crawled { part: 0 },
            object_bytes: 1_000,
            entries: u32::try_from(count).unwrap(),
            put_off: 0,
            committed_at: at(second),
            attempts: 0,
            parsing: None,
            due: Some(at(second + 60)),
        };
        let lease = Lease {
            state: LeaseState::Leased(Holder { until: at(second + LEASE_S), ..holder.clone() }),
            taken: lease.taken + u64::try_from(count).unwrap(),
            segments: lease.segments + 1,
            attempts: 0,
            ..lease.clone()
        };
        CommitSegment { segment, lease, exhausted }
    }

    /// Commits all of the first chunk as a segment.
    pub(super) async fn commit(&self, origin: &OriginKey, lease: &Lease, second: i64) -> CommitSegment {
        let commit = self.segment(origin, lease, second).await;
        assert_eq!(self.frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Done);
        commit
    }

    /// Releases a lease, deciding from the inbox as it is.
    pub(super) async fn release(&self, origin: &OriginKey, lease: &Lease, how: Release) -> Result<(), ReleaseRefused> {
        let seen = self.origin(origin).await.inbox;
        self.release_having_seen(origin, lease, seen, how).await
    }

    pub(super) async fn release_having_seen(
        &self,
        origin: &OriginKey,
        lease: &Lease,
        seen: dragline_domain::frontier::Inbox,
        how: Release,
    ) -> Result<(), ReleaseRefused> {
        let token: LeaseToken = lease.holder().expect("it is held").token.clone();
        let release = ReleaseLease {
            origin: origin.clone(),
            token,
            lease: lease.clone(),
            seen,
            how,
            free_from: lease.not_before,
            now: lease.written_at.unwrap_or(lease.not_before),
        };
        self.frontier.release(&release).await.unwrap()
    }

    /// Commits a parse, or part of one, that found these paths.
    pub(super) async fn parse(
        &self,
        segment: &SegmentRow,
        part: (u32, PartKind),
        found: &[(&OriginKey, &[&str])],
    ) -> ParseCommitted {
        let source = TodoSource::segment(&segment.id, segment.committed_at);
        let targets = found.iter().map(|&(origin, paths)| {
            let mut chunks = split_into_chunks(
                self.iteration,
                TodoPlace::by_depth(1),
                &source,
                paths.iter().map(|&path| entry(path)),
            );
            for chunk in &mut chunks {
                chunk.key.part += part.0;
            }
            Target { origin: origin.clone(), chunks }
        });
        let commit = CommitParse {
            segment: segment.id.clone(),
            iteration: self.iteration,
            part_number: part.0,
            kind: part.1,
            part: ParsePart { targets: targets.collect() },
            pace: Pace::new(DELAY),
            counters: ParserCounters { processed: u64::from(segment.entries), ..ParserCounters::default() },
            pages: Vec::new(),
            now: at(10),
            due: at(70),
        };
        self.frontier.commit_parse(&commit).await.unwrap()
    }

    /// Crawls an origin's only chunk and releases the lease to wait for the parser.
    pub(super) async fn crawl_until_idle(&self, origin: &OriginKey, by: u128, second: i64) -> SegmentRow {
        let lease = self.take(origin, by, second).await;
        let commit = self.commit(origin, &lease, second + 1).await;
        assert_eq!(self.release(origin, &commit.lease, Release::Idle).await, Ok(()));
        commit.segment
    }

    /// Does the same in a later iteration, in which no known URL is due.
    pub(super) async fn crawl_again_until_idle(&self, origin: &OriginKey, by: u128, second: i64) -> SegmentRow {
        let lease = self.take(origin, by, second).await;
        let mut commit = self.segment(origin, &lease, second + 1).await;
        commit.lease.cursor = RecrawlCursor::End;
        assert_eq!(self.frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Done);
        assert_eq!(self.release(origin, &commit.lease, Release::Idle).await, Ok(()));
        commit.segment
    }

    /// Checks that the iteration's progress is what the rows of its origins add up to, one by one,
    /// and what was left over.
    pub(super) async fn assert_counted(&self, left: &[(LeftoverReason, u64)], why: &str) {
        let mut expected = Progress::default();
        for origin in self.frontier.list_origins(&crawl(), None, 1_000).await.unwrap() {
            let rows = self.origin(&OriginKey { crawl: crawl(), origin }).await;
            if rows.inbox.iteration == self.iteration {
                expected.add_origin(&rows);
            }
        }
        expected.set_leftovers(left.to_vec());
        let progress = async || self.frontier.progress(&crawl(), self.iteration).await.unwrap();
        assert_comes_to(progress, expected, why).await;
    }

    /// Ends an iteration in which nothing is left: settles the origins and closes it.
    pub(super) async fn end(&self, origins: &[&OriginKey]) {
        for origin in origins {
            let seen = self.origin(origin).await;
            self.frontier.settle(origin, &seen).await.unwrap();
        }
        self.frontier.return_token(&crawl(), self.iteration).await.unwrap();
        self.frontier.close_iteration(&crawl(), self.iteration, at(1_000)).await.unwrap();
        assert_eq!(self.row().await.closed_at, Some(at(1_000)), "nothing is open");
    }

    /// Releases a lease at the first of these seconds; its host is free from the other on.
    pub(super) async fn release_host(&self, origin: &OriginKey, lease: &Lease, free_from: i64, second: i64) {
        let release = ReleaseLease {
            origin: origin.clone(),
            token: lease.holder().expect("it is held").token.clone(),
            lease: lease.clone(),
            seen: self.origin(origin).await.inbox,
            how: Release::Wake { not_before: at(free_from) },
            free_from: at(free_from),
            now: at(second),
        };
        assert_eq!(self.frontier.release(&release).await.unwrap(), Ok(()));
    }
}

/// The refusal for a host that is busy until this second at the latest.
pub(super) fn busy<T>(second: i64) -> Result<T, TakeRefused> {
    Err(TakeRefused::HostBusy { until: at(second) })
}

/// A request for a host without a lease, for a minute, whatever its domain.
pub(super) fn host_ask(origin: OriginKey, by: u128, second: i64) -> HostRequest {
    HostRequest {
        waiter: HostWaiter { origin, iteration: Iteration::FIRST, turn: Turn(1), delay: DELAY },
        token: token(by),
        until: at(second + 60),
        pace: Pace::new(DELAY),
        now: at(second),
        alive: Vec::new(),
        hosts_per_domain: None,
    }
}
