//! Concurrent calls: each race has one winner, and nothing is counted twice or lost.

use dragline_domain::frontier::{Claim, Claimer, IterationBegun, PartKind, TakeRefused, UrlHistory};
use dragline_domain::ids::Iteration;
use dragline_ports::frontier::{Frontier, ParseCommitted};
use futures_util::future::join_all;

use super::super::samples::{key, trigger};
use super::super::world::{UNLIMITED, World, request_to_begin};

/// How many calls run at once.
const CROWD: u32 = 16;

/// Of many concurrent triggers one begins an iteration; the others are told which one runs.
pub async fn of_many_triggers_one_begins(frontier: &impl Frontier) {
    let requests: Vec<_> = (0..CROWD).map(|by| request_to_begin(&format!("t{by}"), UNLIMITED)).collect();
    let begun = join_all(requests.iter().map(|request| frontier.begin_iteration(request))).await;
    let begun: Vec<IterationBegun> = begun.into_iter().map(Result::unwrap).collect();
    assert_eq!(begun.iter().filter(|begun| matches!(begun, IterationBegun::Iteration(_))).count(), 1, "{begun:?}");
    let numbers = begun.iter().map(|(IterationBegun::Iteration(row) | IterationBegun::Busy(row))| row.number);
    assert!(numbers.clone().all(|number| number == Iteration::FIRST), "{begun:?}");
}

/// Of many tickets for one turn only one gets the lease.
pub async fn of_many_tickets_one_takes_the_lease(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let (world, origin) = (&world, &origin);
    let taken = join_all((0..CROWD).map(|by| world.try_take(origin, by.into(), 0, UNLIMITED))).await;
    let refused: Vec<TakeRefused> = taken.iter().filter_map(|taken| taken.as_ref().err().copied()).collect();
    assert_eq!(refused, vec![TakeRefused::Held; taken.len() - 1]);
    let lease = taken.into_iter().find_map(Result::ok).expect("one of them took it");
    assert_eq!(world.origin(origin).await.lease, lease, "the winner holds it");
}

/// When many claim the same URLs each URL has one owner.
pub async fn of_many_claimers_one_owns_a_url(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let (world, origin, paths) = (&world, key("a.example"), ["/a", "/b", "/c"]);
    let claimers = (0..CROWD).map(|by| Claimer::trigger(&trigger(&by.to_string())));
    let claims = join_all(claimers.map(|claimer| world.claim(&origin, claimer, &paths))).await;
    for (n, path) in paths.iter().enumerate() {
        let owners = claims.iter().filter(|claims| claims[n] == Claim::Own { known: UrlHistory::default() }).count();
        assert_eq!(owners, 1, "{path}: {claims:?}");
    }
}

/// When parsers of many origins add to one origin at once, nothing is lost and the iteration counts
/// the origin once.
pub async fn todo_of_many_parsers_adds_up(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let target = key("target.example");
    let mut segments = Vec::new();
    for number in 0..CROWD {
        let origin = key(&format!("{number}.example"));
        world.seed(&origin, &["/"]).await;
        segments.push(world.crawl_until_idle(&origin, number.into(), 0).await);
    }
    let (world, found) = (&world, [(&target, &["/x", "/y"][..])]);
    let parses = join_all(segments.iter().map(|segment| world.parse(segment, (0, PartKind::Last), &found))).await;
    assert_eq!(parses, vec![ParseCommitted::Done; segments.len()]);
    let (inbox, open) = (world.origin(&target).await.inbox, world.row().await.open);
    assert_eq!((inbox.added, open), (2 * u64::from(CROWD), u64::from(CROWD) + 2), "the token and each origin once");
}
