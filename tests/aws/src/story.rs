//! The life of one origin, in the simplest form that the tests of faults need.

use std::time::Duration;

use dragline_aws::DynamoFrontier;
use dragline_domain::frontier::{
    AddTodo, ChunkKey, Claimable, Claimer, Holder, Lease, LeaseState, ObjectKey, OriginKey, OriginRows, ParsePart,
    ParserCounters, PartKind, Reserve, Seeding, SegmentCommitted, SegmentId, SegmentRow, SegmentState, ShorterWays,
    Sighting, TakeRefused, TakeRequest, Task, TodoEntry, TodoPlace, TodoSource, split_into_chunks,
};
use dragline_domain::ids::{Iteration, LeaseToken, TriggerId, Turn};
use dragline_domain::politeness::Pace;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{
    BeginIteration, ClaimRequest, CommitParse, CommitSegment, Iterations, Origins, ParseCommitted, Parses, SeedOrigin,
    SeedResult, Turns,
};
use jiff::Timestamp;

/// The time this many seconds after the story begins.
#[must_use]
pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_795_000_000 + second).unwrap()
}

/// An origin with one seed, in the first iteration.
pub struct Story<'f> {
    frontier: &'f DynamoFrontier,
    /// The origin.
    pub origin: OriginKey,
}

impl<'f> Story<'f> {
    /// Begins the iteration and adds the seed.
    pub async fn begin(frontier: &'f DynamoFrontier) -> Self {
        Self::begin_at(frontier, "https://a.example").await
    }

    /// The same with another origin.
    pub async fn begin_at(frontier: &'f DynamoFrontier, origin: &str) -> Self {
        let origin = OriginKey { crawl: "docs".parse().unwrap(), origin: origin.parse().unwrap() };
        let story = Self { frontier, origin };
        let begin = BeginIteration {
            crawl: story.origin.crawl.clone(),
            trigger: story.trigger(),
            version: 1,
            joined: 0,
            budget: Reserve::default(),
            now: at(0),
            ends_at: None,
            due: at(60),
            task: Task::Crawl,
        };
        frontier.begin_iteration(&begin).await.unwrap();
        assert_eq!(story.seed().await.unwrap(), SeedResult::Added);
        story
    }

    fn trigger(&self) -> TriggerId {
        TriggerId("t".to_owned())
    }

    /// A request to seed these paths, by a trigger.
    #[must_use]
    pub fn claim(&self, paths: &[&str]) -> ClaimRequest {
        ClaimRequest {
            origin: self.origin.clone(),
            iteration: Iteration::FIRST,
            claimer: Claimer::trigger(&self.trigger()),
            claimable: Claimable::All,
            shorter_ways: ShorterWays::Ignored,
            now: at(0),
            urls: paths.iter().map(|&path| (path.to_owned(), Sighting::SEED)).collect(),
        }
    }

    /// Adds the seed.
    ///
    /// # Errors
    /// Those of the port.
    pub async fn seed(&self) -> PortResult<SeedResult> {
        let seeding = Seeding::new(&self.trigger(), 0);
        let entry = TodoEntry::new("/");
        let seed = SeedOrigin {
            origin: self.origin.clone(),
            iteration: Iteration::FIRST,
            chunks: split_into_chunks(Iteration::FIRST, TodoPlace::by_depth(0), &TodoSource::seeds(&seeding), [entry]),
            seeding,
            add: AddTodo { count: 1, pace: Pace::new(Duration::from_secs(1)), now: at(0), due: at(60) },
        };
        self.frontier.seed_origin(&seed).await
    }

    /// The origin's rows.
    pub async fn rows(&self) -> OriginRows {
        self.frontier.load_origin(&self.origin).await.unwrap().expect("it was opened")
    }

    /// Tries to take the lease of the origin's first turn.
    ///
    /// # Errors
    /// Those of the port.
    pub async fn take(&self, by: u128) -> PortResult<Result<Lease, TakeRefused>> {
        self.frontier.take_lease(&self.origin, Iteration::FIRST, &self.request_to_take(by, 1)).await
    }

    /// A request for the lease, for two minutes from this second.
    #[must_use]
    pub fn request_to_take(&self, by: u128, second: i64) -> TakeRequest {
        let token = LeaseToken::from_bits(by);
        TakeRequest {
            turn: Turn(1),
            token,
            until: at(second + 120),
            host_until: at(second + 360),
            wanted: Reserve::default(),
            now: at(second),
            alive: Vec::new(),
            hosts_per_domain: 4,
        }
    }

    /// A segment that exhausts the seed.
    pub async fn segment(&self, lease: &Lease) -> CommitSegment {
        let chunk = self.frontier.first_chunk(&self.origin, Iteration::FIRST, &[]).await.unwrap();
        let exhausted: Vec<ChunkKey> = chunk.map(|chunk| chunk.key).into_iter().collect();
        let holder = lease.holder().expect("it is held");
        let id = SegmentId { origin: self.origin.clone(), turn: lease.turn, n: lease.segments };
        let segment = SegmentRow {
            object: ObjectKey::for_segment(&id, Iteration::FIRST, &holder.token),
            id,
            iteration: Iteration::FIRST,
            token: holder.token.clone(),
            state: SegmentState::Crawled { part: 0 },
            object_bytes: 1_000,
            entries: 1,
            put_off: 0,
            committed_at: at(2),
            attempts: 0,
            parsing: None,
            due: Some(at(62)),
        };
        let lease = Lease {
            state: LeaseState::Leased(Holder { until: at(122), ..holder.clone() }),
            taken: lease.taken + 1,
            segments: lease.segments + 1,
            ..lease.clone()
        };
        CommitSegment { segment, lease, exhausted }
    }

    /// Takes the lease and commits the segment.
    pub async fn commit(&self) -> CommitSegment {
        let lease = self.take(1).await.unwrap().expect("it is free");
        let commit = self.segment(&lease).await;
        assert_eq!(self.frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Done);
        commit
    }

    /// Commits the segment's parse, which found nothing.
    ///
    /// # Errors
    /// Those of the port.
    pub async fn parse(&self, segment: &SegmentRow) -> PortResult<ParseCommitted> {
        let commit = CommitParse {
            segment: segment.id.clone(),
            iteration: Iteration::FIRST,
            part_number: 0,
            kind: PartKind::Last,
            part: ParsePart::default(),
            pace: Pace::new(Duration::from_secs(1)),
            counters: ParserCounters { processed: 1, ..ParserCounters::default() },
            pages: Vec::new(),
            now: at(10),
            due: at(70),
        };
        self.frontier.commit_parse(&commit).await
    }
}
