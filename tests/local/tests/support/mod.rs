//! A crawl of one origin, up to its first segment; and what people are told about a crawl.

use std::path::Path;
use std::time::Duration;

use dragline_domain::frontier::{
    AddTodo, Holder, Lease, LeaseState, ObjectKey, OriginKey, Reserve, Seeding, SegmentCommitted, SegmentId,
    SegmentRow, SegmentState, TakeRequest, Task,
};
use dragline_domain::ids::{CrawlId, Iteration, LeaseToken, TriggerId, Turn};
use dragline_domain::politeness::Pace;
use dragline_local::LocalStore;
use dragline_ports::archive::Archive;
use dragline_ports::frontier::{BeginIteration, CommitSegment, Iterations, Origins, SeedOrigin, SeedResult, Turns};
use dragline_ports::reader::Reader;
use dragline_report::Figures;
use jiff::Timestamp;

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_795_000_000 + second).unwrap()
}

pub(crate) fn origin() -> OriginKey {
    OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() }
}

/// Begins an iteration and takes the lease of its one origin, which reserves 4 of 10 pages.
pub(crate) async fn take(store: &LocalStore) -> (CrawlId, Lease) {
    let (frontier, crawl) = (store.frontier(), origin().crawl);
    let trigger = TriggerId("t".into());
    let budget = Reserve { pages: Some(10), bytes: None };
    let begin = BeginIteration {
        crawl: crawl.clone(),
        trigger: trigger.clone(),
        version: 1,
        joined: 0,
        budget,
        now: at(0),
        ends_at: None,
        due: at(9),
        task: Task::Crawl,
    };
    frontier.begin_iteration(&begin).await.unwrap();
    let add = AddTodo { count: 0, pace: Pace::new(Duration::from_secs(3)), now: at(0), due: at(9) };
    let seeding = Seeding::new(&trigger, 0);
    let seed = SeedOrigin { origin: origin(), iteration: Iteration::FIRST, seeding, add, chunks: Vec::new() };
    assert_eq!(frontier.seed_origin(&seed).await.unwrap(), SeedResult::Added);
    let wanted = Reserve { pages: Some(4), bytes: None };
    let take = TakeRequest {
        turn: Turn(1),
        token: LeaseToken::from_bits(7),
        until: at(120),
        host_until: at(360),
        wanted,
        now: at(0),
        alive: Vec::new(),
        hosts_per_domain: 4,
    };
    let lease = frontier.take_lease(&origin(), Iteration::FIRST, &take).await.unwrap().unwrap();
    (crawl, lease)
}

pub(crate) async fn commit(store: &LocalStore, lease: &Lease) -> SegmentRow {
    let id = SegmentId { origin: origin(), turn: lease.turn, n: 0 };
    let token = lease.holder().unwrap().token.clone();
    let segment = SegmentRow {
        object: ObjectKey::for_segment(&id, Iteration::FIRST, &token),
        id,
        iteration: Iteration::FIRST,
        token: token.clone(),
        state: SegmentState::Crawled { part: 0 },
        object_bytes: 3,
        entries: 0,
        put_off: 0,
        committed_at: at(1),
        attempts: 0,
        parsing: None,
        due: Some(at(60)),
    };
    store.archive().put_new(&segment.object, "one".into()).await.unwrap();
    let holder = Holder { token, until: at(121), reserved: Reserve { pages: Some(3), bytes: None } };
    let lease = Lease { state: LeaseState::Leased(holder), segments: 1, ..lease.clone() };
    let commit = CommitSegment { segment: segment.clone(), lease, exhausted: Vec::new() };
    assert_eq!(store.frontier().commit_segment(&commit).await.unwrap(), SegmentCommitted::Done);
    segment
}

/// The summary of the latest iteration of a crawl.
pub(crate) async fn figures(data: &Path, crawl: &CrawlId) -> Figures {
    let reader = LocalStore::open_read_only(data).unwrap().into_reader(crawl.clone());
    let latest = reader.latest_iteration().await.unwrap().unwrap();
    dragline_report::summary(&reader, latest).await.unwrap().figures
}
