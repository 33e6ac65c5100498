//! How origins continue or end when nobody holds them.

use dragline_domain::frontier::{
    GiveUpOutcome, LeaseState, Leftover, LeftoverReason, OriginKey, OriginRows, PartKind, RecrawlCursor, Release,
    ReleaseRefused, Reserve,
};
use dragline_domain::ids::Turn;
use dragline_ports::frontier::{Frontier, GiveUp, SeedResult, SettleResult};

use super::super::lag::assert_comes_to;
use super::super::samples::{at, crawl, key};
use super::super::world::{DELAY, LEASE_S, UNLIMITED, World};

fn give_up<F>(world: &World<'_, F>, origin: &OriginKey, seen: &OriginRows, second: i64) -> GiveUp {
    GiveUp {
        origin: origin.clone(),
        iteration: world.iteration,
        seen: seen.clone(),
        reason: LeftoverReason::Stopped,
        now: at(second),
    }
}

/// Checks the leftovers in the iteration's progress.
async fn assert_leftovers(world: &World<'_, impl Frontier>, expected: &[(LeftoverReason, u64)]) {
    let leftovers = async || world.frontier.progress(&crawl(), world.iteration).await.unwrap().leftovers;
    assert_comes_to(leftovers, expected.to_vec(), "what is left over").await;
}

/// Todo that arrived while the last segment was parsed wakes an idle origin, once.
pub async fn an_idle_origin_is_woken_by_todo(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let segment = world.crawl_until_idle(&origin, 1, 0).await;
    world.parse(&segment, (0, PartKind::Last), &[(&origin, &["/x"])]).await;
    let seen = world.origin(&origin).await;
    assert_eq!(frontier.settle(&origin, &seen).await.unwrap(), SettleResult::Woken(Turn(2)));
    let rows = world.origin(&origin).await;
    assert_eq!((rows.lease.state, rows.lease.turn, rows.inbox.due), (LeaseState::Ready, Turn(2), None));
    assert_eq!(
        frontier.settle(&origin, &seen).await.unwrap(),
        SettleResult::Changed,
        "another parser settled it at the same time"
    );
    assert_eq!(world.take(&origin, 2, 20).await.turn, Turn(2));
}

/// An idle origin closes once everything is taken and parsed, and the iteration counts one less.
pub async fn an_idle_origin_with_nothing_left_is_closed(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let segment = world.crawl_until_idle(&origin, 1, 0).await;
    let unparsed = world.origin(&origin).await;
    assert_eq!(
        frontier.settle(&origin, &unparsed).await.unwrap(),
        SettleResult::Changed,
        "its segment is not parsed yet"
    );
    world.parse(&segment, (0, PartKind::Last), &[]).await;
    let seen = world.origin(&origin).await;
    assert_eq!(frontier.settle(&origin, &seen).await.unwrap(), SettleResult::Closed);
    let rows = world.origin(&origin).await;
    assert_eq!((rows.lease.state, rows.inbox.open, rows.inbox.due), (LeaseState::Closed, false, None));
    assert_eq!(world.row().await.open, 1, "only the token");
    assert_eq!(frontier.settle(&origin, &seen).await.unwrap(), SettleResult::Changed, "closed once");
    assert_eq!(world.row().await.open, 1);
}

/// A decision made from rows that have changed since has no effect.
pub async fn a_settlement_from_old_rows_changes_nothing(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let (origin, other) = (key("a.example"), key("b.example"));
    for origin in [&origin, &other] {
        world.seed(origin, &["/"]).await;
    }
    let segment = world.crawl_until_idle(&origin, 1, 0).await;
    let foreign = world.crawl_until_idle(&other, 2, 0).await;
    world.parse(&segment, (0, PartKind::Last), &[]).await;
    let could_close = world.origin(&origin).await;
    world.parse(&foreign, (0, PartKind::Last), &[(&origin, &["/late"])]).await;
    let before = world.origin(&origin).await;
    assert_eq!(frontier.settle(&origin, &could_close).await.unwrap(), SettleResult::Changed, "todo arrived meanwhile");
    assert_eq!(world.origin(&origin).await, before);
    assert_eq!(world.row().await.open, 3, "nothing closed");
}

