//! Parses: each part once, by whoever comes first.

use dragline_domain::frontier::{
    LeaseState, PartKind, PartRefused, RecrawlCursor, SegmentId, SegmentRow, SegmentState, StatusChange, TakeRefused,
};
use dragline_domain::ids::Turn;
use dragline_pipeline::ports::frontier::{Frontier, ParseCommitted};

use super::super::samples::{crawl, key, trigger};
use super::super::world::{UNLIMITED, World};

const ALREADY: ParseCommitted = ParseCommitted::Refused(PartRefused::AlreadyParsed);

/// A parse in two parts commits each once, in their order; the last one counts the segment as parsed.
pub async fn a_parse_commits_each_part_once(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let (own, other) = (key("a.example"), key("b.example"));
    world.seed(&own, &["/"]).await;
    let segment = world.crawl_until_idle(&own, 1, 0).await;
    let first: [(&_, &[&str]); 1] = [(&other, &["/1", "/2"])];
    let last: [(&_, &[&str]); 1] = [(&other, &["/3"])];
    let go_on_at = |part| ParseCommitted::Refused(PartRefused::GoOnAt(part));
    for (part, found, expected, added, parsed, why) in [
        ((1, PartKind::Last), &last, go_on_at(0), None, 0, "out of order"),
        ((0, PartKind::More), &first, ParseCommitted::Done, Some(2), 0, "the first part"),
        ((0, PartKind::More), &first, go_on_at(1), Some(2), 0, "the first part again"),
        ((1, PartKind::Last), &last, ParseCommitted::Done, Some(3), 1, "the last part"),
        ((1, PartKind::Last), &last, ALREADY, Some(3), 1, "the last part again"),
        ((0, PartKind::More), &first, ALREADY, Some(3), 1, "the first part, late"),
    ] {
        assert_eq!(world.parse(&segment, part, found).await, expected, "{why}");
        let target = frontier.load_origin(&other).await.unwrap();
        assert_eq!(target.map(|rows| rows.inbox.added), added, "{why}");
        let inbox = world.origin(&own).await.inbox;
        assert_eq!((inbox.parsed, inbox.counters.processed), (parsed, parsed), "{why}");
    }
    let row = frontier.load_segment(&segment.id).await.unwrap();
    assert_eq!(row, Some(SegmentRow { state: SegmentState::Processed, due: None, ..segment }));
}

/// Of two parsers at the same part one gets in, and the other learns where to go on.
pub async fn two_parsers_of_one_segment(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let own = key("a.example");
    world.seed(&own, &["/"]).await;
    let segment = world.crawl_until_idle(&own, 1, 0).await;
    let found: [(&_, &[&str]); 1] = [(&own, &["/x"])];
    let parse = || world.parse(&segment, (0, PartKind::Last), &found);
    let mut answers = [parse().await, parse().await];
    answers.sort_by_key(|answer| *answer != ParseCommitted::Done);
    assert_eq!(answers, [ParseCommitted::Done, ALREADY]);
    let inbox = world.origin(&own).await.inbox;
    assert_eq!((inbox.added, inbox.parsed), (2, 1), "once");
}

/// Each beginning of a parse counts, so that a capture that kills the process is found out; a parse that is done counts no more.
pub async fn attempts_at_parsing_are_counted(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let own = key("a.example");
    world.seed(&own, &["/"]).await;
    let segment = world.crawl_until_idle(&own, 1, 0).await;
    for attempts in [1, 2] {
        let row = frontier.begin_parse(&segment.id).await.unwrap();
        assert_eq!(row, Some(SegmentRow { attempts, ..segment.clone() }));
    }
    world.parse(&segment, (0, PartKind::Last), &[]).await;
    let done = frontier.begin_parse(&segment.id).await.unwrap().expect("it is there");
    assert_eq!((done.attempts, done.state), (2, SegmentState::Processed));
    let unknown = SegmentId { n: 77, ..segment.id };
    assert_eq!(frontier.begin_parse(&unknown).await.unwrap(), None);
    assert_eq!(frontier.load_segment(&unknown).await.unwrap(), None);
}

/// Todo opens origins that are new, and those that had closed; what is open only gets more to do.
pub async fn a_parse_opens_what_it_finds(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let (own, new, closed) = (key("a.example"), key("b.example"), key("c.example"));
    for origin in [&own, &closed] {
        world.seed(origin, &["/"]).await;
    }
    let earlier = world.crawl_until_idle(&closed, 9, 0).await;
    world.parse(&earlier, (0, PartKind::Last), &[]).await;
    frontier.settle(&closed, &world.origin(&closed).await).await.unwrap();
    assert_eq!(world.origin(&closed).await.lease.state, LeaseState::Closed);
    assert_eq!(world.row().await.open, 2, "the token and the first origin");
    let segment = world.crawl_until_idle(&own, 1, 0).await;
    let found: [(&_, &[&str]); 3] = [(&own, &["/x"]), (&new, &["/y"]), (&closed, &["/z"])];
    assert_eq!(world.parse(&segment, (0, PartKind::Last), &found).await, ParseCommitted::Done);
    assert_eq!(world.row().await.open, 4, "two more");
    for (origin, turn, added, state, why) in [
        (&own, 1, 2, LeaseState::Idle, "open: only its inbox is written"),
        (&new, 1, 1, LeaseState::Ready, "opened for the first time"),
        (&closed, 2, 2, LeaseState::Ready, "opened again, its turns go on"),
    ] {
        let rows = world.origin(origin).await;
        assert_eq!((rows.lease.turn, rows.inbox.added, rows.lease.state), (Turn(turn), added, state), "{why}");
        assert!(rows.inbox.open && rows.inbox.due.is_some(), "{why}");
        assert_eq!(rows.lease.cursor, RecrawlCursor::End, "no earlier iteration left anything: {why}");
    }
    assert_eq!(world.try_take(&own, 5, 50, UNLIMITED).await, Err(TakeRefused::NothingToDo), "idle until it is settled");
}

/// A parse of a segment that nobody knows is over.
pub async fn a_parse_that_nobody_waits_for_is_over(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let own = key("a.example");
    world.seed_by(&own, &trigger("t").0, &["/"]).await;
    let mut segment = world.crawl_until_idle(&own, 1, 0).await;
    segment.id.n = 77;
    assert_eq!(world.parse(&segment, (0, PartKind::Last), &[(&own, &["/x"])]).await, ParseCommitted::Over);
    assert_eq!(world.origin(&own).await.inbox.added, 1, "nothing was added");
}

/// While an iteration is paused or stopping what was fetched is parsed, and origins open that get no lease.
pub async fn a_paused_iteration_is_parsed(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let (own, new) = (key("a.example"), key("b.example"));
    world.seed(&own, &["/"]).await;
    let segment = world.crawl_until_idle(&own, 1, 0).await;
    let found: [(&_, &[&str]); 1] = [(&new, &["/"])];
    for (change, part, expected) in
        [(StatusChange::Pause, (0, PartKind::More), 1), (StatusChange::Stop, (1, PartKind::Last), 2)]
    {
        frontier.change_status(&crawl(), world.iteration, change).await.unwrap();
        assert_eq!(world.parse(&segment, part, &found).await, ParseCommitted::Done, "{change:?}");
        assert_eq!(world.origin(&new).await.inbox.added, expected, "{change:?}");
        assert_eq!(world.try_take(&new, 2, 50, UNLIMITED).await, Err(TakeRefused::NotOpen), "{change:?}");
    }
}
