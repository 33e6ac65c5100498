use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::frontier::follow_up::longest_follow_up;
use crate::frontier::todo::longest_entry;
use crate::frontier::{IterationStatus, TodoEntry};
use crate::ids::{CrawlId, TriggerId};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn pages(pages: u64) -> Reserve {
    Reserve { pages: Some(pages), bytes: None }
}

fn token(number: u128) -> LeaseToken {
    LeaseToken::from_bits(number)
}

fn iteration(number: u32, status: IterationStatus, left: u64) -> IterationRow {
    let crawl: CrawlId = "c".parse().unwrap();
    let number = Iteration::new(number).unwrap();
    let begun = IterationRow::begin(crawl, number, TriggerId("t".into()), pages(left), at(0), None, at(60));
    IterationRow { status, open: 2, ..begun }
}

/// Creates the lease of an origin with a delay of 10 s that opened at 0 s.
fn opened() -> Lease {
    Lease::opened(None, Iteration::FIRST, Pace::new(Duration::from_secs(10)), at(0))
}

/// Creates the same lease, held by token 1 until 100 s, with 3 pages reserved.
fn held_lease() -> Lease {
    let holder = Holder { token: token(1), until: at(100), reserved: pages(3) };
    Lease { state: LeaseState::Leased(holder), ..opened() }
}

fn inbox(added: u64, parsed: u64) -> Inbox {
    Inbox { added, parsed, open: true, due: Some(at(60)), ..Inbox::new(Iteration::FIRST) }
}

fn retry() -> Retry {
    let entry = TodoEntry::new("/r");
    Retry { entry, depth: 0, tries: 1, not_before: at(5) }
}

#[test]
fn a_lease_is_taken_only_as_its_state_allows() {
    use IterationStatus::{Closed, Open, Paused, Stopping};
    let state = |state| Lease { state, ..opened() };
    let later = Lease { not_before: at(51), ..opened() };
    for (lease, turn, now, row, refused, why) in [
        (opened(), 1, 50, iteration(1, Open, 9), None, "ready"),
        (opened(), 2, 50, iteration(1, Open, 9), Some(TakeRefused::OtherTurn), "another turn"),
        (opened(), 1, 50, iteration(2, Open, 9), Some(TakeRefused::OtherTurn), "another iteration's ticket"),
        (opened(), 1, 50, iteration(1, Paused, 9), Some(TakeRefused::NotOpen), "paused"),
        (opened(), 1, 50, iteration(1, Stopping, 9), Some(TakeRefused::NotOpen), "stopping"),
        (opened(), 1, 50, iteration(1, Closed, 9), Some(TakeRefused::NotOpen), "over"),
        (opened(), 1, 50, iteration(1, Open, 0), Some(TakeRefused::NoBudget), "nothing left to reserve"),
        (later.clone(), 1, 50, iteration(1, Open, 9), Some(TakeRefused::NotBefore(at(51))), "a second early"),
        (later, 1, 51, iteration(1, Open, 9), None, "at the earliest time"),
        (held_lease(), 1, 110, iteration(1, Open, 9), Some(TakeRefused::Held), "a delay after its end, to the second"),
        (
            held_lease(),
            1,
            111,
            iteration(1, Open, 0),
            None,
            "expired; what was reserved is kept, so no budget is needed",
        ),
        (state(LeaseState::Idle), 1, 50, iteration(1, Open, 9), Some(TakeRefused::NothingToDo), "idle"),
        (state(LeaseState::Closed), 1, 50, iteration(1, Open, 9), Some(TakeRefused::NothingToDo), "closed"),
    ] {
        let take = TakeRequest {
            turn: Turn(turn),
            token: token(2),
            until: at(now + 120),
            host_until: at(now + 120),
            wanted: pages(4),
            now: at(now),
            alive: Vec::new(),
            hosts_per_domain: 4,
        };
        assert_eq!(lease.take(&row, &take).map(|_| ()).err(), refused, "{why}");
    }
}

