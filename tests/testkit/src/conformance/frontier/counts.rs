//! What an iteration counts is what its rows add up to, whatever was tried again.

use dragline_domain::frontier::{
    CrawlerCounters, LeaseState, LeftoverReason, ParsePart, ParserCounters, PartKind, Release, Reserve, Retry,
};
use dragline_domain::outcome::Outcome;
use dragline_ports::frontier::{CommitParse, Frontier, GiveUp, ParseCommitted, SettleResult};
use futures_util::future::join_all;

use super::super::samples::{at, crawl, entry, key};
use super::super::world::{UNLIMITED, World};

/// Each commit is counted, and one that is tried again is not counted again: seeds, segments,
/// parses in parts, and ends with and without leftovers.
pub async fn every_commit_is_counted_once(frontier: &impl Frontier) {
    let world = World::begin(frontier, Reserve { pages: Some(100), bytes: None }).await;
    let (own, other, found) = (key("a.example"), key("b.example"), key("c.example"));
    world.assert_counted(&[], "nothing yet").await;
    for _again in 0..2 {
        world.seed(&own, &["/", "/a"]).await;
        world.seed(&other, &["/"]).await;
    }
    world.assert_counted(&[], "seeds").await;

    let lease = world.take(&own, 1, 0).await;
    let mut first = world.segment(&own, &lease, 1).await;
    first.lease.counters = CrawlerCounters { requests: 3, pages: 2, retries: 1, body_bytes: 500, bodies_cut: 2 };
    let retry = Retry { entry: entry("/again"), depth: 0, tries: 1, not_before: at(9) };
    first.lease.retries = vec![retry.clone(), retry];
    for _again in 0..2 {
        frontier.commit_segment(&first).await.unwrap();
    }
    world.assert_counted(&[], "a segment").await;
    let mut second = world.segment(&own, &first.lease, 2).await;
    second.lease.counters.requests += 2;
    second.lease.retries.pop();
    for _again in 0..2 {
        frontier.commit_segment(&second).await.unwrap();
    }
    world.assert_counted(&[], "the next one, which tried a URL again").await;

    let mut last = second.lease.clone();
    last.retries.clear();
    for _again in 0..2 {
        assert_eq!(world.release(&own, &last, Release::Idle).await, Ok(()));
    }
    world.assert_counted(&[], "a release").await;

    let links: [(&_, &[&str]); 2] = [(&found, &["/x", "/y"]), (&own, &["/z"])];
    for expected in [true, false] {
        let done = world.parse(&first.segment, (0, PartKind::More), &links).await == ParseCommitted::Done;
        assert_eq!(done, expected, "each part is committed once");
        world.assert_counted(&[], "the first part of a parse").await;
    }
    for _again in 0..2 {
        world.parse(&first.segment, (1, PartKind::Last), &[]).await;
        world.parse(&second.segment, (0, PartKind::Last), &[]).await;
    }
    world.assert_counted(&[], "both parses").await;

    let seen = world.origin(&own).await;
    for _again in 0..2 {
        frontier.settle(&own, &seen).await.unwrap();
    }
    world.assert_counted(&[], "an idle origin was woken").await;
    let segment = world.crawl_until_idle(&other, 3, 20).await;
    world.parse(&segment, (0, PartKind::Last), &[]).await;
    let seen = world.origin(&other).await;
    for expected in [SettleResult::Closed, SettleResult::Changed] {
        assert_eq!(frontier.settle(&other, &seen).await.unwrap(), expected);
    }
    world.assert_counted(&[], "an origin was closed").await;

    let give_up = GiveUp {
        origin: found.clone(),
        iteration: world.iteration,
        seen: world.origin(&found).await,
        reason: LeftoverReason::Stopped,
        now: at(30),
    };
    for _again in 0..2 {
        frontier.give_up(&give_up).await.unwrap();
    }
    assert_eq!(world.origin(&found).await.lease.state, LeaseState::Closed);
    world.assert_counted(&[(LeftoverReason::Stopped, 2)], "another left what it had").await;
}

/// What an iteration counted stays, although its origins open for the next one, which counts for
/// itself.
pub async fn counts_stay_with_their_iteration(frontier: &impl Frontier) {
    let first = World::begin(frontier, UNLIMITED).await;
    let (own, other) = (key("a.example"), key("b.example"));
    for origin in [&own, &other] {
        first.seed(origin, &["/"]).await;
        let segment = first.crawl_until_idle(origin, 1, 0).await;
        first.parse(&segment, (0, PartKind::Last), &[]).await;
    }
    first.end(&[&own, &other]).await;
    let counted = frontier.progress(&crawl(), first.iteration).await.unwrap();
    assert_eq!((counted.origins, counted.added, counted.parser.processed), (2, 2, 2));
    let next = World::begin_by(frontier, "u", UNLIMITED).await;
    next.assert_counted(&[], "nothing yet").await;
    next.seed_by(&own, "u", &["/", "/b"]).await;
    let segment = next.crawl_until_idle(&own, 2, 2_000).await;
    next.parse(&segment, (0, PartKind::Last), &[]).await;
    next.assert_counted(&[], "the next one").await;
    assert_eq!(frontier.progress(&crawl(), first.iteration).await.unwrap(), counted, "as it ended");
}

/// Parsers that commit at the same time count all that they did.
pub async fn what_is_counted_of_many_parsers_adds_up(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let own = key("a.example");
    let paths: Vec<String> = (0..8).map(|n| format!("/{n}")).collect();
    world.seed(&own, &paths.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut lease = world.take(&own, 1, 0).await;
    let mut segments = Vec::new();
    for n in 0..8 {
        let commit = world.commit(&own, &lease, n).await;
        lease = commit.lease;
        segments.push(commit.segment);
    }
    let counters = ParserCounters {
        processed: 1,
        links_beyond_budget: 3,
        outcomes: [(Outcome::FileIngested, 2), (Outcome::UnknownError, 1)].into(),
        ..ParserCounters::default()
    };
    let commits = segments.iter().map(|segment| CommitParse {
        segment: segment.id.clone(),
        iteration: world.iteration,
        part_number: 0,
        kind: PartKind::Last,
        part: ParsePart { targets: Vec::new() },
        pace: lease.pace,
        counters: counters.clone(),
        pages: Vec::new(),
        now: at(10),
        due: at(70),
    });
    let commits: Vec<CommitParse> = commits.collect();
    join_all(commits.iter().map(async |commit| frontier.commit_parse(commit).await.unwrap())).await;
    world.assert_counted(&[], "each once").await;
    let counted = frontier.progress(&crawl(), world.iteration).await.unwrap().parser;
    assert_eq!((counted.processed, counted.links_beyond_budget), (8, 24));
}
