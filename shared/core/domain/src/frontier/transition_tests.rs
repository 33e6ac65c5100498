//! Tables of the transitions of more than one row: opening, settling, ending, iterations.

use std::time::Duration;

use jiff::Timestamp;

use super::SeedingMark::{Absent, There};
use super::*;
use crate::ids::{CrawlId, Iteration, LeaseToken, TriggerId, Turn};
use crate::politeness::Pace;

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

pub(super) fn iteration(open: u64, status: IterationStatus) -> IterationRow {
    let crawl: CrawlId = "c".parse().unwrap();
    let trigger = TriggerId("t".into());
    let begun = IterationRow::begin(crawl, Iteration::FIRST, trigger, Reserve::default(), at(0), None, at(60));
    IterationRow { open, status, ..begun }
}

pub(super) fn rows(state: LeaseState, taken: u64, segments: u64, added: u64, parsed: u64) -> OriginRows {
    let lease = Lease::opened(None, Iteration::FIRST, Pace::new(Duration::from_secs(1)), at(0));
    let inbox = Inbox { added, parsed, open: true, due: Some(at(9)), ..Inbox::new(Iteration::FIRST) };
    OriginRows { lease: Lease { state, taken, segments, ..lease }, inbox }
}

fn add(count: u64) -> AddTodo {
    AddTodo { count, pace: Pace::new(Duration::from_secs(3)), now: at(20), due: at(80) }
}

#[test]
fn an_idle_origin_is_settled_by_its_numbers() {
    use Settlement::{Close, CloseWithLeftovers, Wait, Wake};
    let idle = |taken, segments, added, parsed| rows(LeaseState::Idle, taken, segments, added, parsed);
    let with = |mut rows: OriginRows, change: fn(&mut Lease)| {
        change(&mut rows.lease);
        rows
    };
    let retry = |lease: &mut Lease| {
        let entry = TodoEntry::new("/");
        lease.retries.push(Retry { entry, depth: 0, tries: 1, not_before: at(1) });
    };
    for (rows, expected, why) in [
        (idle(2, 1, 2, 1), Close, "all taken, all parsed"),
        (idle(2, 1, 2, 0), Wait, "links may still come"),
        (idle(2, 1, 3, 1), Wake, "todo is left"),
        (idle(2, 1, 3, 0), Wake, "todo is left, and does not wait for the parser"),
        (with(idle(2, 1, 3, 0), |l| l.barrier = Barrier::Waiting), Wait, "what is left is too deep for now"),
        (with(idle(2, 1, 3, 1), |l| l.barrier = Barrier::Waiting), Wake, "everything less deep is parsed"),
        (with(idle(2, 1, 2, 1), retry), Wake, "a retry waits"),
        (with(idle(2, 1, 2, 1), |l| l.cursor = RecrawlCursor::Start), Wake, "candidates are left"),
        (with(idle(2, 1, 3, 1), |l| l.ending = Some(LeftoverReason::Stuck)), CloseWithLeftovers, "given up"),
        (with(idle(2, 1, 3, 0), |l| l.ending = Some(LeftoverReason::Stuck)), Wait, "given up, a segment is unparsed"),
        (rows(LeaseState::Ready, 2, 1, 3, 1), Wait, "its ticket is under way"),
        (rows(LeaseState::Closed, 2, 1, 2, 1), Wait, "closed"),
    ] {
        assert_eq!(settle(&rows.lease, &rows.inbox), expected, "{why}");
    }
}

#[test]
fn the_needs_of_an_origin_follow_from_its_rows() {
    let holder = Holder { token: LeaseToken::from_bits(1), until: at(1), reserved: Reserve::default() };
    for (rows, expected, why) in [
        (rows(LeaseState::Ready, 0, 0, 1, 0), Need::Ticket(Turn(1)), "its ticket may be lost"),
        (rows(LeaseState::Idle, 1, 1, 2, 1), Need::Settling, "todo came"),
        (rows(LeaseState::Idle, 1, 1, 1, 1), Need::Settling, "nothing is left"),
        (rows(LeaseState::Idle, 1, 1, 1, 0), Need::Nothing, "its last segment is unparsed"),
        (rows(LeaseState::Leased(holder), 1, 1, 2, 1), Need::Nothing, "its holder takes care of it, or the sweeper"),
        (rows(LeaseState::Closed, 1, 1, 1, 1), Need::Nothing, "closed"),
    ] {
        assert_eq!(need(&rows), expected, "{why}");
    }
}

