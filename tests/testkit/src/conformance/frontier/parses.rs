//! Parses: each part is committed once, by the first to come.

use dragline_domain::frontier::{
    LeaseState, LeftoverReason, PageObservation, ParseBegun, ParseFault, ParsePart, ParserCounters, PartKind,
    PartRefused, RecrawlCursor, SegmentId, SegmentRow, SegmentState, ShapeStanding, StatusChange, TakeRefused,
};
use dragline_domain::ids::{ParseToken, Turn};
use dragline_domain::page_sample::PageSample;
use dragline_domain::politeness::Pace;
use dragline_domain::url::UrlShape;
use dragline_ports::frontier::{BeginParse, CommitParse, Frontier, ParseCommitted};
use futures_util::future::join_all;

use super::super::lag::assert_comes_to;
use super::super::samples::{at, crawl, key, trigger};
use super::super::world::{DELAY, UNLIMITED, World};

const ALREADY: ParseCommitted = ParseCommitted::Refused(PartRefused::AlreadyParsed);

/// A parse in two parts commits each once, in order; the last one counts the segment as parsed.
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
        assert_eq!(frontier.load_inbox(&own).await.unwrap(), Some(inbox), "read alone, {why}");
    }
    let row = frontier.load_segment(&segment.id).await.unwrap();
    assert_eq!(row, Some(SegmentRow { state: SegmentState::Processed, due: None, ..segment }));
}

/// Of two parsers at the same part one commits it, and the other learns where to continue.
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

/// A parse that begins at the first of these seconds and may last until the other.
fn beginning(segment: &SegmentRow, by: u128, (second, until): (i64, i64)) -> BeginParse {
    let begun = ParseBegun { token: ParseToken::from_bits(by), until: at(until) };
    BeginParse { segment: segment.id.clone(), begun, now: at(second) }
}

/// A parse that neither committed nor was given back in time counts as a crash, so that a capture
/// that kills the process is found out. A duplicate that runs beside it does not count, nor does a
/// message that comes when all is done.
pub async fn parses_that_died_are_counted(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let own = key("a.example");
    world.seed(&own, &["/"]).await;
    let segment = world.crawl_until_idle(&own, 1, 0).await;
    for (by, times, noted, attempts, why) in [
        (1, (10, 300), (1, 300), 0, "the first"),
        (1, (10, 300), (1, 300), 0, "the first again, as its answer was lost"),
        (2, (299, 600), (1, 300), 0, "a duplicate while the first has time left"),
        (3, (300, 590), (3, 590), 1, "the first ran out, neither committed nor given back"),
        (4, (900, 1_200), (4, 1_200), 2, "so did that one"),
    ] {
        let row = frontier.begin_parse(&beginning(&segment, by, times)).await.unwrap();
        let parsing = Some(ParseBegun { token: ParseToken::from_bits(noted.0), until: at(noted.1) });
        assert_eq!(row, Some(SegmentRow { attempts, parsing, ..segment.clone() }), "{why}");
        assert_eq!(frontier.load_segment(&segment.id).await.unwrap(), row, "{why}");
    }
    world.parse(&segment, (0, PartKind::Last), &[]).await;
    let done = frontier.begin_parse(&beginning(&segment, 5, (2_000, 2_300))).await.unwrap().expect("it is there");
    assert_eq!((done.attempts, done.parsing, done.state), (2, None, SegmentState::Processed));
    let unknown = SegmentRow { id: SegmentId { n: 77, ..segment.id.clone() }, ..segment };
    assert_eq!(frontier.begin_parse(&beginning(&unknown, 6, (1, 300))).await.unwrap(), None);
    assert_eq!(frontier.load_segment(&unknown.id).await.unwrap(), None);
}

/// A failure of the store does not count as a crash; an unreadable segment does. Only the parse on
/// record can be given back.
pub async fn a_parse_that_is_given_back_did_not_die(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let own = key("a.example");
    world.seed(&own, &["/"]).await;
    let segment = world.crawl_until_idle(&own, 1, 0).await;
    let give_back = |by, blame| {
        let (id, token) = (&segment.id, ParseToken::from_bits(by));
        async move { frontier.give_back_parse(id, &token, blame).await.unwrap() }
    };
    for (by, second, given_back_by, blame, attempts, is_noted, why) in [
        (1, 10, 1, ParseFault::Elsewhere, 0, false, "the store was out of reach"),
        (2, 20, 2, ParseFault::Elsewhere, 0, false, "and again"),
        (3, 30, 3, ParseFault::Segment, 1, false, "its object cannot be read"),
        (4, 40, 3, ParseFault::Segment, 1, true, "it cannot give back another's parse"),
        (5, 1_000, 5, ParseFault::Elsewhere, 2, false, "that one died"),
    ] {
        let begun = frontier.begin_parse(&beginning(&segment, by, (second, second + 300))).await.unwrap();
        assert!(begun.is_some_and(|row| row.parsing.is_some()), "{why}");
        give_back(given_back_by, blame).await;
        // An answer may be lost.
        give_back(given_back_by, blame).await;
        let row = frontier.load_segment(&segment.id).await.unwrap().expect("it is there");
        assert_eq!((row.attempts, row.parsing.is_some()), (attempts, is_noted), "{why}");
    }
}

