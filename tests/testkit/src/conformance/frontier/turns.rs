//! Turns: leases, segments, todo and releases.

use dragline_domain::frontier::{
    Lease, Release, ReleaseRefused, Reserve, SegmentCommitted, StatusChange, TakeRefused, TakeRequest,
};
use dragline_domain::ids::Turn;
use dragline_ports::frontier::Frontier;

use super::super::samples::{at, crawl, key, token};
use super::super::world::{DELAY, LEASE_S, PLACES, UNLIMITED, World};
use dragline_domain::frontier::PartKind;

fn pages(pages: u64) -> Reserve {
    Reserve { pages: Some(pages), bytes: None }
}

/// A ticket of the current turn gets one lease; a ticket of another turn gets none.
pub async fn a_lease_is_given_once(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    let take = |turn| {
        let take = TakeRequest {
            turn: Turn(turn),
            token: token(7),
            until: at(120),
            host_until: at(360),
            wanted: UNLIMITED,
            now: at(0),
            alive: Vec::new(),
            hosts_per_domain: PLACES,
        };
        let origin = &origin;
        async move { frontier.take_lease(origin, world.iteration, &take).await.unwrap() }
    };
    assert_eq!(take(1).await, Err(TakeRefused::NothingToDo), "it was never opened");
    world.seed(&origin, &["/"]).await;
    assert_eq!(take(2).await, Err(TakeRefused::OtherTurn), "a ticket of a later turn");
    let lease = take(1).await.expect("it is ready");
    assert!(lease.is_held_by(&token(7)));
    assert_eq!(world.origin(&origin).await.lease, lease, "the lease given is the lease stored");
    assert_eq!(world.try_take(&origin, 8, 1, UNLIMITED).await, Err(TakeRefused::Held), "a ticket delivered twice");
}

/// A holder whose time has run out loses the lease, but not before a delay has passed.
pub async fn a_lease_that_ran_out_is_taken_over_after_a_delay(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    world.take(&origin, 1, 0).await;
    let delay = i64::try_from(DELAY.as_secs()).unwrap();
    let end = LEASE_S + delay;
    assert_eq!(world.try_take(&origin, 2, end, UNLIMITED).await, Err(TakeRefused::Held), "the delay is not over");
    let lease = world.take(&origin, 2, end + 1).await;
    assert!(lease.is_held_by(&token(2)));
    assert_eq!(
        (lease.turn, lease.attempts, lease.not_before),
        (Turn(1), 1, at(end + 1 + delay)),
        "the same turn, tried again, after a whole delay"
    );
}

/// Once a lease is taken over its old holder cannot commit: not before the new holder does, not
/// after, and under no segment number.
pub async fn a_late_commit_by_an_old_holder_is_fenced(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let old = world.take(&origin, 1, 0).await;
    let late = world.segment(&origin, &old, 500).await;
    let new = world.take(&origin, 2, 500).await;
    assert_eq!(
        frontier.commit_segment(&late).await.unwrap(),
        SegmentCommitted::Fenced,
        "before the new holder's first commit"
    );
    assert_eq!(frontier.load_segment(&late.segment.id).await.unwrap(), None, "nothing of it was stored");
    let commit = world.commit(&origin, &new, 501).await;
    assert_eq!(commit.segment.id, late.segment.id, "both are this turn's first");
    assert_eq!(frontier.commit_segment(&late).await.unwrap(), SegmentCommitted::Fenced, "after it");
    assert_eq!(frontier.load_segment(&commit.segment.id).await.unwrap(), Some(commit.segment), "the new holder's");
    assert_eq!(world.origin(&origin).await.lease, commit.lease);
    let mut further = late;
    further.segment.id.n += 1;
    assert_eq!(frontier.commit_segment(&further).await.unwrap(), SegmentCommitted::Fenced, "under a free number");
}

