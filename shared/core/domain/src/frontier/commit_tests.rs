//! Tables of commits that happen once: beginning an iteration, segments, parts of a parse.

use std::time::Duration;

use super::transition_tests::{at, iteration, rows};
use super::*;
use crate::ids::{Iteration, LeaseToken, Turn};
use crate::outcome::Outcome;
use crate::politeness::Pace;

fn key(host: &str) -> OriginKey {
    OriginKey { crawl: "c".parse().unwrap(), origin: format!("https://{host}.example").parse().unwrap() }
}

fn token(number: u128) -> LeaseToken {
    LeaseToken::from_bits(number)
}

/// Creates a segment of origin a, written by the bearer of this token.
fn segment(bearer: u128, state: SegmentState) -> SegmentRow {
    let id = SegmentId { origin: key("a"), turn: Turn(1), n: 0 };
    SegmentRow {
        object: ObjectKey::for_segment(&id, Iteration::FIRST, &token(bearer)),
        id,
        iteration: Iteration::FIRST,
        token: token(bearer),
        state,
        object_bytes: 1,
        entries: 1,
        put_off: 0,
        committed_at: at(0),
        attempts: 0,
        parsing: None,
        due: (state != SegmentState::Processed).then(|| at(9)),
    }
}

const fn crawled(part: u32) -> SegmentState {
    SegmentState::Crawled { part }
}

#[test]
fn a_trigger_begins_one_iteration_if_none_is_running() {
    use IterationStatus::{Closed, Open, Paused, Stopping};
    let row = |status| iteration(1, status);
    let begin = |number| Decided::Write(IterationBegun::Iteration(iteration(number, Open)));
    let go_on = |status| Decided::Leave(IterationBegun::Iteration(row(status)));
    let busy = |status| Decided::Leave(IterationBegun::Busy(row(status)));
    for (earlier, latest, expected, why) in [
        (None, None, begin(1), "the first of a crawl"),
        (None, Some(row(Closed)), begin(2), "the last one is over"),
        (None, Some(row(Open)), busy(Open), "another trigger's runs"),
        (None, Some(row(Paused)), busy(Paused), "a paused one is not over"),
        (None, Some(row(Stopping)), busy(Stopping), "nor is one that is stopping"),
        (Some(row(Open)), Some(row(Open)), go_on(Open), "the command came again"),
        (Some(row(Closed)), Some(row(Closed)), go_on(Closed), "again, once it is over"),
    ] {
        let begun = begin_iteration(earlier, latest.as_ref(), |number| iteration(u64::from(number.number()), Open));
        assert_eq!(begun, expected, "{why}");
    }
}

#[test]
fn only_the_bearer_of_the_leases_token_commits_and_each_segment_once() {
    use Decided::{Leave, Write};
    use SegmentCommitted::{Done, Fenced};
    let held = |bearer| {
        let holder = Holder { token: token(bearer), until: at(5), reserved: Reserve::default() };
        rows(LeaseState::Leased(holder), 0, 0, 1, 0).lease
    };
    let free = |state| rows(state, 0, 0, 1, 0).lease;
    let written = |bearer| segment(bearer, crawled(0));
    for (lease, earlier, expected, why) in [
        (Some(held(1)), None, Write(Done), "it holds the lease; whether that has expired does not matter"),
        (Some(held(2)), None, Leave(Fenced), "another worker took over"),
        (Some(free(LeaseState::Ready)), None, Leave(Fenced), "the lease was taken away"),
        (Some(free(LeaseState::Closed)), None, Leave(Fenced), "the origin is closed"),
        (None, None, Leave(Fenced), "there is no such origin"),
        (Some(held(1)), Some(written(1)), Leave(Done), "its own earlier try, whose answer was lost"),
        (Some(held(2)), Some(written(1)), Leave(Done), "done before the other worker took over"),
        (
            Some(free(LeaseState::Closed)),
            Some(segment(1, SegmentState::Processed)),
            Leave(Done),
            "done, and parsed since",
        ),
        (
            Some(held(1)),
            Some(written(2)),
            Leave(Fenced),
            "another worker wrote it, though the lease looks like its own",
        ),
        (Some(held(2)), Some(written(2)), Leave(Fenced), "another worker took over and wrote it"),
    ] {
        assert_eq!(commit_segment(lease.as_ref(), earlier.as_ref(), &written(1)), expected, "{why}");
    }
}

#[test]
fn parts_are_committed_in_order() {
    let crawled = |part| segment(1, crawled(part));
    let done = || segment(1, SegmentState::Processed);
    for (before, part, kind, expected, why) in [
        (crawled(0), 0, PartKind::More, Ok(crawled(1)), "the first of several"),
        (crawled(1), 1, PartKind::Last, Ok(done()), "the last: nothing is left to do"),
        (crawled(1), 0, PartKind::More, Err(PartRefused::GoOnAt(1)), "another worker committed it"),
        (crawled(0), 1, PartKind::Last, Err(PartRefused::GoOnAt(0)), "an earlier part is missing"),
        (done(), 1, PartKind::Last, Err(PartRefused::AlreadyParsed), "another worker was here"),
    ] {
        assert_eq!(before.commit_part(part, kind), expected, "{why}");
    }
}

fn target(host: &str, pages: u64) -> Target {
    let entry = |page| TodoEntry::new(format!("/{page}"));
    let source = TodoSource::segment(&segment(1, crawled(0)).id, at(0));
    let key_of = ChunkKey { iteration: Iteration::FIRST, place: TodoPlace::by_depth(1), source, part: 0 };
    Target { origin: key(host), chunks: vec![TodoChunk { key: key_of, entries: (0..pages).map(entry).collect() }] }
}