#[test]
fn a_clock_that_is_set_back_does_not_prolong_the_delay() {
    let day = 86_400;
    let row = iteration(1, IterationStatus::Open, 9);
    for (written_at, not_before, now, free_from, why) in [
        (Some(50), 60, 55, 60, "the clock moved forward"),
        (Some(50), 60, 40, 60, "the caller may be late: that does not make it earlier"),
        (Some(1_050), 1_060, 40, 50, "set back: ten seconds from now"),
        (Some(day + 50), day + 60, 50, 60, "set back by a day"),
        (Some(day), 2 * day, day, 2 * day, "the longest wait, as its server asked for"),
        (Some(2 * day), 9 * day, 0, day, "no wait is longer, whatever is stored"),
        (None, day, 0, day, "an older version's row, with a possible wait"),
        (None, day + 60, 0, 0, "and one with an impossible wait"),
    ] {
        let lease = Lease { written_at: written_at.map(at), not_before: at(not_before), ..opened() };
        assert_eq!(lease.free_from(at(now)), at(free_from), "{why}");
        let void = Lease { state: held_lease().state, ..lease.clone() }.void(&row, at(now)).unwrap().0;
        assert_eq!((void.not_before, void.written_at), (at(free_from.max(now + 10)), Some(at(now))), "void: {why}");
        let take = TakeRequest {
            turn: Turn(1),
            token: token(2),
            until: at(now + 120),
            host_until: at(now + 120),
            wanted: pages(4),
            now: at(now),
            alive: Vec::new(),
            hosts_per_domain: 4,
        };
        let is_believed = free_from == not_before && free_from > now;
        match lease.take(&row, &take) {
            Err(refused) => assert_eq!((refused, is_believed), (TakeRefused::NotBefore(at(not_before)), true), "{why}"),
            Ok((taken, _)) => assert_eq!((taken.free_from(at(now)), is_believed), (at(free_from), false), "{why}"),
        }
    }
}

#[test]
fn taking_a_lease_reserves_budget_and_a_takeover_keeps_it() {
    let take = TakeRequest {
        turn: Turn(1),
        token: token(2),
        until: at(300),
        host_until: at(300),
        wanted: pages(4),
        now: at(111),
        alive: Vec::new(),
        hosts_per_domain: 4,
    };
    let row = iteration(1, IterationStatus::Open, 9);
    let (lease, after) = opened().take(&row, &take).unwrap();
    assert_eq!(lease.holder(), Some(&Holder { token: token(2), until: at(300), reserved: pages(4) }));
    assert_eq!((lease.attempts, lease.not_before, after.budget), (0, at(0), pages(5)));
    let (lease, after) = held_lease().take(&row, &take).unwrap();
    assert_eq!(lease.holder(), Some(&Holder { token: token(2), until: at(300), reserved: pages(3) }));
    assert_eq!((lease.attempts, lease.not_before, after), (1, at(121), row), "counted, and a delay from now on");
}

#[test]
fn a_holder_releases_only_if_the_inbox_is_unchanged() {
    let copy = |taken, segments| Lease { taken, segments, ..held_lease() };
    let with = |change: fn(&mut Lease)| {
        let mut lease = copy(3, 2);
        change(&mut lease);
        lease
    };
    let wake = Release::Wake { not_before: at(70) };
    let (all_parsed, unparsed, more) = (inbox(3, 2), inbox(3, 1), inbox(4, 2));
    for (last, seen, now, how, refused, why) in [
        (copy(3, 2), &unparsed, &unparsed, Release::Idle, false, "segments are yet to be parsed"),
        (copy(3, 2), &unparsed, &all_parsed, Release::Idle, true, "one was parsed since"),
        (copy(3, 2), &all_parsed, &more, Release::Idle, true, "todo was added since"),
        (copy(3, 2), &all_parsed, &all_parsed, Release::Close, false, "nothing is left"),
        (copy(2, 2), &all_parsed, &all_parsed, Release::Close, true, "todo is left"),
        (copy(3, 3), &all_parsed, &all_parsed, Release::Close, true, "a segment is unparsed"),
        (with(|l| l.retries.push(retry())), &all_parsed, &all_parsed, Release::Close, true, "a retry waits"),
        (
            with(|l| l.cursor = RecrawlCursor::Start),
            &all_parsed,
            &all_parsed,
            Release::Close,
            true,
            "candidates are left",
        ),
        (copy(2, 2), &all_parsed, &all_parsed, Release::CloseWithLeftovers, false, "what is left is given up"),
        (copy(2, 3), &all_parsed, &all_parsed, Release::CloseWithLeftovers, true, "links may still come"),
        (copy(3, 2), &all_parsed, &more, wake, false, "another turn will find it"),
    ] {
        let row = iteration(1, IterationStatus::Open, 9);
        let released = held_lease().release(&token(1), &last, seen, now, &row, how);
        assert_eq!(released.err(), refused.then_some(ReleaseRefused::Changed), "{how:?}: {why}");
        let fenced = held_lease().release(&token(2), &last, seen, now, &row, how);
        assert_eq!(fenced.err(), Some(ReleaseRefused::Fenced), "{how:?}: the token decides first");
    }
}