/// A commit whose answer was lost is tried again: it counts once, and that is success.
pub async fn a_commit_that_is_tried_again_is_success(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/", "/b"]).await;
    let lease = world.take(&origin, 1, 0).await;
    let commit = world.commit(&origin, &lease, 1).await;
    assert_eq!(frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Done, "again");
    let rows = world.origin(&origin).await;
    assert_eq!((rows.lease.taken, rows.lease.segments), (2, 1), "counted once");
    assert_eq!(world.release(&origin, &commit.lease, Release::Idle).await, Ok(()));
    assert_eq!(
        frontier.commit_segment(&commit).await.unwrap(),
        SegmentCommitted::Done,
        "even after the lease was released"
    );
}

/// Chunks come by depth, then by who found them. Each can be read by its key until a commit
/// exhausts it.
pub async fn todo_comes_breadth_first_until_it_is_exhausted(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/s"]).await;
    let lease = world.take(&origin, 1, 0).await;
    let first = frontier.first_chunk(&origin, world.iteration, &[]).await.unwrap().expect("the seeds");
    let commit = world.commit(&origin, &lease, 1).await;
    assert_eq!(frontier.load_chunk(&origin, &first.key).await.unwrap(), None, "exhausted");
    world.parse(&commit.segment, (0, PartKind::Last), &[(&origin, &["/x", "/y"])]).await;
    world.seed_by(&origin, "u", &["/late-seed"]).await;
    let next =
        |skip: Vec<_>| async move { frontier.first_chunk(&key("a.example"), world.iteration, &skip).await.unwrap() };
    let seeds = next(vec![]).await.expect("two chunks wait");
    assert_eq!(
        (seeds.key.depth(), seeds.entries[0].path_and_query.as_str()),
        (0, "/late-seed"),
        "the lower depth comes first"
    );
    let links = next(vec![seeds.key.clone()]).await.expect("the other one");
    assert_eq!((links.key.depth(), links.entries.len()), (1, 2));
    assert_eq!(next(vec![links.key.clone(), seeds.key.clone()]).await, None, "both are taken already");
    assert_eq!(frontier.load_chunk(&origin, &links.key).await.unwrap(), Some(links), "by its key");
    let other = frontier.first_chunk(&origin, world.iteration.next(), &[]).await.unwrap();
    assert_eq!(other, None, "of another iteration");
}

/// A turn reserves pages when it begins and returns the rest; no more is reserved than is left.
pub async fn budget_is_never_exceeded(frontier: &impl Frontier) {
    let world = World::begin(frontier, pages(10)).await;
    let origins = ["a.example", "b.example", "c.example"].map(key);
    for origin in &origins {
        world.seed(origin, &["/"]).await;
    }
    let reserved = |lease: &Lease| lease.holder().expect("it is held").reserved;
    let first = world.try_take(&origins[0], 1, 0, pages(6)).await.unwrap();
    let second = world.try_take(&origins[1], 2, 0, pages(6)).await.unwrap();
    assert_eq!([reserved(&first), reserved(&second)], [pages(6), pages(4)], "no more than is left");
    assert_eq!(world.try_take(&origins[2], 3, 0, pages(6)).await, Err(TakeRefused::NoBudget));
    let taken_over = world.try_take(&origins[0], 4, 500, pages(6)).await.unwrap();
    assert_eq!(
        (reserved(&taken_over), world.row().await.budget),
        (pages(6), pages(0)),
        "a takeover keeps the reservation"
    );
    assert_eq!(world.release(&origins[1], &second, Release::Wake { not_before: at(1) }).await, Ok(()));
    assert_eq!(world.row().await.budget, pages(4), "it came back");
    assert_eq!(reserved(&world.try_take(&origins[2], 3, 500, pages(6)).await.unwrap()), pages(4));
}

