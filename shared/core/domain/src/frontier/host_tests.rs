use super::*;
use crate::ids::{Iteration, Turn};

pub(in crate::frontier) const DELAY: Duration = Duration::from_secs(10);

pub(in crate::frontier) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + second).unwrap()
}

pub(in crate::frontier) fn token(number: u128) -> LeaseToken {
    LeaseToken::from_bits(number)
}

pub(in crate::frontier) fn origin(text: &str) -> OriginKey {
    OriginKey { crawl: "c".parse().unwrap(), origin: text.parse().unwrap() }
}

pub(in crate::frontier) fn pace() -> Pace {
    Pace::new(DELAY)
}

pub(in crate::frontier) fn waiter(host: &str) -> HostWaiter {
    HostWaiter { origin: origin(host), iteration: Iteration::FIRST, turn: Turn(1), delay: DELAY }
}

/// Asks for the host for 390 s, for the origin with this name, whose number is its token.
pub(in crate::frontier) fn ask(name: u128, now: i64) -> HostRequest {
    let waiter = waiter(&format!("https://{name}.example"));
    let (until, now) = (at(now + 390), at(now));
    HostRequest { waiter, token: token(name), until, pace: pace(), now, alive: Vec::new(), hosts_per_domain: None }
}

pub(in crate::frontier) fn row() -> HostRow {
    HostRow::new(pace(), at(0))
}

pub(in crate::frontier) fn held_host() -> HostRow {
    HostRow::take(Some(&row()), &ask(1, 0), None).unwrap()
}

fn busy_until(row: &HostRow, ask: &HostRequest) -> Option<i64> {
    let refused = HostRow::take(Some(row), ask, None).err()?;
    Some(refused.until.duration_since(at(0)).as_secs())
}

#[test]
fn a_host_has_one_holder_until_it_is_given_back_or_expires() {
    let later = HostRow { free_from: at(60), ..row() };
    let slow = HostRequest { pace: Pace::new(DELAY * 3), ..ask(2, 60) };
    for (row, ask, until, why) in [
        (row(), ask(2, 0), None, "nobody asks it"),
        (held_host(), ask(2, 399), Some(400), "a worker asks it, or did until just now"),
        (held_host(), ask(2, 400), None, "a delay after the dead holder's end"),
        (held_host(), ask(1, 5), None, "an earlier try, whose answer was lost"),
        (later.clone(), ask(2, 59), Some(60), "the host asked to be left alone"),
        (later.clone(), ask(2, 60), None, "no longer"),
        (later, slow, Some(80), "whoever has a longer delay keeps it after others, too"),
    ] {
        assert_eq!(busy_until(&row, &ask), until, "{why}");
    }
    let refused = HostRow::take(None, &ask(2, 0), None);
    assert!(refused.is_ok(), "a host that nobody asked yet");
    let inherited = HostRow::take(Some(&held_host()), &ask(2, 100), Some(&token(1))).unwrap();
    assert!(inherited.is_held_by(&token(2)), "its holder's lease expired and was taken over");
    assert!(HostRow::take(Some(&held_host()), &ask(2, 100), Some(&token(3))).is_err(), "another worker's was");
}

#[test]
fn only_its_holder_gives_it_back() {
    assert_eq!(held_host().give_back(&token(2), at(50), pace(), at(50)), None);
    let back = held_host().give_back(&token(1), at(50), Pace { back_off_exponent: 3, ..pace() }, at(50)).unwrap();
    assert_eq!((back.holder, back.free_from, back.pace.back_off_exponent), (None, at(50), 3));
    let early = HostRow { free_from: at(70), ..held_host() }.give_back(&token(1), at(50), pace(), at(50)).unwrap();
    assert_eq!(early.free_from, at(70), "it never goes back");
}

#[test]
fn waiting_turns_get_the_host_in_order() {
    // 1 holds it; 2 and 3 wait in this order, and 2 asks once more.
    let mut row = held_host();
    for (name, now) in [(2, 1), (3, 2), (2, 3)] {
        row = HostRow::take(Some(&row), &ask(name, now), None).unwrap_err().row;
    }
    assert_eq!(row.waiting.len(), 2, "each once");
    assert_eq!(row.next(), None, "somebody has it");
    let free = row.give_back(&token(1), at(250), pace(), at(250)).unwrap();
    assert_eq!(free.next(), Some(&waiter("https://2.example")));
    assert_eq!(busy_until(&free, &ask(1, 251)), Some(280), "whoever had it goes to the end");
    assert_eq!(busy_until(&free, &ask(3, 251)), Some(280), "the second is not first");
    let second = HostRow::take(Some(&free), &ask(2, 251), None).unwrap();
    assert_eq!(second.waiting, [waiter("https://3.example")], "and no longer waits");
    let third = HostRow::take(Some(&free), &ask(3, 280), None).unwrap();
    assert_eq!(third.waiting, [], "the one that did not come has lost its place");
}

#[test]
fn the_queue_is_limited() {
    let mut row = held_host();
    for name in 2..100 {
        row = HostRow::take(Some(&row), &ask(name, 1), None).unwrap_err().row;
    }
    assert_eq!(row.waiting.len(), WAITING_MAX);
}

#[test]
fn a_back_off_applies_to_all_for_an_hour() {
    let backed_off = Pace { last_response: Duration::from_secs(4), back_off_exponent: 2, ..pace() };
    let free = HostRow { pace: backed_off, ..row() };
    let quick = |now| HostRequest { pace: Pace::new(Duration::from_secs(1)), ..ask(2, now) };
    let taken = HostRow::take(Some(&free), &quick(20), None).unwrap();
    assert_eq!((taken.pace.delay(), taken.pace.base_delay), (Duration::from_secs(16), Duration::from_secs(1)));
    let taken = HostRow::take(Some(&free), &quick(3_600), None).unwrap();
    assert_eq!(taken.pace.delay(), Duration::from_secs(1), "long ago");
}

#[test]
fn dead_holders_lose_the_host() {
    let mut row = held_host();
    row.waiting.push(waiter("https://2.example"));
    let void = row.void(at(50));
    assert_eq!((void.holder, void.free_from, void.waiting), (None, at(60), vec![]), "the delay is kept");
    let free = HostRow { free_from: at(40), holder: None, ..held_host() };
    assert_eq!(free.void(at(50)).free_from, at(60), "nobody knows when it was last asked if the clock was set");
}

#[test]
fn a_clock_that_is_set_back_does_not_prolong_waits() {
    let day = 86_400;
    let backed_off = HostRow { free_from: at(day + 100), written_at: at(day), ..row() };
    let moved = backed_off.by_clock(at(50));
    assert_eq!((moved.free_from, moved.written_at), (at(150), at(50)), "a hundred seconds were to be waited for");
    assert_eq!(backed_off.by_clock(at(day + 30)), backed_off, "the clock moved forward");
    let held =
        HostRow::take(Some(&HostRow { written_at: at(day), free_from: at(day), ..row() }), &ask(1, day), None).unwrap();
    let busy = HostRow::take(Some(&held), &ask(2, 50), None).unwrap_err();
    assert_eq!(busy.until, at(450), "its holder has it for as long as before");
    assert_eq!(busy_until(&busy.row, &ask(2, 449)), Some(450), "and no longer");
    assert_eq!(busy_until(&busy.row, &ask(2, 450)), None);
    let far = HostRow { free_from: at(100 * day), written_at: at(day), ..row() };
    assert_eq!(far.by_clock(at(50)).free_from, after(at(50), RETRY_AFTER_MAX), "no wait is longer");
}
