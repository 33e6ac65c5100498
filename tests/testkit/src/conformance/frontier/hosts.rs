//! Hosts: one visit at a time, whatever the scheme, the port and the crawl.

use std::time::Duration;

use dragline_domain::frontier::{HostRequest, Lease, OriginKey, PLACE_KEPT, Release, TakeRefused, WAITING_MAX};
use dragline_domain::politeness::Pace;
use dragline_domain::url::HostKey;
use dragline_ports::frontier::{Frontier, GiveBackHost};
use futures_util::future::join_all;

use super::super::samples::{at, key, token};
use super::super::world::{DELAY, HOST_S, LEASE_S, UNLIMITED, World, busy, host_ask};

/// Origins of one host: other schemes and ports.
const ORIGINS: [&str; 3] = ["http://a.example", "https://a.example", "https://a.example:8443"];

fn origins() -> [OriginKey; 3] {
    ORIGINS.map(|origin| OriginKey { origin: origin.parse().expect("an origin"), ..key("a.example") })
}

async fn begun<F: Frontier>(frontier: &F) -> (World<'_, F>, [OriginKey; 3]) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origins = origins();
    for origin in &origins {
        world.seed(origin, &["/"]).await;
    }
    (world, origins)
}

fn host() -> HostKey {
    HostKey::from_origin(&key("a.example").origin)
}

/// Drops the lease from the result, so that tests compare only the refusal.
fn refused(taken: Result<Lease, TakeRefused>) -> Result<(), TakeRefused> {
    taken.map(|_| ())
}

/// Releases a lease; its host is free from this second on.
async fn release(world: &World<'_, impl Frontier>, origin: &OriginKey, lease: &Lease, second: i64) {
    world.release_host(origin, lease, second, second - 5).await;
}

fn ask(by: u128, second: i64) -> HostRequest {
    let origin = OriginKey { origin: format!("https://{by}.example").parse().expect("an origin"), ..key("a.example") };
    host_ask(origin, by, second)
}

/// A host is not given while a lease on it is held. After that it is, as soon as it may be asked
/// again.
pub async fn a_host_is_visited_by_one_at_a_time(frontier: &impl Frontier) {
    let (world, [http, https, _]) = begun(frontier).await;
    let lease = world.take(&http, 1, 0).await;
    assert_eq!(refused(world.try_take(&https, 2, 5, UNLIMITED).await), busy(HOST_S + 1), "a delay after its end");
    world.seed(&key("b.example"), &["/"]).await;
    assert!(world.try_take(&key("b.example"), 9, 5, UNLIMITED).await.is_ok(), "other hosts are not affected");
    release(&world, &http, &lease, 40).await;
    assert_eq!(refused(world.try_take(&https, 2, 39, UNLIMITED).await), busy(40), "a second early");
    assert!(world.try_take(&https, 2, 40, UNLIMITED).await.is_ok());
}

/// A holder known to be alive keeps its lease and host, however late it is: the clock may have been
/// set, or the machine may have slept.
pub async fn who_is_known_to_live_is_not_replaced(frontier: &impl Frontier) {
    let (world, [http, https, _]) = begun(frontier).await;
    world.take(&http, 1, 0).await;
    let late = 100_000;
    let beside = |origin, by| world.try_take_beside(&[7, 1], origin, by, late, UNLIMITED);
    assert_eq!(refused(beside(&http, 2).await), Err(TakeRefused::Held));
    let kept = late + i64::try_from(PLACE_KEPT.as_secs()).unwrap();
    assert_eq!(refused(beside(&https, 3).await), busy(kept));
    let asked = HostRequest { alive: vec![token(1)], ..ask(4, late) };
    assert_eq!(frontier.take_host(&host(), &asked).await.unwrap().map(|row| row.holder), Err(at(kept)));
    assert!(world.try_take(&http, 5, late, UNLIMITED).await.is_ok(), "the holder is not known to be alive");
}

/// A commit does not write the host, which is held for a whole turn and given back by its holder.
pub async fn a_host_is_held_for_a_whole_turn(frontier: &impl Frontier) {
    let (world, [http, https, _]) = begun(frontier).await;
    let lease = world.take(&http, 1, 0).await;
    let commit = world.commit(&http, &lease, 100).await;
    assert_eq!(refused(world.try_take(&https, 2, LEASE_S + 5, UNLIMITED).await), busy(HOST_S + 1));
    release(&world, &http, &commit.lease, 200).await;
    assert!(world.try_take(&https, 2, 200, UNLIMITED).await.is_ok());
}