/// A paused or stopping iteration gives no leases; holders go on.
pub async fn only_an_open_iteration_gives_leases(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let (held, free) = (key("a.example"), key("b.example"));
    for origin in [&held, &free] {
        world.seed(origin, &["/"]).await;
    }
    let lease = world.take(&held, 1, 0).await;
    for (change, expected) in [
        (StatusChange::Pause, Err(TakeRefused::NotOpen)),
        (StatusChange::Resume, Ok(())),
        (StatusChange::Stop, Err(TakeRefused::NotOpen)),
    ] {
        frontier.change_status(&crawl(), world.iteration, change).await.unwrap();
        let taken = world.try_take(&free, 2, 1, UNLIMITED).await;
        assert_eq!(taken.as_ref().map(|_| ()).map_err(|&refused| refused), expected, "{change:?}");
        if let Ok(lease) = taken {
            assert_eq!(world.release(&free, &lease, Release::Wake { not_before: at(1) }).await, Ok(()));
        }
    }
    world.commit(&held, &lease, 2).await;
}

/// When a parser adds todo between the holder's last look and its release, the release is refused;
/// the next one asks for another turn.
pub async fn a_wake_is_not_missed_when_todo_comes_during_release(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let lease = world.take(&origin, 1, 0).await;
    let commit = world.commit(&origin, &lease, 1).await;
    let seen = world.origin(&origin).await.inbox;
    world.parse(&commit.segment, (0, PartKind::Last), &[(&origin, &["/new"])]).await;
    for how in [Release::Idle, Release::Close, Release::CloseWithLeftovers] {
        let refused = world.release_having_seen(&origin, &commit.lease, seen.clone(), how).await;
        assert_eq!(refused, Err(ReleaseRefused::Changed), "{how:?}");
        assert_eq!(world.origin(&origin).await.lease, commit.lease, "it is still held");
    }
    assert_eq!(
        world.release(&origin, &commit.lease, Release::Close).await,
        Err(ReleaseRefused::Changed),
        "work is left"
    );
    assert_eq!(world.release(&origin, &commit.lease, Release::Wake { not_before: at(9) }).await, Ok(()));
    assert_eq!(world.try_take(&origin, 2, 8, UNLIMITED).await, Err(TakeRefused::NotBefore(at(9))));
    assert_eq!(world.take(&origin, 2, 9).await.turn, Turn(2));
}

/// A holder that lost its lease cannot release it for the new one.
pub async fn an_old_holder_cannot_let_go(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let old = world.take(&origin, 1, 0).await;
    let new = world.take(&origin, 2, 500).await;
    for how in [Release::Wake { not_before: at(500) }, Release::Idle, Release::Close, Release::CloseWithLeftovers] {
        assert_eq!(world.release(&origin, &old, how).await, Err(ReleaseRefused::Fenced), "{how:?}");
    }
    assert_eq!(world.origin(&origin).await.lease, new);
}

/// A release whose answer was lost is tried again and counts once. After somebody else took the
/// lease it is refused.
pub async fn a_release_that_is_tried_again_is_success(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    for (host, how) in [
        ("a.example", Release::Wake { not_before: at(5) }),
        ("b.example", Release::Idle),
        ("c.example", Release::CloseWithLeftovers),
    ] {
        let origin = key(host);
        world.seed(&origin, &["/"]).await;
        let lease = world.take(&origin, 1, 0).await;
        for why in ["the first time", "again"] {
            assert_eq!(world.release(&origin, &lease, how).await, Ok(()), "{how:?}, {why}");
        }
        let other = Release::Wake { not_before: at(9) };
        assert_eq!(world.release(&origin, &lease, other).await, Err(ReleaseRefused::Fenced), "not with other contents");
    }
    let origin = key("a.example");
    let lease = world.take(&origin, 2, 5).await;
    assert_eq!(world.release(&origin, &lease, Release::Wake { not_before: at(7) }).await, Ok(()));
    let rows = world.origin(&origin).await;
    assert_eq!((rows.lease.turn, rows.lease.not_before), (lease.turn.next(), at(7)), "once each");
}