#[test]
fn a_release_follows_from_the_state_of_the_origin() {
    let rows_of = |added, taken, segments, parsed| {
        let lease = Lease::opened(None, Iteration::FIRST, Pace::default(), at(0));
        let inbox = Inbox { added, parsed, ..Inbox::new(Iteration::FIRST) };
        (Lease { taken, segments, ..lease }, inbox)
    };
    let wake = |s| Release::Wake { not_before: at(s) };
    let entry = TodoEntry::new("/");
    let retry = |s| Retry { entry: entry.clone(), depth: 0, tries: 1, not_before: at(s) };
    type Change = fn(&mut Lease);
    let nothing: Change = |_| {};
    let at_barrier: Change = |lease| lease.barrier = Barrier::Waiting;
    let given_up: Change = |lease| lease.ending = Some(LeftoverReason::OriginGivenUp);
    for (numbers, retry_at, change, expected, why) in [
        ((9, 4, 2, 2), None, nothing, wake(10), "todo is left"),
        ((9, 4, 2, 1), None, nothing, wake(10), "todo is left, parsed or not"),
        ((4, 4, 2, 1), None, nothing, Release::Idle, "a segment may still bring todo"),
        ((4, 4, 2, 2), None, nothing, Release::Close, "nothing is left, and nothing can come"),
        ((4, 4, 2, 2), Some(20), nothing, wake(20), "a retry, not due yet"),
        ((4, 4, 2, 2), Some(5), nothing, wake(10), "a retry that is due, at the origin's pace"),
        ((9, 4, 2, 1), None, at_barrier, Release::Idle, "what is left is deeper than what is unparsed"),
        ((9, 4, 2, 2), None, at_barrier, wake(10), "all is parsed: the barrier is gone"),
        ((9, 4, 2, 2), Some(20), at_barrier, wake(20), "a retry of less depth keeps the barrier"),
        ((9, 4, 2, 1), None, given_up, Release::Idle, "given up, but a segment is unparsed"),
        ((9, 4, 2, 2), None, given_up, Release::CloseWithLeftovers, "given up"),
        ((4, 4, 2, 2), None, given_up, Release::CloseWithLeftovers, "given up with nothing left"),
    ] {
        let (added, taken, segments, parsed) = numbers;
        let (mut lease, inbox) = rows_of(added, taken, segments, parsed);
        lease.retries.extend(retry_at.map(retry));
        change(&mut lease);
        assert_eq!(decide_release(&lease, &inbox, at(10), at(1)), expected, "{why}");
    }
}

#[test]
fn an_origin_is_settled_only_if_it_is_unchanged() {
    let row = iteration(2, IterationStatus::Open);
    let wakes = rows(LeaseState::Idle, 2, 1, 3, 1);
    let closes = rows(LeaseState::Idle, 2, 1, 2, 1);
    let Some(SettledRows::Woken(woken)) = settle_origin(&wakes, &wakes, &row) else { panic!("work is left") };
    assert_eq!((woken.lease.state, woken.lease.turn, woken.inbox.due), (LeaseState::Ready, Turn(2), None));
    let Some(SettledRows::Closed(closed, after)) = settle_origin(&closes, &closes, &row) else { panic!("all is done") };
    assert_eq!((closed.lease.state, closed.inbox.open, closed.inbox.due), (LeaseState::Closed, false, None));
    assert_eq!(after.open, 1, "counted");
    let mut ends = wakes.clone();
    ends.lease.ending = Some(LeftoverReason::Stuck);
    let Some(SettledRows::ClosedWithLeftovers(ended)) = settle_origin(&ends, &ends, &row) else { panic!("given up") };
    assert_eq!((ended.leftover.count, ended.iteration.open), (1, 1));
    type Change = fn(&mut OriginRows);
    let changes: [(Change, &str); 6] = [
        (|rows| rows.inbox.added += 1, "todo came"),
        (|rows| rows.inbox.parsed += 1, "a segment was parsed"),
        (|rows| rows.lease.taken += 1, "todo was taken"),
        (|rows| rows.lease.segments += 1, "a segment was committed"),
        (|rows| rows.lease.turn = rows.lease.turn.next(), "a turn has passed"),
        (|rows| rows.lease.state = LeaseState::Ready, "another worker woke it"),
    ];
    for (change, why) in changes {
        for seen in [&wakes, &closes, &ends] {
            let mut now = seen.clone();
            change(&mut now);
            assert_eq!(settle_origin(&now, seen, &row), None, "{why}");
        }
    }
    let waits = rows(LeaseState::Idle, 2, 2, 2, 1);
    assert_eq!(settle_origin(&waits, &waits, &row), None, "a segment is yet to be parsed");
}