/// Giving up an origin records how many URLs were queued but not fetched, and deletes its todo.
pub async fn an_origin_that_is_given_up_leaves_its_count(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/", "/a", "/b"]).await;
    let seen = world.origin(&origin).await;
    let request = give_up(&world, &origin, &seen, 5);
    let leftover = Leftover { iteration: world.iteration, turn: Turn(1), reason: LeftoverReason::Stopped, count: 3 };
    assert_eq!(frontier.give_up(&request).await.unwrap(), SettleResult::ClosedWithLeftovers(leftover));
    let rows = world.origin(&origin).await;
    assert_eq!((rows.lease.state, rows.lease.taken, rows.inbox.open), (LeaseState::Closed, 3, false));
    assert_eq!(rows.lease.ending, Some(LeftoverReason::Stopped), "it takes no more todo");
    assert_eq!(frontier.first_chunk(&origin, world.iteration, &[]).await.unwrap(), None);
    assert_eq!(frontier.give_up(&request).await.unwrap(), SettleResult::Changed, "once");
    assert_leftovers(&world, &[(LeftoverReason::Stopped, 3)]).await;
    assert_eq!(world.row().await.open, 1, "only the token");
}

/// An origin with an unparsed segment is not given up: links may still come from it.
pub async fn an_origin_is_not_given_up_while_segments_are_unparsed(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let segment = world.crawl_until_idle(&origin, 1, 0).await;
    let seen = world.origin(&origin).await;
    assert_eq!(frontier.give_up(&give_up(&world, &origin, &seen, 5)).await.unwrap(), SettleResult::Changed);
    assert_eq!(world.origin(&origin).await, seen);
    world.parse(&segment, (0, PartKind::Last), &[(&origin, &["/x", "/y"])]).await;
    assert_eq!(
        frontier.give_up(&give_up(&world, &origin, &seen, 5)).await.unwrap(),
        SettleResult::Changed,
        "todo arrived since"
    );
    let seen = world.origin(&origin).await;
    let given_up = frontier.give_up(&give_up(&world, &origin, &seen, 5)).await.unwrap();
    assert!(matches!(given_up, SettleResult::ClosedWithLeftovers(Leftover { count: 2, .. })), "{given_up:?}");
}

/// A held lease is left alone until it has run out and a delay has passed.
pub async fn a_living_holder_is_not_given_up(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let ready = world.origin(&origin).await;
    world.take(&origin, 1, 0).await;
    let held = world.origin(&origin).await;
    let end = LEASE_S + i64::try_from(DELAY.as_secs()).unwrap();
    for (seen, second, why) in [
        (&ready, 5, "it was taken since"),
        (&held, 5, "its holder has time left"),
        (&held, end, "the delay after its end has not passed"),
    ] {
        let answer = frontier.give_up(&give_up(&world, &origin, seen, second)).await.unwrap();
        assert_eq!(answer, SettleResult::Changed, "{why}");
        assert_eq!(world.origin(&origin).await, held, "{why}");
    }
    let given_up = frontier.give_up(&give_up(&world, &origin, &held, end + 1)).await.unwrap();
    assert!(matches!(given_up, SettleResult::ClosedWithLeftovers(Leftover { count: 1, .. })), "{given_up:?}");
}

/// What a dead holder had reserved returns to the iteration's budget, once.
pub async fn a_dead_holders_budget_goes_back(frontier: &impl Frontier) {
    let pages = |pages| Reserve { pages: Some(pages), bytes: Some(1_000) };
    let world = World::begin(frontier, pages(10)).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let wanted = Reserve { pages: Some(4), bytes: Some(300) };
    world.try_take(&origin, 1, 0, wanted).await.unwrap();
    assert_eq!(world.row().await.budget, Reserve { pages: Some(6), bytes: Some(700) });
    let seen = world.origin(&origin).await;
    for _ in 0..2 {
        frontier.give_up(&give_up(&world, &origin, &seen, 500)).await.unwrap();
        assert_eq!(world.row().await.budget, pages(10));
    }
}

