//! Candidates: claims, updates and the recrawl cursor.

use std::collections::BTreeSet;

use dragline_domain::frontier::{CandidateUpdate, Claim, Claimer, LastCapture, LeadsTo, OriginKey, RecrawlCursor};
use dragline_domain::ids::{Iteration, Turn};
use dragline_domain::outcome::Outcome;
use dragline_ports::frontier::{DuePage, Frontier};
use jiff::Timestamp;

use super::super::lag::{assert_comes_to, until};
use super::super::samples::{at, capture, key, sighting, trigger};
use super::super::world::{UNLIMITED, World, long_path};

const NEW: Claim = Claim::Own { last: None };

fn update(path: &str, order: (Iteration, u64, u64), outcome: Outcome) -> CandidateUpdate {
    CandidateUpdate {
        path_and_query: path.to_owned(),
        iteration: order.0,
        turn: Turn(order.1),
        n: order.2,
        outcome,
        at: at(5),
        capture: None,
        due_at: None,
        leads_to: LeadsTo::AsBefore,
    }
}

/// Puts candidates as an iteration leaves them, and begins the next iteration.
async fn with_candidates<'f, F: Frontier>(
    frontier: &'f F,
    origin: &OriginKey,
    left: &[(&str, Outcome, Option<Timestamp>)],
) -> World<'f, F> {
    let first = World::begin(frontier, UNLIMITED).await;
    let paths: Vec<&str> = left.iter().map(|&(path, ..)| path).collect();
    first.claim(origin, Claimer::trigger(&trigger("t")), &paths).await;
    let updates: Vec<_> = left
        .iter()
        .map(|&(path, outcome, due_at)| CandidateUpdate { due_at, ..update(path, (first.iteration, 1, 0), outcome) })
        .collect();
    frontier.update_candidates(origin, &updates).await.unwrap();
    first.end(&[]).await;
    World::begin_by(frontier, "u", UNLIMITED).await
}

fn paths(page: &DuePage) -> Vec<&str> {
    page.entries.iter().map(|(entry, _)| entry.path_and_query.as_str()).collect()
}

/// The first to claim a URL owns it for good, and gets the same answer when it asks again. Others learn who owns it.
pub async fn a_claim_is_own_once(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let (origin, other) = (key("a.example"), key("b.example"));
    let [ours, theirs] = ["x", "y"].map(|by| Claimer::trigger(&trigger(by)));
    assert_eq!(world.claim(&origin, ours.clone(), &["/a", "/b"]).await, [NEW, NEW]);
    assert_eq!(
        world.claim(&origin, theirs.clone(), &["/c", "/a"]).await,
        [NEW, Claim::Taken { by: ours.clone() }],
        "in the order of the request"
    );
    let again = [NEW, NEW, Claim::Taken { by: theirs.clone() }];
    assert_eq!(world.claim(&origin, ours, &["/b", "/a", "/c"]).await, again, "claimed again");
    assert_eq!(world.claim(&other, theirs, &["/a"]).await, [NEW], "another origin's path");
}

/// In the next iteration a URL that is not due yet cannot be claimed, except where the claim ignores due times.
pub async fn a_claim_waits_until_it_is_due(frontier: &impl Frontier) {
    let origin = key("a.example");
    let world = with_candidates(frontier, &origin, &[("/a", Outcome::FileIngested, Some(at(100)))]).await;
    let [link, seed] = ["x", "y"].map(|by| Claimer::trigger(&trigger(by)));
    let claim = |claimer: &Claimer, if_due| world.claim_if_due(&origin, claimer.clone(), &["/a"], if_due);
    assert_eq!(claim(&link, Some(at(99))).await, [Claim::NotDue], "a second early");
    assert_eq!(claim(&seed, None).await, [NEW], "the claim ignores due times");
    assert_eq!(claim(&link, Some(at(100))).await, [Claim::Taken { by: seed }], "due, but queued by then");
}

/// A late update changes nothing; another update by the same segment does.
pub async fn an_update_never_goes_back(frontier: &impl Frontier) {
    let origin = key("a.example");
    let world = World::begin(frontier, UNLIMITED).await;
    let ours = Claimer::trigger(&trigger("x"));
    world.claim(&origin, ours.clone(), &["/a"]).await;
    let next = world.iteration.next();
    for (order, etag, expected, why) in [
        ((world.iteration, 2, 5), "one", "one", "the first"),
        ((world.iteration, 2, 4), "old", "one", "an earlier segment of the turn"),
        ((world.iteration, 1, 9), "old", "one", "an earlier turn, whatever its segment"),
        ((world.iteration, 2, 5), "two", "two", "the same segment again"),
        ((world.iteration, 3, 0), "three", "three", "a later turn, whatever its segment"),
        ((next, 1, 0), "four", "four", "a later iteration, whatever its turn"),
        ((world.iteration, 9, 9), "old", "four", "an earlier iteration"),
    ] {
        let captured = CandidateUpdate { capture: Some(capture(etag)), ..update("/a", order, Outcome::FileIngested) };
        frontier.update_candidates(&origin, &[captured]).await.unwrap();
        let claimed = world.claim(&origin, ours.clone(), &["/a"]).await;
        assert_eq!(claimed, [Claim::Own { last: Some(capture(expected)) }], "{why}");
    }
}