#[test]
fn an_origin_is_given_up_only_if_it_is_unchanged_and_free() {
    let row = iteration(2, IterationStatus::Stopping);
    let seen = rows(LeaseState::Ready, 2, 1, 7, 1);
    let reserved = Reserve { pages: Some(3), bytes: None };
    let holder = |number| Holder { token: LeaseToken::from_bits(number), until: at(100), reserved };
    let held = rows(LeaseState::Leased(holder(1)), 2, 1, 7, 1);
    let other = rows(LeaseState::Leased(holder(2)), 2, 1, 7, 1);
    let more = rows(LeaseState::Ready, 2, 1, 8, 1);
    let unparsed = rows(LeaseState::Ready, 2, 2, 7, 1);
    let mut later = seen.clone();
    later.lease.turn = Turn(2);
    for (now, seen, second, left, why) in [
        (&seen, &seen, 50, Some(5), "ready, and nobody took it"),
        (&more, &seen, 50, None, "todo came"),
        (&later, &seen, 50, None, "a turn has passed"),
        (&held, &seen, 200, None, "a worker took it"),
        (&other, &held, 200, None, "another worker took it over"),
        (&held, &held, 101, None, "held, and exactly a delay after its end"),
        (&held, &held, 102, Some(5), "its lease expired"),
        (&unparsed, &unparsed, 50, None, "links may still come"),
    ] {
        let given_up = give_up(now, seen, &row, LeftoverReason::Stopped, at(second));
        assert_eq!(given_up.map(|closed| closed.leftover.count), left, "{why}");
    }
    let budget = Reserve { pages: Some(1), bytes: None };
    let after = give_up(&held, &held, &IterationRow { budget, ..row }, LeftoverReason::Stopped, at(102)).unwrap();
    assert_eq!(after.iteration.budget.pages, Some(4), "what the dead holder had reserved comes back");
}

#[test]
fn todo_opens_closed_origins_until_the_iteration_is_over() {
    use IterationStatus::{Closed, Open, Stopping};
    let closed = rows(LeaseState::Closed, 2, 1, 2, 1);
    let idle = rows(LeaseState::Idle, 2, 1, 2, 1);
    let mut earlier = rows(LeaseState::Closed, 2, 1, 2, 1);
    earlier.inbox.iteration = Iteration::FIRST.next();
    for (rows, row, expected, why) in [
        (None, iteration(1, Open), Some((5, 1, Some(2))), "new"),
        (Some(&closed), iteration(1, Open), Some((7, 2, Some(2))), "closed in this iteration: its counts continue"),
        (Some(&earlier), iteration(1, Open), Some((5, 2, Some(2))), "of another iteration: counting starts again"),
        (Some(&idle), iteration(1, Open), Some((7, 1, None)), "open: the count stays"),
        (None, iteration(1, Stopping), Some((5, 1, Some(2))), "a parser may still open while it is stopping"),
        (None, iteration(0, Open), None, "nothing was open: zero is final"),
        (None, iteration(1, Closed), None, "closed"),
        (Some(&idle), iteration(0, Closed), Some((7, 1, None)), "nothing is opened, so the iteration does not matter"),
    ] {
        let after = add_todo(rows, &row, &add(5));
        let numbers =
            after.as_ref().map(|(rows, row)| (rows.inbox.added, rows.lease.turn.0, row.as_ref().map(|row| row.open)));
        assert_eq!(numbers, expected, "{why}");
        if let Some((rows, _)) = after {
            assert_eq!((rows.inbox.open, rows.inbox.due), (true, Some(at(80))), "{why}");
        }
    }
}