/// Taking over a dead holder's lease takes over its host. Holders of other leases wait until the
/// host's time is over.
pub async fn a_dead_holders_host_goes_with_its_lease(frontier: &impl Frontier) {
    let (world, [http, https, _]) = begun(frontier).await;
    world.take(&http, 1, 0).await;
    let second = LEASE_S + 2;
    assert_eq!(refused(world.try_take(&https, 2, second, UNLIMITED).await), busy(HOST_S + 1));
    let lease = world.take(&http, 3, second).await;
    let row = frontier.load_host(&host()).await.unwrap().expect("it was taken");
    assert!(row.is_held_by(&token(3)), "the lease was taken over: {row:?}");
    assert_eq!(lease.not_before, at(second + 1), "a whole delay after the takeover");
    let until = second + HOST_S + 1;
    assert_eq!(refused(world.try_take(&https, 2, until - 1, UNLIMITED).await), busy(until));
    assert!(world.try_take(&https, 2, until, UNLIMITED).await.is_ok(), "nobody gave it back");
    assert_eq!(
        world.release(&http, &lease, Release::Wake { not_before: at(until) }).await,
        Ok(()),
        "it still releases its own lease"
    );
    let row = frontier.load_host(&host()).await.unwrap().expect("it was taken");
    assert!(row.is_held_by(&token(2)), "but the host now belongs to another holder: {row:?}");
}

/// Those who wait for a host get it in their order, before the one who had it, unless they do not
/// come back in time.
pub async fn who_waits_for_a_host_takes_turns(frontier: &impl Frontier) {
    let (world, [http, https, port]) = begun(frontier).await;
    let lease = world.take(&http, 1, 0).await;
    for (origin, by) in [(&https, 2), (&port, 3), (&https, 4)] {
        assert_eq!(refused(world.try_take(origin, by, 5, UNLIMITED).await), busy(HOST_S + 1));
    }
    release(&world, &http, &lease, 10).await;
    let row = frontier.load_host(&host()).await.unwrap().expect("it was taken");
    let waiting: Vec<_> = row.waiting.iter().map(|waiter| &waiter.origin).collect();
    assert_eq!(waiting, [&https, &port], "each once");
    let kept = 10 + i64::try_from(PLACE_KEPT.as_secs()).unwrap();
    assert_eq!(refused(world.try_take(&http, 5, 11, UNLIMITED).await), busy(kept), "it had its turn");
    assert_eq!(refused(world.try_take(&port, 6, 12, UNLIMITED).await), busy(kept), "another is first in line");
    let lease = world.take(&https, 7, 13).await;
    release(&world, &https, &lease, 20).await;
    assert!(world.try_take(&http, 8, 49, UNLIMITED).await.is_err(), "it is last in line");
    assert!(world.try_take(&http, 8, 50, UNLIMITED).await.is_ok(), "the others did not come back");
}

/// A server's back-off for one crawler holds for the next.
pub async fn a_back_off_goes_with_the_host(frontier: &impl Frontier) {
    let (world, [http, https, _]) = begun(frontier).await;
    let mut lease = world.take(&http, 1, 0).await;
    lease.pace = Pace { last_response: Duration::from_secs(8), back_off_exponent: 2, ..lease.pace };
    release(&world, &http, &lease, 30).await;
    let next = world.take(&https, 2, 30).await;
    assert_eq!((next.pace, next.not_before), (lease.pace, at(30)));
}

/// A host can be taken without a lease, for a single request. Only its holder can give it back.
pub async fn a_host_is_taken_without_a_lease(frontier: &impl Frontier) {
    let (world, [http, ..]) = begun(frontier).await;
    assert_eq!(frontier.load_host(&host()).await.unwrap(), None, "nobody has asked it yet");
    let take = |by, second| {
        let ask = ask(by, second);
        async move { frontier.take_host(&host(), &ask).await.unwrap().map(|row| row.holder) }
    };
    let back = |by, second| {
        let (free_from, pace, now) = (at(second), Pace::new(DELAY), at(second));
        let back = GiveBackHost { host: host(), token: token(by), free_from, pace, now };
        async move { frontier.give_back_host(&back).await.unwrap() }
    };
    assert!(take(1, 0).await.is_ok());
    assert!(take(1, 1).await.is_ok(), "an earlier try whose answer was lost");
    assert_eq!(take(2, 2).await, Err(at(61)));
    assert_eq!(refused(world.try_take(&http, 3, 3, UNLIMITED).await), busy(61), "a lease does not help");
    back(2, 4).await;
    assert_eq!(take(2, 5).await, Err(at(61)), "only the holder can give it back");
    back(1, 6).await;
    assert!(take(2, 6).await.is_ok());
}

/// When many want a host at once, one gets it, and the line never exceeds its limit.
pub async fn of_many_who_want_a_host_one_has_it(frontier: &impl Frontier) {
    let asks: Vec<_> = (1..=20).map(|by| ask(by, 0)).collect();
    let taken = join_all(asks.iter().map(|ask| async { frontier.take_host(&host(), ask).await.unwrap() })).await;
    assert_eq!(taken.iter().filter(|taken| taken.is_ok()).count(), 1, "{taken:?}");
    let row = frontier.load_host(&host()).await.unwrap().expect("it was taken");
    assert_eq!(row.waiting.len(), WAITING_MAX);
}