/// A holder that gives up records the reason and the count. It can do so only once its own segments
/// are parsed.
pub async fn a_holder_lets_go_of_what_is_left(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let lease = world.take(&origin, 1, 0).await;
    let mut commit = world.commit(&origin, &lease, 1).await;
    commit.lease.ending = Some(LeftoverReason::OriginGivenUp);
    let refused = world.release(&origin, &commit.lease, Release::CloseWithLeftovers).await;
    assert_eq!(refused, Err(ReleaseRefused::Changed), "its segment is not parsed yet");
    world.parse(&commit.segment, (0, PartKind::Last), &[(&origin, &["/x", "/y"])]).await;
    assert_eq!(world.release(&origin, &commit.lease, Release::CloseWithLeftovers).await, Ok(()));
    let rows = world.origin(&origin).await;
    assert_eq!((rows.lease.state, rows.lease.taken, rows.inbox.open), (LeaseState::Closed, 3, false));
    assert_leftovers(&world, &[(LeftoverReason::OriginGivenUp, 2)]).await;
    assert_eq!(frontier.first_chunk(&origin, world.iteration, &[]).await.unwrap(), None, "its todo is gone");
    assert_eq!(world.row().await.open, 1, "only the token");
}

/// URLs of an origin that is given up wait for outcomes without a request: it gets turns until none
/// is left, and is closed only then.
pub async fn what_waits_at_an_origin_that_is_given_up_still_ends(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let lease = world.take(&origin, 1, 0).await;
    let mut commit = world.commit(&origin, &lease, 1).await;
    let given_up = Some(Box::new(GiveUpOutcome::after_failure("connection refused: a.example".to_owned())));
    commit.lease.ending = Some(LeftoverReason::OriginGivenUp);
    commit.lease.given_up.clone_from(&given_up);
    assert_eq!(world.release(&origin, &commit.lease, Release::Idle).await, Ok(()));
    world.parse(&commit.segment, (0, PartKind::Last), &[(&origin, &["/x"])]).await;
    let seen = world.origin(&origin).await;
    assert_eq!(seen.lease.given_up, given_up);
    assert_eq!(frontier.settle(&origin, &seen).await.unwrap(), SettleResult::Woken(Turn(2)), "a link leads to it");
    let lease = world.take(&origin, 2, 20).await;
    assert_eq!((lease.ending, &lease.given_up), (Some(LeftoverReason::OriginGivenUp), &given_up));
    let commit = world.commit(&origin, &lease, 1).await;
    world.parse(&commit.segment, (0, PartKind::Last), &[]).await;
    assert_eq!(world.release(&origin, &commit.lease, Release::CloseWithLeftovers).await, Ok(()));
    assert_leftovers(&world, &[(LeftoverReason::OriginGivenUp, 0)]).await;
    assert_eq!(world.row().await.open, 1, "only the token");
}

/// The next iteration resets the counts but not the turns, so that an old ticket never becomes
/// valid again. It visits known candidates.
pub async fn an_origin_opens_again_for_the_next_iteration(frontier: &impl Frontier) {
    let first = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    first.seed(&origin, &["/"]).await;
    let segment = first.crawl_until_idle(&origin, 1, 0).await;
    first.parse(&segment, (0, PartKind::Last), &[]).await;
    first.end(&[&origin]).await;
    let second = World::begin_by(frontier, "u", UNLIMITED).await;
    assert_eq!(second.seed_by(&origin, "u", &[]).await, SeedResult::Added, "only for its candidates");
    let rows = second.origin(&origin).await;
    assert_eq!((rows.lease.turn, rows.lease.cursor.clone()), (Turn(2), RecrawlCursor::Start));
    assert_eq!((rows.lease.segments, rows.lease.taken, rows.inbox.added, rows.inbox.parsed), (0, 0, 0, 0));
    let row = second.row().await;
    assert_eq!(
        (rows.lease.iteration, row.open, row.origins),
        (second.iteration, 2, 1),
        "each iteration counts its own"
    );
}