#[test]
fn seeds_are_added_once_per_iteration() {
    let [t, more, u] = [("t", 0), ("t", 1), ("u", 0)].map(|(by, part)| Seeding::new(&TriggerId(by.into()), part));
    let row = iteration(1, IterationStatus::Open);
    let (first, _) = seed(None, &row, Absent, &t, &add(2)).unwrap();
    assert_eq!(seed(Some(&first), &row, There, &t, &add(2)), Err(SeedRefused::Already), "again");
    let (second, _) = seed(Some(&first), &row, Absent, &more, &add(3)).unwrap();
    assert_eq!(second.inbox.added, 5, "more from the same trigger");
    let (third, opened) = seed(Some(&second), &row, Absent, &u, &add(1)).unwrap();
    assert_eq!((third.inbox.added, third.inbox.seeded, opened), (6, Vec::new(), None), "none is listed");
    let closed = iteration(0, IterationStatus::Closed);
    assert_eq!(seed(None, &closed, Absent, &t, &add(2)), Err(SeedRefused::IterationOver));
    assert_eq!(seed(None, &closed, There, &t, &add(2)), Err(SeedRefused::Already), "they came in time");
}

#[test]
fn seeds_listed_by_an_earlier_version_are_not_added_again() {
    let [t, u] = ["t", "u"].map(|by| Seeding::new(&TriggerId(by.into()), 0));
    let row = iteration(1, IterationStatus::Open);
    let (mut first, _) = seed(None, &row, Absent, &t, &add(2)).unwrap();
    first.inbox.seeded.push(t.clone());
    let stored = serde_json::to_string(&first.inbox).unwrap();
    first.inbox = Inbox { due: first.inbox.due, ..serde_json::from_str(&stored).unwrap() };
    assert_eq!(seed(Some(&first), &row, Absent, &t, &add(2)), Err(SeedRefused::Already), "it is listed");
    let (second, _) = seed(Some(&first), &row, Absent, &u, &add(1)).unwrap();
    assert_eq!((second.inbox.added, &second.inbox.seeded), (3, &vec![t.clone()]), "the list stays as it was");
    let next = IterationRow { number: Iteration::FIRST.next(), ..row };
    let (later, _) = seed(Some(&second), &next, Absent, &t, &add(2)).unwrap();
    assert_eq!((later.inbox.added, later.inbox.seeded.len()), (2, 0), "another iteration's");
    let unlisted = serde_json::to_string(&later.inbox).unwrap();
    assert!(!unlisted.contains("seeded"), "{unlisted}");
}

#[test]
fn the_leftovers_of_a_closed_origin_are_counted() {
    let row = iteration(2, IterationStatus::Stopping);
    let mut given_up = rows(LeaseState::Ready, 2, 1, 7, 1);
    given_up.lease.chunk = Some(ChunkPosition {
        key: ChunkKey {
            iteration: Iteration::FIRST,
            place: TodoPlace::by_depth(1),
            source: TodoSource::from_stored("s".into()),
            part: 0,
        },
        offset: 2,
    });
    let closed = close_with_leftovers(&given_up.lease, &given_up.inbox, &row).unwrap();
    let leftover = Leftover { iteration: Iteration::FIRST, turn: Turn(1), reason: LeftoverReason::Stopped, count: 5 };
    assert_eq!((closed.leftover, closed.iteration.open), (leftover, 1));
    assert_eq!(closed.chunk, given_up.lease.chunk.as_ref().map(|position| position.key.clone()));
    let OriginRows { lease, inbox } = &closed.rows;
    assert_eq!((lease.taken, &lease.chunk, &lease.state), (7, &None, &LeaseState::Closed));
    assert_eq!(lease.ending, Some(LeftoverReason::Stopped), "it takes no more work, should it open again");
    assert_eq!((inbox.open, inbox.due, lease.has_work(inbox)), (false, None, false), "nothing is left to check");
    assert_eq!(close_with_leftovers(lease, inbox, &closed.iteration), None, "once");
    given_up.lease.ending = Some(LeftoverReason::OriginGivenUp);
    let reason = close_with_leftovers(&given_up.lease, &given_up.inbox, &row).unwrap().leftover.reason;
    assert_eq!(reason, LeftoverReason::OriginGivenUp, "what the crawler said counts");
    given_up.inbox.parsed = 0;
    assert_eq!(close_with_leftovers(&given_up.lease, &given_up.inbox, &row), None, "a segment is unparsed");
}

