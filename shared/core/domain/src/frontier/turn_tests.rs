use super::*;
use crate::frontier::host::tests::{DELAY, at, held_host, origin, pace, row, token, waiter};
use crate::frontier::{Barrier, Holder, HostHolder, IterationStatus, LeaseState, Reserve};
use crate::ids::{Iteration, TriggerId, Turn};
use crate::politeness::Pace;

/// Creates rows for tests in which the domain does not matter.
fn host(host: &HostRow) -> HostRows<'_> {
    HostRows { host: Some(host), domain: None }
}

fn taken_rows(taken: &TurnTaken) -> HostRows<'_> {
    HostRows { host: Some(&taken.host.host), domain: taken.host.domain.as_ref() }
}

fn iteration() -> IterationRow {
    let crawl = "c".parse().unwrap();
    let begun =
        IterationRow::begin(crawl, Iteration::FIRST, TriggerId("t".into()), Reserve::default(), at(0), None, at(60));
    IterationRow { status: IterationStatus::Open, open: 2, ..begun }
}

fn take(name: u128, now: i64) -> TakeRequest {
    let (until, host_until) = (at(now + 150), at(now + 390));
    TakeRequest {
        turn: Turn(1),
        token: token(name),
        until,
        host_until,
        wanted: Reserve::default(),
        now: at(now),
        alive: Vec::new(),
        hosts_per_domain: 4,
    }
}

#[test]
fn a_lease_is_taken_with_its_host_or_not_at_all() {
    let lease = Lease::opened(None, Iteration::FIRST, pace(), at(0));
    let (http, https) = (origin("http://a.example"), origin("https://a.example"));
    let taken = take_turn(&http, &lease, &iteration(), HostRows::default(), &take(1, 0)).unwrap();
    assert!(taken.lease.is_held_by(&token(1)) && taken.host.host.is_held_by(&token(1)));
    assert_eq!(
        taken.host.host.holder.as_ref().map(|holder| holder.until),
        Some(at(390)),
        "for longer than until the next commit"
    );
    let Err(TurnRefused::Host(HostRefused::Host(busy))) =
        take_turn(&https, &lease, &iteration(), taken_rows(&taken), &take(2, 1))
    else {
        panic!("the host is held")
    };
    assert_eq!((busy.until, busy.row.waiting.len()), (at(400), 1));
    let closed = Lease { state: LeaseState::Closed, ..lease.clone() };
    let refused = take_turn(&https, &closed, &iteration(), taken_rows(&taken), &take(2, 1));
    assert_eq!(refused, Err(TurnRefused::Lease(TakeRefused::NothingToDo)), "it does not wait either");

    let slow = Pace { last_response: DELAY * 2, back_off_exponent: 1, ..pace() };
    let free = HostRow { pace: slow, free_from: at(3), ..row() };
    let eager = Lease { barrier: Barrier::Open, ..lease };
    let taken = take_turn(&https, &eager, &iteration(), host(&free), &take(2, 5)).unwrap();
    assert_eq!((taken.lease.not_before, taken.lease.pace), (at(3), slow), "it continues at the pace that others left");
}

#[test]
fn a_takeover_includes_the_host() {
    let own = origin("https://a.example");
    let slow = Pace { last_response: DELAY * 2, back_off_exponent: 1, ..pace() };
    let dead = Holder { token: token(1), until: at(150), reserved: Reserve::default() };
    let lease =
        Lease { state: LeaseState::Leased(dead), pace: slow, ..Lease::opened(None, Iteration::FIRST, pace(), at(0)) };
    let mut waited_for = held_host();
    waited_for.waiting.push(waiter("https://2.example"));
    let taken = take_turn(&own, &lease, &iteration(), host(&waited_for), &take(3, 191)).unwrap();
    assert!(taken.host.host.is_held_by(&token(3)));
    assert_eq!(taken.host.host.pace, slow, "as its last commit said");
    assert_eq!(taken.host.host.waiting.len(), 1, "whoever waits keeps waiting");
    assert_eq!(taken.lease.not_before, at(231), "the dead holder's last request may have begun just now");
    let lost = HostRow { holder: Some(HostHolder { token: token(2), until: at(500) }), ..held_host() };
    let refused = take_turn(&own, &lease, &iteration(), host(&lost), &take(3, 191));
    assert!(matches!(refused, Err(TurnRefused::Host(HostRefused::Host(_)))), "another turn has the host by now");
}

#[test]
fn a_lease_is_taken_with_a_place_in_the_domain_or_not_at_all() {
    let lease = Lease::opened(None, Iteration::FIRST, pace(), at(0));
    let few = |name, now| TakeRequest { hosts_per_domain: 1, ..take(name, now) };
    let (one, other) = (origin("http://a.example.org"), origin("https://b.example.org:8443"));
    let taken = take_turn(&one, &lease, &iteration(), HostRows::default(), &few(1, 0)).unwrap();
    let domain = taken.host.domain.clone().expect("it belongs to one");
    assert!(domain.is_held_by(&token(1)));
    let full = HostRows { host: None, domain: Some(&domain) };
    let Err(TurnRefused::Host(HostRefused::Domain(busy))) = take_turn(&other, &lease, &iteration(), full, &few(2, 1))
    else {
        panic!("there is one place")
    };
    assert_eq!((busy.until, &busy.row.waiting[0].origin), (at(390), &other));
    let taken = take_turn(&other, &lease, &iteration(), full, &take(2, 1)).unwrap();
    assert_eq!(taken.host.domain.map(|row| row.holders.len()), Some(2), "whoever is allowed more places takes one");

    for free in ["http://192.0.2.7", "http://localhost:8080"] {
        let taken = take_turn(&origin(free), &lease, &iteration(), HostRows::default(), &few(1, 0)).unwrap();
        assert_eq!(taken.host.domain, None, "{free} belongs to no domain");
    }
}