#[test]
fn a_release_returns_the_rest_of_the_budget_and_counts_closed_origins() {
    let last = Lease { taken: 3, segments: 2, ..held_lease() };
    let row = iteration(1, IterationStatus::Open, 9);
    for (how, state, turn, open, is_open) in [
        (Release::Wake { not_before: at(70) }, LeaseState::Ready, 2, 2, true),
        (Release::Idle, LeaseState::Idle, 1, 2, true),
        (Release::Close, LeaseState::Closed, 1, 1, false),
        (Release::CloseWithLeftovers, LeaseState::Closed, 1, 1, false),
    ] {
        let ReleasedRows { rows, iteration: after, leftover } =
            held_lease().release(&token(1), &last, &inbox(3, 2), &inbox(3, 2), &row, how).unwrap();
        assert_eq!(leftover.is_some(), how == Release::CloseWithLeftovers, "{how:?}: what is given up is reported");
        assert_eq!((rows.lease.state, rows.lease.turn), (state, Turn(turn)), "{how:?}");
        assert_eq!((after.budget, after.open, rows.inbox.open), (pages(12), open, is_open), "{how:?}");
        assert_eq!(rows.inbox.due.is_some(), is_open, "{how:?}: the sweeper has nothing to check when it is closed");
    }
}

#[test]
fn retries_are_limited_by_number_and_size() {
    let short = TodoEntry::new(format!("/{}", "x".repeat(100)));
    let long = TodoEntry { path_and_query: format!("/{}", "x".repeat(2_000)), ..short.clone() };
    let followed = TodoEntry { follow_up: Some(Box::new(longest_follow_up())), ..longest_entry() };
    for (entry, expected, why) in [
        (short, Retry::COUNT_MAX, "as many as are allowed"),
        (long, 7, "a long one takes the room of many"),
        (longest_entry(), 2, "the longest of a chunk"),
        (followed, 1, "the longest one has room alone"),
    ] {
        let mut retries: Vec<Retry> = Vec::new();
        while Retry::fits(&retries, &entry) {
            retries.push(Retry { entry: entry.clone(), depth: u32::MAX, tries: u8::MAX, not_before: Timestamp::MAX });
        }
        let json = serde_json::to_string(&retries).unwrap();
        assert_eq!(retries.len(), expected, "{why}");
        assert!(json.len() <= Retry::BYTES_MAX, "{why}: {} bytes", json.len());
        assert!(
            !Retry::leave_room(&retries) && Retry::leave_room(&retries[..retries.len() / 8]),
            "{why}: enough to be committed"
        );
    }
}

#[test]
fn a_dead_holders_lease_is_ready_again_with_its_delay_kept() {
    let row = iteration(1, IterationStatus::Open, 9);
    let (lease, after) = held_lease().void(&row, at(50)).unwrap();
    assert_eq!((lease.state, lease.turn, lease.not_before), (LeaseState::Ready, Turn(2), at(60)));
    assert_eq!(after.budget, pages(12));
    let waits = Lease { not_before: at(90), ..held_lease() };
    assert_eq!(waits.void(&row, at(50)).unwrap().0.not_before, at(90), "a longer wait is kept");
    for state in [LeaseState::Ready, LeaseState::Idle, LeaseState::Closed] {
        assert_eq!(Lease { state, ..opened() }.void(&row, at(50)), None, "nobody holds it");
    }
}