/// Commits a part of the segment of origin a.
fn commit(
    state: SegmentState,
    origins: &RowsByOrigin,
    row: &IterationRow,
    (number, kind): (u32, PartKind),
    targets: &[Target],
) -> Result<PartCommitted, PartNotCommitted> {
    let counters =
        ParserCounters { found: 3, outcomes: [(Outcome::FileIngested, 1)].into(), ..ParserCounters::default() };
    let pace = Pace::new(Duration::from_secs(3));
    let part = PartCommit { number, kind, targets, pace, counters: &counters, pages: &[], now: at(20), due: at(80) };
    commit_part(&segment(1, state), origins, row, &part)
}

#[test]
fn a_parse_adds_todo_opens_closed_origins_and_counts_its_segment() {
    let row = iteration(1, IterationStatus::Open);
    let idle = rows(LeaseState::Idle, 1, 1, 1, 0);
    let closed = rows(LeaseState::Closed, 2, 1, 2, 1);
    let last = (0, PartKind::Last);
    let own = |added, parsed| (key("a"), added, parsed, LeaseState::Idle);
    let other = |added, parsed, state| (key("b"), added, parsed, state);
    for (rows_of_b, targets, expected, open, why) in [
        (None, vec![], vec![own(1, 1)], None, "it found nothing: only its own segment is counted as parsed"),
        (None, vec![target("a", 2)], vec![own(3, 1)], None, "its own origin, which is open"),
        (None, vec![target("b", 2)], vec![own(1, 1), other(2, 0, LeaseState::Ready)], Some(2), "a new origin opens"),
        (
            Some(&closed),
            vec![target("a", 1), target("b", 2)],
            vec![own(2, 1), other(4, 1, LeaseState::Ready)],
            Some(2),
            "a closed one opens again, and its counts continue",
        ),
        (
            Some(&idle),
            vec![target("b", 2)],
            vec![own(1, 1), other(3, 0, LeaseState::Idle)],
            None,
            "an open one stays as it is: whoever commits wakes it next",
        ),
    ] {
        let mut origins = RowsByOrigin::from([(key("a"), idle.clone())]);
        origins.extend(rows_of_b.map(|rows| (key("b"), rows.clone())));
        let after = commit(crawled(0), &origins, &row, last, &targets).unwrap();
        let numbers = |(key, rows): (&OriginKey, &OriginRows)| {
            (key.clone(), rows.inbox.added, rows.inbox.parsed, rows.lease.state.clone())
        };
        assert_eq!(after.origins.iter().map(numbers).collect::<Vec<_>>(), expected, "{why}");
        assert!(after.origins.values().all(|rows| rows.inbox.due == Some(at(80))), "{why}: the sweeper checks");
        assert_eq!(after.iteration.map(|row| row.open), open, "{why}: the count is written only if it changed");
        assert_eq!(after.segment, segment(1, SegmentState::Processed), "{why}");
        assert_eq!(after.origins[&key("a")].inbox.counters.found, 3, "{why}: counted with its own origin");
    }
}

#[test]
fn only_the_last_part_of_a_parse_counts_its_segment() {
    let row = iteration(1, IterationStatus::Open);
    let origins = RowsByOrigin::from([(key("a"), rows(LeaseState::Idle, 1, 1, 1, 0))]);
    let first = commit(crawled(0), &origins, &row, (0, PartKind::More), &[target("a", 2)]).unwrap();
    let inbox = &first.origins[&key("a")].inbox;
    assert_eq!((inbox.added, inbox.parsed, inbox.counters.found), (3, 0, 0));
    assert_eq!(first.segment.state, crawled(1));
    let two = [target("b", 1), target("d", 1)];
    let second = commit(crawled(1), &origins, &row, (1, PartKind::Last), &two).unwrap();
    assert_eq!(second.iteration.map(|row| row.open), Some(3), "two origins opened by one part");
    assert_eq!((second.segment.state, second.origins[&key("a")].inbox.parsed), (SegmentState::Processed, 1));
}

#[test]
fn a_refused_part_writes_nothing() {
    use IterationStatus::{Closed, Open, Stopping};
    let origins = || RowsByOrigin::from([(key("a"), rows(LeaseState::Idle, 1, 1, 1, 0))]);
    let refused = |refused| Some(PartNotCommitted::Refused(refused));
    let (last, over) = ((0, PartKind::Last), Some(PartNotCommitted::Over));
    for (state, origins, row, part, expected, why) in [
        (crawled(0), origins(), iteration(1, Stopping), last, None, "what is parsed while stopping is still counted"),
        (SegmentState::Processed, origins(), iteration(1, Open), last, refused(PartRefused::AlreadyParsed), "parsed"),
        (crawled(1), origins(), iteration(1, Open), last, refused(PartRefused::GoOnAt(1)), "another worker is further"),
        (crawled(0), origins(), iteration(0, Open), last, over, "nothing was open: zero is final"),
        (crawled(0), origins(), iteration(1, Closed), last, over, "closed"),
        (crawled(0), RowsByOrigin::new(), iteration(1, Open), last, over, "its own origin is unknown"),
    ] {
        let committed = commit(state, &origins, &row, part, &[target("b", 1)]);
        assert_eq!(committed.err(), expected, "{why}");
    }
}