/// URLs whose captures are lost are counted with the parse and become leftovers.
pub async fn what_cannot_be_read_is_left_over(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let own = key("a.example");
    world.seed(&own, &["/1", "/2", "/3"]).await;
    let segment = world.crawl_until_idle(&own, 1, 0).await;
    let commit = CommitParse {
        segment: segment.id.clone(),
        iteration: world.iteration,
        part_number: 0,
        kind: PartKind::Last,
        part: ParsePart { targets: Vec::new() },
        pace: Pace::new(DELAY),
        counters: ParserCounters { unreadable: 3, ..ParserCounters::default() },
        pages: Vec::new(),
        now: at(10),
        due: at(70),
    };
    for expected in [ParseCommitted::Done, ALREADY] {
        assert_eq!(frontier.commit_parse(&commit).await.unwrap(), expected);
    }
    let left = vec![(LeftoverReason::SegmentUnreadable, 3)];
    assert_comes_to(
        async || frontier.progress(&crawl(), world.iteration).await.unwrap().leftovers,
        left,
        "counted once",
    )
    .await;
    assert_eq!(world.origin(&own).await.inbox.parsed, 1, "nothing waits for it");
}

/// New todo opens new and closed origins; an open one only gets more to do.
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
    let counts = async || {
        let row = world.row().await;
        (row.open, row.origins)
    };
    assert_eq!(counts().await, (2, 2), "the token and the first origin are open; two origins were opened");
    let segment = world.crawl_until_idle(&own, 1, 0).await;
    let found: [(&_, &[&str]); 3] = [(&own, &["/x"]), (&new, &["/y"]), (&closed, &["/z"])];
    assert_eq!(world.parse(&segment, (0, PartKind::Last), &found).await, ParseCommitted::Done);
    assert_eq!(counts().await, (4, 3), "two more, of which one was open before");
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

/// A parse of an unknown segment counts as done.
pub async fn a_parse_that_nobody_waits_for_is_over(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let own = key("a.example");
    world.seed_by(&own, &trigger("t").0, &["/"]).await;
    let mut segment = world.crawl_until_idle(&own, 1, 0).await;
    segment.id.n = 77;
    assert_eq!(world.parse(&segment, (0, PartKind::Last), &[(&own, &["/x"])]).await, ParseCommitted::Over);
    assert_eq!(world.origin(&own).await.inbox.added, 1, "nothing was added");
}

/// While an iteration is paused or stopping, what was fetched is still parsed; origins open, but
/// get no lease.
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

/// Parsers that commit at the same time all leave what their pages told of the shapes of URLs.
pub async fn shapes_of_urls_are_watched_by_many_parsers(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let own = key("a.example");
    let paths: Vec<String> = (0..120).map(|n| format!("/{n}")).collect();
    world.seed(&own, &paths.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut lease = world.take(&own, 1, 0).await;
    let mut segments = Vec::new();
    for n in 0..6 {
        let commit = world.commit(&own, &lease, n).await;
        lease = commit.lease;
        segments.push(commit.segment);
    }
    let shape = |n: usize| UrlShape::new(&format!("/calendar/{n}")).keys();
    let page = |n: usize| PageObservation {
        keys: shape(n),
        sample: PageSample::new(&["an empty month"], &[]),
        leads_to: [shape(n + 1)].into(),
    };
    let commits: Vec<CommitParse> = segments
        .iter()
        .map(|segment| CommitParse {
            segment: segment.id.clone(),
            iteration: world.iteration,
            part_number: 0,
            kind: PartKind::Last,
            part: ParsePart { targets: Vec::new() },
            pace: Pace::new(DELAY),
            counters: ParserCounters::default(),
            pages: (0..4).map(page).collect(),
            now: at(10),
            due: at(70),
        })
        .collect();
    for answer in join_all(commits.iter().map(async |commit| frontier.commit_parse(commit).await.unwrap())).await {
        assert_eq!(answer, ParseCommitted::Done);
    }
    let inbox = world.origin(&own).await.inbox;
    assert_eq!(inbox.parsed, 6);
    // The first of all shows something new.
    let standing = |fruitless_max| inbox.shapes.standing(&shape(77), fruitless_max);
    assert_eq!(standing(23), ShapeStanding::Left { pages: 23 }, "each of them counts once");
    assert_eq!(standing(24), ShapeStanding::Waits);
    assert_eq!(frontier.commit_parse(&commits[0]).await.unwrap(), ALREADY);
    assert_eq!(frontier.load_inbox(&own).await.unwrap().map(|inbox| inbox.shapes), Some(inbox.shapes), "read alone");
}