#[test]
fn requests_of_a_dead_holder_delay_the_next_one() {
    let row = iteration(1, IterationStatus::Open, 9);
    let take = |now| TakeRequest {
        turn: Turn(1),
        token: token(2),
        until: at(300),
        host_until: at(300),
        wanted: pages(4),
        now: at(now),
        alive: Vec::new(),
        hosts_per_domain: 4,
    };
    let unused = |lease| Lease { robots: RobotsUse::Unused, ..lease };
    assert_eq!(unused(opened()).take(&row, &take(50)).unwrap().0.robots, RobotsUse::Unused, "nobody asked yet");
    assert_eq!(unused(held_lease()).take(&row, &take(200)).unwrap().0.robots, RobotsUse::Used, "its holder may have");
    assert_eq!(
        unused(held_lease()).void(&row, at(50)).unwrap().0.robots,
        RobotsUse::Used,
        "so may a holder that is known to be dead"
    );
}

#[test]
fn a_lease_is_due_while_something_is_owed() {
    let grace = Duration::from_secs(5);
    for (lease, due, why) in [
        (Lease { not_before: at(20), ..opened() }, Some(at(25)), "its ticket"),
        (held_lease(), Some(at(115)), "a takeover, a delay after its end"),
        (Lease { state: LeaseState::Idle, ..opened() }, None, "the inbox says when to check"),
        (Lease { state: LeaseState::Closed, ..opened() }, None, "nothing"),
    ] {
        assert_eq!(lease.due(grace), due, "{why}");
    }
}

#[test]
fn an_origin_starts_over_for_an_iteration_and_continues_within_one() {
    let before = Lease {
        state: LeaseState::Closed,
        not_before: at(90),
        taken: 7,
        segments: 4,
        turn: Turn(5),
        ending: Some(LeftoverReason::Stopped),
        barrier: Barrier::Waiting,
        ..opened()
    };
    let pace = Pace::new(Duration::from_secs(2));
    let same = Lease::opened(Some(&before), Iteration::FIRST, pace, at(10));
    assert_eq!((same.turn, same.taken, same.segments, same.pace), (Turn(6), 7, 4, before.pace), "the same iteration");
    assert_eq!((same.barrier, same.not_before), (Barrier::Open, at(90)));
    let next = Lease::opened(Some(&before), Iteration::FIRST.next(), pace, at(10));
    assert_eq!((next.turn, next.taken, next.segments, next.pace), (Turn(6), 0, 0, pace), "the next one");
    assert_eq!((next.ending, next.cursor.clone()), (None, RecrawlCursor::Start));
    assert_eq!(next.not_before, at(90), "politeness spans iterations");
    let first = Lease::opened(None, Iteration::FIRST, pace, at(10));
    assert_eq!(
        (first.turn, first.cursor.clone()),
        (Turn(1), RecrawlCursor::End),
        "no earlier iteration can have left anything"
    );
}

proptest! {
    #[test]
    fn no_page_of_the_budget_is_lost_or_granted_twice(
        left in 0_u64..50, wanted in 1_u64..20, steps in prop::collection::vec(0_u8..4, 1..40)
    ) {
        let mut row = iteration(1, IterationStatus::Open, left);
        let mut lease = opened();
        let mut now = 0;
        for (number, step) in (0_u32..).zip(steps) {
            now += 1_000;
            let holder = token(u128::from(number));
            let take = TakeRequest { turn: lease.turn, token: holder, until: at(now + 100), host_until: at(now + 100), wanted: pages(wanted), now: at(now), alive: Vec::new(), hosts_per_domain: 4 };
            match (step, lease.holder().cloned()) {
                (0 | 1, _) => if let Ok(taken) = lease.take(&row, &take) { (lease, row) = taken },
                (2, Some(holder)) => {
                    let how = Release::Wake { not_before: at(now) };
                    let inbox = inbox(0, 0);
                    let released = lease.release(&holder.token, &lease, &inbox, &inbox, &row, how).unwrap();
                    (lease, row) = (released.rows.lease, released.iteration);
                }
                (_, Some(_)) => (lease, row) = lease.void(&row, at(now)).unwrap(),
                (_, None) => {}
            }
            let aside = lease.holder().and_then(|holder| holder.reserved.pages).unwrap_or(0);
            prop_assert_eq!(row.budget.pages, Some(left - aside));
        }
    }
}