#[test]
fn an_iteration_opens_and_closes_once() {
    use IterationStatus::{Closed, Open, Paused, Stopping};
    for (open, status, more, closes, why) in [
        (1, Open, true, false, "open"),
        (0, Open, false, true, "zero is final, though it is not closed yet"),
        (0, Stopping, false, true, "stopped, and everything is released"),
        (0, Paused, false, true, "paused with nothing left"),
        (1, Stopping, true, false, "a parser may still open origins"),
        (0, Closed, false, false, "closed once"),
    ] {
        let row = iteration(open, status);
        assert_eq!(row.one_origin_more().is_some(), more, "{why}");
        assert_eq!(row.close(at(5)).is_some(), closes, "{why}");
    }
    let row = iteration(2, Open);
    let returned = row.return_token().unwrap();
    assert_eq!((returned.open, returned.token_out, returned.due), (1, false, None));
    assert_eq!(returned.return_token(), None, "once");
    let closed = returned.one_origin_less().close(at(5)).unwrap();
    assert_eq!((closed.status, closed.closed_at), (Closed, Some(at(5))));
}

#[test]
fn only_limited_parts_of_a_budget_are_reserved() {
    let reserve = |pages, bytes| Reserve { pages, bytes };
    for (left, wanted, expected, why) in [
        (
            reserve(Some(9), None),
            reserve(Some(4), Some(7)),
            Some((reserve(Some(4), None), Some(5))),
            "bytes are unlimited",
        ),
        (
            reserve(Some(3), None),
            reserve(Some(4), None),
            Some((reserve(Some(3), None), Some(0))),
            "no more than is left",
        ),
        (reserve(Some(3), None), reserve(None, None), Some((reserve(Some(3), None), Some(0))), "all of it is wanted"),
        (reserve(None, None), reserve(Some(4), None), Some((reserve(None, None), None)), "nothing is limited"),
        (reserve(Some(0), None), reserve(Some(4), None), None, "spent"),
        (reserve(Some(3), Some(0)), reserve(Some(4), None), None, "one part is spent"),
    ] {
        let row = IterationRow { budget: left, ..iteration(1, IterationStatus::Open) };
        let granted = row.reserve(wanted);
        assert_eq!(granted.as_ref().map(|(got, after)| (*got, after.budget.pages)), expected, "{why}");
        if let Some((got, after)) = granted {
            assert_eq!(after.give_back(got).budget, left, "{why}: all of it comes back");
        }
    }
}

#[test]
fn a_turn_requests_a_fair_share_of_the_budget() {
    let reserve = |pages, bytes| Reserve { pages, bytes };
    let most = reserve(Some(50), Some(1_000));
    for (left, open, expected, why) in [
        (reserve(None, None), 3, reserve(None, None), "nothing is limited"),
        (reserve(Some(90), None), 3, reserve(Some(30), None), "a third, with three origins open"),
        (reserve(Some(900), Some(900)), 3, reserve(Some(50), Some(300)), "no more than a turn can use"),
        (reserve(Some(2), None), 3, reserve(Some(1), None), "something, as long as anything is left"),
        (reserve(Some(9), None), 0, reserve(Some(9), None), "no origin is open: nobody to share with"),
    ] {
        let row = IterationRow { budget: left, ..iteration(open, IterationStatus::Open) };
        assert_eq!(row.share(most), expected, "{why}");
    }
}

#[test]
fn an_iteration_gives_up_once_it_is_stopped_or_its_budget_is_spent() {
    use IterationStatus::{Closed, Open, Paused, Stopping};
    for (status, pages, expected, why) in [
        (Open, Some(1), None, "a page is left"),
        (Open, None, None, "unlimited"),
        (Open, Some(0), Some(LeftoverReason::BudgetExhausted), "spent, or reserved"),
        (Paused, Some(0), None, "it may be resumed"),
        (Stopping, Some(1), Some(LeftoverReason::Stopped), "stopped"),
        (Stopping, Some(0), Some(LeftoverReason::Stopped), "stopped, whatever is left"),
        (Closed, Some(0), None, "over"),
    ] {
        let row = IterationRow { budget: Reserve { pages, bytes: None }, ..iteration(1, status) };
        assert_eq!(row.gives_up(), expected, "{why}");
    }
}
