//! Registered domains: a limited number of their hosts is visited at once.

use dragline_domain::frontier::{HostRequest, Lease, OriginKey, PLACE_KEPT, TakeRefused};
use dragline_domain::ids::LeaseToken;
use dragline_domain::politeness::Pace;
use dragline_domain::url::{DomainKey, HostKey};
use dragline_ports::frontier::{Frontier, GiveBackHost};
use futures_util::future::join_all;

use super::super::samples::{at, key, token};
use super::super::world::{DELAY, HOST_S, LEASE_S, PLACES, UNLIMITED, World, busy, host_ask};

/// An origin of the domain.
fn below(name: &str) -> OriginKey {
    key(&format!("{name}.domain.example"))
}

fn host(name: &str) -> HostKey {
    HostKey::from_origin(&below(name).origin)
}

fn domain() -> DomainKey {
    host("a").domain().expect("it has a registered domain")
}

async fn holders(frontier: &impl Frontier) -> Vec<LeaseToken> {
    let row = frontier.load_domain(&domain()).await.unwrap().expect("a host of it was taken");
    row.holders.into_iter().map(|holder| holder.token).collect()
}

/// Six origins of the domain, and the leases of the first four, which take all its places.
async fn full<F: Frontier>(frontier: &F) -> (World<'_, F>, Vec<(OriginKey, Lease)>) {
    let world = World::begin(frontier, UNLIMITED).await;
    let mut held = Vec::new();
    for (name, by) in [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5), ("f", 6)] {
        let origin = below(name);
        world.seed(&origin, &["/"]).await;
        if by <= u128::from(PLACES) {
            let lease = world.take(&origin, by, 0).await;
            held.push((origin, lease));
        }
    }
    (world, held)
}

async fn refused<F: Frontier>(world: &World<'_, F>, origin: &str, by: u128, second: i64) -> Result<(), TakeRefused> {
    world.try_take(&below(origin), by, second, UNLIMITED).await.map(|_| ())
}

async fn release(world: &World<'_, impl Frontier>, (origin, lease): &(OriginKey, Lease), second: i64) {
    world.release_host(origin, lease, second, second).await;
}

fn ask(name: &str, by: u128, second: i64) -> HostRequest {
    HostRequest { hosts_per_domain: Some(PLACES), ..host_ask(below(name), by, second) }
}

/// While all its places are taken no other host of the domain is given; other domains are not
/// affected.
pub async fn few_hosts_of_a_domain_are_visited_at_once(frontier: &impl Frontier) {
    let (world, held) = full(frontier).await;
    assert_eq!(refused(&world, "e", 5, 5).await, busy(HOST_S), "until the first place runs out");
    world.seed(&key("b.example"), &["/"]).await;
    assert!(world.try_take(&key("b.example"), 9, 5, UNLIMITED).await.is_ok(), "another domain");
    release(&world, &held[1], 40).await;
    assert_eq!(holders(frontier).await, [1, 3, 4].map(token));
    assert_eq!(refused(&world, "e", 5, 40).await, Ok(()));
    assert_eq!(refused(&world, "f", 6, 40).await, busy(HOST_S), "the only free place is taken again");
    assert_eq!(refused(&world, "f", 6, HOST_S).await, Ok(()), "the other places ran out");
}

/// Taking over a dead holder's lease takes over its place.
pub async fn a_dead_holders_place_goes_with_its_lease(frontier: &impl Frontier) {
    let (world, held) = full(frontier).await;
    let second = LEASE_S + 2;
    assert_eq!(refused(&world, "e", 5, second).await, busy(HOST_S), "its turn may go on");
    let (origin, lease) = (held[0].0.clone(), world.take(&held[0].0, 7, second).await);
    assert_eq!(holders(frontier).await, [7, 2, 3, 4].map(token), "the lease was taken over");
    release(&world, &held[1], second).await;
    release(&world, &(origin, lease), second).await;
    assert_eq!(holders(frontier).await, [3, 4].map(token), "both gave theirs back");
}

/// Those who wait get a place in their order, before those who had one, unless they do not come
/// back in time.
pub async fn who_waits_for_a_place_takes_turns(frontier: &impl Frontier) {
    let (world, held) = full(frontier).await;
    for (origin, by) in [("e", 5), ("f", 6), ("e", 7)] {
        assert_eq!(refused(&world, origin, by, 5).await, busy(HOST_S));
    }
    release(&world, &held[0], 10).await;
    let row = frontier.load_domain(&domain()).await.unwrap().expect("hosts of it were taken");
    let waiting: Vec<_> = row.waiting.iter().map(|waiter| &waiter.origin).collect();
    assert_eq!(waiting, [&below("e"), &below("f")], "each once");
    let kept = 10 + i64::try_from(PLACE_KEPT.as_secs()).unwrap();
    assert_eq!(refused(&world, "a", 8, 11).await, busy(kept), "it had its turn");
    assert_eq!(refused(&world, "f", 6, 12).await, busy(kept), "another is first in line");
    assert_eq!(refused(&world, "e", 5, 13).await, Ok(()));
    release(&world, &held[1], 20).await;
    assert_eq!(refused(&world, "a", 8, 49).await, busy(50), "it is last in line");
    assert_eq!(refused(&world, "a", 8, 50).await, Ok(()), "the others did not come back");
}

/// A single request takes a place, too, unless the caller has one. Only its holder can give it
/// back.
pub async fn a_place_is_taken_without_a_lease(frontier: &impl Frontier) {
    let (world, _) = full(frontier).await;
    let take = |ask: HostRequest| async move { frontier.take_host(&host("e"), &ask).await.unwrap().map(|_| ()) };
    let back = |by, second| {
        let (free_from, pace, now) = (at(second), Pace::new(DELAY), at(second));
        let back = GiveBackHost { host: host("e"), token: token(by), free_from, pace, now };
        async move { frontier.give_back_host(&back).await.unwrap() }
    };
    assert_eq!(take(ask("x", 7, 5)).await, Err(at(HOST_S)));
    assert_eq!(refused(&world, "e", 5, 5).await, busy(HOST_S), "and its host was not taken");
    assert_eq!(take(HostRequest { hosts_per_domain: None, ..ask("x", 7, 5) }).await, Ok(()), "the caller has a place");
    assert_eq!(holders(frontier).await, [1, 2, 3, 4].map(token));
    back(7, 6).await;
    assert_eq!(take(HostRequest { hosts_per_domain: Some(PLACES + 1), ..ask("x", 8, 7) }).await, Ok(()));
    assert_eq!(holders(frontier).await, [1, 2, 3, 4, 8].map(token));
    back(9, 8).await;
    assert_eq!(holders(frontier).await.len(), 5, "only the holder can give it back");
    back(8, 9).await;
    assert_eq!(holders(frontier).await, [1, 2, 3, 4].map(token));
}

/// When many want a place at once, exactly as many get one as there are.
pub async fn of_many_who_want_a_place_as_many_have_one_as_there_are(frontier: &impl Frontier) {
    let names: Vec<_> = (1..=12).map(|by| (format!("h{by}"), by)).collect();
    let taken = names
        .iter()
        .map(|(name, by)| async move { frontier.take_host(&host(name), &ask(name, *by, 0)).await.unwrap() });
    let taken = join_all(taken).await;
    assert_eq!(taken.iter().filter(|taken| taken.is_ok()).count(), usize::from(PLACES), "{taken:?}");
    let row = frontier.load_domain(&domain()).await.unwrap().expect("hosts of it were taken");
    assert_eq!((row.holders.len(), row.waiting.len()), (usize::from(PLACES), 12 - usize::from(PLACES)));
}