/// What the last good capture left is kept when a later visit gets nothing.
pub async fn an_update_without_a_capture_keeps_the_last_one(frontier: &impl Frontier) {
    let origin = key("a.example");
    let world = World::begin(frontier, UNLIMITED).await;
    let ours = Claimer::trigger(&trigger("x"));
    world.claim(&origin, ours.clone(), &["/a"]).await;
    let bare = LastCapture { etag: None, last_modified: Some("then".into()), interval_ms: None, ..capture("") };
    let good = update("/a", (world.iteration, 1, 0), Outcome::FileIngested);
    let good = CandidateUpdate { capture: Some(bare.clone()), ..good };
    let failed = update("/a", (world.iteration, 1, 1), Outcome::ConnectionFailed);
    frontier.update_candidates(&origin, &[good, failed]).await.unwrap();
    assert_eq!(world.claim(&origin, ours, &["/a"]).await, [Claim::Own { last: Some(bare) }], "missing parts included");
}

/// Returns the paths from this cursor to the end, page by page. They may lag behind what was written.
async fn walk(world: &World<'_, impl Frontier>, origin: &OriginKey, from: &RecrawlCursor, limit: usize) -> Vec<String> {
    let (mut cursor, mut seen) = (from.clone(), Vec::new());
    for _ in 0..20 {
        let page = world.frontier.due_candidates(origin, world.iteration, &cursor, at(10), limit).await.unwrap();
        assert!(page.entries.len() <= limit, "no more than asked for");
        seen.extend(page.entries.into_iter().map(|(entry, _)| entry.path_and_query));
        cursor = page.next;
        if cursor == RecrawlCursor::End {
            break;
        }
    }
    assert_eq!(cursor, RecrawlCursor::End, "the cursor must reach its end");
    seen
}

/// The cursor skips what others queued in this iteration, but not what its own turn claimed before a crash.
pub async fn the_recrawl_cursor_skips_what_is_queued(frontier: &impl Frontier) {
    let origin = key("a.example");
    let left = ["/a", "/b", "/c"].map(|path| (path, Outcome::FileIngested, None));
    let world = with_candidates(frontier, &origin, &left).await;
    let by_seed = world.claim(&origin, Claimer::trigger(&trigger("u")), &["/b"]).await;
    assert_eq!(by_seed, [NEW]);
    let due =
        async || frontier.due_candidates(&origin, world.iteration, &RecrawlCursor::Start, at(10), 10).await.unwrap();
    let page = until(due, |page| page.entries.len() == 2).await;
    assert_eq!((paths(&page), &page.next), (vec!["/a", "/c"], &RecrawlCursor::End));
    assert_eq!(page.entries[0].1, sighting(1).depth, "with the depth at which it was found");
    assert_eq!(page.entries[0].0.via, sighting(1).via, "and the page that led there");
    assert_eq!(world.claim(&origin, Claimer::recrawl(), &["/a"]).await, [NEW]);
    assert_eq!(paths(&due().await), ["/a", "/c"], "its own claims count only once they are committed");
}

/// Pages come in the order of the paths until the cursor reaches its end.
pub async fn the_recrawl_cursor_goes_through_in_pages(frontier: &impl Frontier) {
    let origin = key("a.example");
    let left = ["/d", "/a?q", "/c", "/b", "/a"].map(|path| (path, Outcome::FileIngested, None));
    let world = with_candidates(frontier, &origin, &left).await;
    let all = async || walk(&world, &origin, &RecrawlCursor::Start, 2).await;
    assert_comes_to(all, ["/a", "/a?q", "/b", "/c", "/d"].map(String::from).to_vec(), "in order").await;
    assert_eq!(walk(&world, &origin, &RecrawlCursor::End, 2).await, [""; 0], "it stays at its end");
}

/// The cursor walks candidates with the longest possible URLs like any others, in whatever order, and can resume after each of them.
pub async fn the_recrawl_cursor_goes_through_long_urls(frontier: &impl Frontier) {
    let origin = key("a.example");
    let long: Vec<String> = (0..5).map(long_path).collect();
    let left = || long.iter().map(String::as_str).chain(["/short"]);
    let known: Vec<_> = left().map(|path| (path, Outcome::FileIngested, None)).collect();
    let world = with_candidates(frontier, &origin, &known).await;
    let order =
        until(async || walk(&world, &origin, &RecrawlCursor::Start, 2).await, |all| all.len() == known.len()).await;
    let found: BTreeSet<&str> = order.iter().map(String::as_str).collect();
    assert_eq!((found, order.len()), (left().collect(), known.len()), "each once, and whole");
    for (position, path) in order.iter().enumerate() {
        let rest = walk(&world, &origin, &RecrawlCursor::After(path.clone()), 10).await;
        assert_eq!(rest, order[position + 1..], "where a turn left off");
    }
}

/// The cursor skips what is not due yet and what the definition forbids.
pub async fn the_recrawl_cursor_leaves_what_is_not_wanted(frontier: &impl Frontier) {
    let origin = key("a.example");
    let left = [
        ("/blocked", Outcome::BlockedUrlByLocalPolicy, None),
        ("/due", Outcome::FileIngested, Some(at(10))),
        ("/gone", Outcome::FileGone, None),
        ("/later", Outcome::FileIngested, Some(at(11))),
    ];
    let world = with_candidates(frontier, &origin, &left).await;
    let all = async || walk(&world, &origin, &RecrawlCursor::Start, 10).await;
    assert_comes_to(all, ["/due", "/gone"].map(String::from).to_vec(), "what is due").await;
}
