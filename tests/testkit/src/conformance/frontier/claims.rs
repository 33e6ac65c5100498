//! Candidates: claims, updates and the recrawl cursor.

use std::collections::BTreeSet;
use std::time::Duration;

use dragline_domain::frontier::{
    CandidateUpdate, Claim, Claimable, Claimer, DocumentStanding, DueQuery, DueWork, LastCapture, LastDocument,
    LaterCandidates, LinkDecisions, OriginKey, PartKind, Pass, RulesDigest, ShorterWayState, StateChange, UrlHistory,
    VisitPlace, VisitResult, VisitTarget,
};
use dragline_domain::ids::{Iteration, Turn};
use dragline_domain::lastmod::PageTimes;
use dragline_domain::outcome::Outcome;
use dragline_domain::recrawl::Absence;
use dragline_ports::frontier::{DuePage, Frontier};
use jiff::Timestamp;

use super::super::lag::{assert_comes_to, until};
use super::super::samples::{at, capture, key, sighting, trigger};
use super::super::world::{UNLIMITED, World, long_path};

const NEW: Claim = Claim::Own { known: UrlHistory { last: None, document: None, interval_ms: None, away: None } };

/// The answer about a URL that another claimed, having found it as every test here does.
fn taken(by: &Claimer) -> Claim {
    Claim::Taken { by: by.clone(), found_at: Some(sighting(1).seed_distance()) }
}

/// The rules in force.
const RULES: RulesDigest = RulesDigest(7);

fn ended(outcome: Outcome) -> VisitResult {
    VisitResult { outcome, at: at(5), capture: None, due_at: None, interval: None, away: None, blocked_by: None }
}

fn update(path: &str, order: (Iteration, u64, u64), ended: Option<VisitResult>) -> CandidateUpdate {
    CandidateUpdate {
        path_and_query: path.to_owned(),
        iteration: order.0,
        turn: Turn(order.1),
        n: order.2,
        ended,
        state: StateChange::Kept,
        leads_to: VisitTarget::AsBefore,
        text: None,
    }
}

/// What is known of a URL by its last capture alone.
fn captured(last: LastCapture) -> Claim {
    Claim::Own { known: UrlHistory { last: Some(Box::new(last)), ..UrlHistory::default() } }
}

/// Puts candidates as an iteration leaves them, and begins the next iteration.
async fn with_candidates<'f, F: Frontier>(
    frontier: &'f F,
    origin: &OriginKey,
    left: &[(&str, Outcome, Option<Timestamp>)],
) -> World<'f, F> {
    let first = World::begin(frontier, UNLIMITED).await;
    let paths: Vec<&str> = left.iter().map(|&(path, ..)| path).collect();
    first.claim(origin, Claimer::trigger(&trigger("t")), &paths).await;
    let updates: Vec<_> = left
        .iter()
        .map(|&(path, outcome, due_at)| {
            update(path, (first.iteration, 1, 0), Some(VisitResult { due_at, ..ended(outcome) }))
        })
        .collect();
    frontier.update_candidates(origin, &updates).await.unwrap();
    first.end(&[]).await;
    World::begin_by(frontier, "u", UNLIMITED).await
}

fn paths(page: &DuePage) -> Vec<&str> {
    page.entries.iter().map(|candidate| candidate.entry.path_and_query.as_str()).collect()
}

/// The first to claim a URL owns it for good, and gets the same answer when it asks again. Others
/// learn who owns it.
pub async fn a_claim_is_own_once(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let (origin, other) = (key("a.example"), key("b.example"));
    let [ours, theirs] = ["x", "y"].map(|by| Claimer::trigger(&trigger(by)));
    assert_eq!(world.claim(&origin, ours.clone(), &["/a", "/b"]).await, [NEW, NEW]);
    assert_eq!(
        world.claim(&origin, theirs.clone(), &["/c", "/a"]).await,
        [NEW, taken(&ours)],
        "in the order of the request"
    );
    let again = [NEW, NEW, taken(&theirs)];
    assert_eq!(world.claim(&origin, ours, &["/b", "/a", "/c"]).await, again, "claimed again");
    assert_eq!(world.claim(&other, theirs, &["/a"]).await, [NEW], "another origin's path");
}

/// Whoever finds a shorter way to a URL than all before is told so, and gets the same answer when
/// it asks again. Where ways are ignored, nobody is.
pub async fn a_shorter_way_is_passed_on(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    let [first, near, nearer, late] = ["x", "y", "z", "w"].map(|by| Claimer::trigger(&trigger(by)));
    let nothing = UrlHistory::default();
    let taken = |depth| Claim::Taken { by: first.clone(), found_at: depth };
    let found_at = |depth| Some(sighting(depth).seed_distance());
    for (claimer, depth, expected, why) in [
        (&first, 4, NEW, "the first one"),
        (&late, 4, taken(found_at(4)), "as far"),
        (&late, 5, taken(found_at(4)), "farther"),
        (&near, 2, Claim::Nearer { known: nothing.clone() }, "a shorter way"),
        (&near, 2, Claim::Nearer { known: nothing.clone() }, "claimed again"),
        (&late, 3, taken(None), "shorter than the first, and not than the second"),
        (&nearer, 0, Claim::Nearer { known: nothing.clone() }, "shorter still"),
        (&near, 2, Claim::Nearer { known: nothing.clone() }, "claimed again, after a shorter one"),
        (&first, 4, NEW, "it stays the first one's own"),
        (&late, 0, taken(None), "nothing is nearer than a seed"),
    ] {
        let claimed = world.claim_at(depth, &origin, claimer.clone(), &["/a"]).await;
        assert_eq!(claimed, [expected], "{claimer} at {depth}: {why}");
    }
    world.claim_at(4, &origin, first.clone(), &["/b"]).await;
    assert_eq!(world.claim(&origin, late.clone(), &["/b"]).await, [taken(found_at(4))], "ways are ignored");
    let mixed = world.claim_at(1, &origin, late, &["/c", "/a", "/b"]).await;
    assert_eq!(mixed, [NEW, taken(None), Claim::Nearer { known: nothing }], "in the order of the request");
}

/// What came nearer is told with what is known of it by then, as long as the iteration lasts.
pub async fn what_came_nearer_is_told(frontier: &impl Frontier) {
    let origin = key("a.example");
    let left = ["/a", "/b", "/c"].map(|path| (path, Outcome::FileIngested, None));
    let world = with_candidates(frontier, &origin, &left).await;
    let [first, near] = ["x", "y"].map(|by| Claimer::trigger(&trigger(by)));
    let paths = ["/unknown", "/b", "/a"].map(str::to_owned);
    let told = async |iteration| frontier.nearer(&origin, iteration, &paths).await.unwrap();
    world.claim_at(4, &origin, first, &["/a", "/b"]).await;
    assert_eq!(told(world.iteration).await, [None, None, None], "it is where it was found");
    world.claim_at(2, &origin, near, &["/a"]).await;
    let found_at = sighting(2).seed_distance();
    let nearer = ShorterWayState { found_at, known: UrlHistory::default(), has_ended: false };
    assert_eq!(told(world.iteration).await, [None, None, Some(nearer)], "its visit was in an earlier iteration");
    let visit = VisitResult { capture: Some(capture("one")), ..ended(Outcome::FileIngested) };
    frontier.update_candidates(&origin, &[update("/a", (world.iteration, 2, 0), Some(visit))]).await.unwrap();
    let known = UrlHistory { last: Some(Box::new(capture("one"))), ..UrlHistory::default() };
    let nearer = ShorterWayState { found_at, known, has_ended: true };
    assert_eq!(told(world.iteration).await, [None, None, Some(nearer)], "it is visited");
    assert_eq!(told(world.iteration.next()).await, [None, None, None], "each iteration begins anew");
    let query = DueQuery { pass: Pass::Visited, ..all(world.iteration.next()) };
    let depth_of = async || {
        let page = frontier.due_candidates(&origin, &query, "", 10).await.unwrap();
        page.entries.into_iter().find(|due| due.entry.path_and_query == "/a").map(|due| due.depth)
    };
    assert_comes_to(depth_of, Some(2), "the shortest way is kept").await;
    world.end(&[]).await;
    let next = World::begin_by(frontier, "v", UNLIMITED).await;
    next.claim_at(3, &origin, Claimer::trigger(&trigger("v")), &["/a"]).await;
    assert_eq!(told(next.iteration).await, [None, None, None], "the way of the next iteration is the only one");
}

/// What visits saw of pages is told for each that one of them found.
pub async fn what_was_seen_of_pages_is_told(frontier: &impl Frontier) {
    let (origin, page) = (key("a.example"), Outcome::FileIngested);
    let world = World::begin(frontier, UNLIMITED).await;
    world.seed(&origin, &["/"]).await;
    let segment = world.crawl_until_idle(&origin, 1, 0).await;
    world.claim(&origin, Claimer::trigger(&trigger("x")), &["/changed", "/same", "/failed", "/new"]).await;
    let shown = |n, changed_at| StateChange::Shown {
        place: VisitPlace { iteration: world.iteration, turn: segment.id.turn, segment: segment.id.n, n },
        outcome: page,
        links: LinkDecisions { by: RULES, depth: 1 },
        changed_at,
    };
    let visit = |second, outcome| Some(VisitResult { at: at(second), ..ended(outcome) });
    let updates = [
        ("/changed", 1, visit(20, page), shown(1, Some(at(20)))),
        ("/same", 1, visit(20, page), shown(2, Some(at(20)))),
        ("/same", 2, visit(30, Outcome::FileDidNotChange), StateChange::Confirmed),
        ("/failed", 1, visit(20, Outcome::RequestTimeout), StateChange::Kept),
    ];
    let updates = updates
        .map(|(path, turn, ended, state)| CandidateUpdate { state, ..update(path, (world.iteration, turn, 0), ended) });
    frontier.update_candidates(&origin, &updates).await.unwrap();
    let paths = ["/unknown", "/same", "/changed", "/failed", "/new"].map(str::to_owned);
    let told = async || frontier.page_times(&origin, &paths).await.unwrap();
    let seen = |changed, checked| {
        Some(PageTimes { first_seen: at(0), changed_at: Some(at(changed)), checked_at: at(checked) })
    };
    assert_comes_to(told, vec![None, seen(20, 30), seen(20, 20), None, None], "in the order of the request").await;
    let other = frontier.page_times(&key("b.example"), &paths[..1]).await.unwrap();
    assert_eq!(other, [None], "an origin that nobody knows");
}

/// In the next iteration a URL that is not due yet cannot be claimed, except where the claim
/// ignores due times.
pub async fn a_claim_waits_until_it_is_due(frontier: &impl Frontier) {
    let origin = key("a.example");
    let world = with_candidates(frontier, &origin, &[("/a", Outcome::FileIngested, Some(at(100)))]).await;
    let [link, seed] = ["x", "y"].map(|by| Claimer::trigger(&trigger(by)));
    let claim = |claimer: &Claimer, claimable| world.claim_of(&origin, claimer.clone(), &["/a"], claimable);
    assert_eq!(claim(&link, Claimable::Due(at(99))).await, [Claim::NotDue], "a second early");
    assert_eq!(claim(&link, Claimable::New).await, [Claim::NotDue], "it was visited before");
    assert_eq!(claim(&seed, Claimable::All).await, [NEW], "the claim ignores due times");
    assert_eq!(claim(&link, Claimable::Due(at(100))).await, [taken(&seed)], "due, but queued by then");
}

/// A late update changes nothing; another update by the same segment does.
pub async fn an_update_never_goes_back(frontier: &impl Frontier) {
    let origin = key("a.example");
    let world = World::begin(frontier, UNLIMITED).await;
    let ours = Claimer::trigger(&trigger("x"));
    world.claim(&origin, ours.clone(), &["/a"]).await;
    let next = world.iteration.next();
    for (order, etag, expected, why) in [
        ((world.iteration, 2, 5), "one", "one", "the first"),
        ((world.iteration, 2, 4), "old", "one", "an earlier segment of the turn"),
        ((world.iteration, 1, 9), "old", "one", "an earlier turn, whatever its segment"),
        ((world.iteration, 2, 5), "two", "two", "the same segment again"),
        ((world.iteration, 3, 0), "three", "three", "a later turn, whatever its segment"),
        ((next, 1, 0), "four", "four", "a later iteration, whatever its turn"),
        ((world.iteration, 9, 9), "old", "four", "an earlier iteration"),
    ] {
        let visit = VisitResult { capture: Some(capture(etag)), ..ended(Outcome::FileIngested) };
        frontier.update_candidates(&origin, &[update("/a", order, Some(visit))]).await.unwrap();
        let claimed = world.claim(&origin, ours.clone(), &["/a"]).await;
        assert_eq!(claimed, [captured(capture(expected))], "{why}");
    }
}

/// What the last good capture left is kept when a later visit gets nothing.
pub async fn an_update_without_a_capture_keeps_the_last_one(frontier: &impl Frontier) {
    let origin = key("a.example");
    let world = World::begin(frontier, UNLIMITED).await;
    let ours = Claimer::trigger(&trigger("x"));
    world.claim(&origin, ours.clone(), &["/a"]).await;
    let bare = LastCapture { etag: None, last_modified: Some("then".into()), ..capture("") };
    let good = VisitResult { capture: Some(bare.clone()), ..ended(Outcome::FileIngested) };
    let good = update("/a", (world.iteration, 1, 0), Some(good));
    let failed = update("/a", (world.iteration, 1, 1), Some(ended(Outcome::ConnectionFailed)));
    frontier.update_candidates(&origin, &[good, failed]).await.unwrap();
    assert_eq!(world.claim(&origin, ours, &["/a"]).await, [captured(bare)], "missing parts included");
}

/// The last good document stays through failures, is hidden and shown again, and is replaced by a
/// newer one, whether or not there was a visit.
pub async fn an_update_says_what_is_shown(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let segment = world.crawl_until_idle(&origin, 1, 0).await;
    let place = |n| VisitPlace { iteration: world.iteration, turn: segment.id.turn, segment: segment.id.n, n };
    let links = LinkDecisions { by: RULES, depth: 3 };
    let shown =
        |n| StateChange::Shown { place: place(n), outcome: Outcome::FileIngested, links, changed_at: Some(at(5)) };
    let document =
        |n, standing| Some(LastDocument { place: place(n), outcome: Outcome::FileIngested, standing, links });
    let visit = |outcome| Some(ended(outcome));
    let gone = Some(Absence::Gone { since: at(9) });
    let failing = Some(Absence::Failing { since: at(11) });
    let away = |away, outcome| Some(VisitResult { away, interval: Some(Duration::from_millis(7)), ..ended(outcome) });
    let ours = Claimer::trigger(&trigger("x"));
    world.claim(&origin, ours.clone(), &["/a"]).await;
    for (order, ended, state, expected, away_since, why) in [
        ((1, 0), visit(Outcome::ServerInternalError), StateChange::Kept, None, None, "nothing was ever shown"),
        (
            (1, 1),
            visit(Outcome::FileIngested),
            shown(1),
            document(1, DocumentStanding::Shown),
            None,
            "the first document",
        ),
        (
            (1, 2),
            visit(Outcome::RequestTimeout),
            StateChange::Kept,
            document(1, DocumentStanding::Shown),
            None,
            "a failure",
        ),
        (
            (1, 3),
            away(gone, Outcome::FileNotFound),
            StateChange::Hidden(DocumentStanding::Gone),
            document(1, DocumentStanding::Gone),
            gone,
            "404",
        ),
        (
            (1, 4),
            visit(Outcome::FileDidNotChange),
            StateChange::Confirmed,
            document(1, DocumentStanding::Shown),
            None,
            "304",
        ),
        (
            (1, 5),
            away(failing, Outcome::BlockedAtRequestOfRemote),
            StateChange::Hidden(DocumentStanding::Withdrawn),
            document(1, DocumentStanding::Withdrawn),
            failing,
            "forbidden",
        ),
        ((1, 6), None, shown(2), document(2, DocumentStanding::Shown), failing, "made again without a visit"),
        (
            (1, 1),
            visit(Outcome::FileIngested),
            shown(3),
            document(2, DocumentStanding::Shown),
            failing,
            "an earlier segment",
        ),
        ((1, 4), None, shown(3), document(2, DocumentStanding::Shown), failing, "made again by an earlier segment"),
    ] {
        let changed = CandidateUpdate { state, ..update("/a", (world.iteration, order.0, order.1), ended) };
        frontier.update_candidates(&origin, &[changed]).await.unwrap();
        let claimed = world.claim(&origin, ours.clone(), &["/a"]).await;
        let known = UrlHistory { last: None, document: expected, interval_ms: away_since.map(|_| 7), away: away_since };
        assert_eq!(claimed, [Claim::Own { known }], "{why}");
    }
    let query = DueQuery { iteration: world.iteration.next(), pass: Pass::Visited, rules: RULES, now: at(10) };
    let page = frontier.due_candidates(&origin, &query, "", 10).await.unwrap();
    assert_eq!(paths(&page), ["/a"], "what was made again in between does not count as a visit, and hides none");
}

/// Each pass selects its own candidates, and tells what later ones visit.
pub async fn a_pass_selects_its_own(frontier: &impl Frontier) {
    let origin = key("a.example");
    let first = World::begin(frontier, UNLIMITED).await;
    first.seed(&origin, &["/"]).await;
    let segment = first.crawl_until_idle(&origin, 1, 0).await;
    let claimer = Claimer::trigger(&trigger("found"));
    first.claim(&origin, claimer, &["/cut", "/file", "/later", "/new", "/stale", "/stood"]).await;
    let shown = |n, outcome, by| StateChange::Shown {
        place: VisitPlace { iteration: first.iteration, turn: segment.id.turn, segment: segment.id.n, n },
        outcome,
        links: LinkDecisions { by, depth: 1 },
        changed_at: None,
    };
    let page = Outcome::FileIngested;
    let updates = [
        ("/cut", page, shown(1, page, RulesDigest::NONE), None),
        ("/file", Outcome::StoredNotRead, shown(2, Outcome::StoredNotRead, RulesDigest(1)), Some(at(99))),
        ("/later", page, shown(3, page, RULES), Some(at(99))),
        ("/stale", page, shown(4, page, RulesDigest(1)), Some(at(99))),
        ("/stood", page, shown(5, page, RULES), None),
    ];
    let updates = updates.map(|(path, outcome, state, due_at)| {
        let visit = VisitResult { due_at, ..ended(outcome) };
        CandidateUpdate { state, ..update(path, (first.iteration, 1, 0), Some(visit)) }
    });
    frontier.update_candidates(&origin, &updates).await.unwrap();
    first.parse(&segment, (0, PartKind::Last), &[]).await;
    first.end(&[&origin]).await;
    let world = World::begin_by(frontier, "u", UNLIMITED).await;
    let in_pass = async |pass| {
        let query = DueQuery { iteration: world.iteration, pass, rules: RULES, now: at(10) };
        let page = frontier.due_candidates(&origin, &query, "", 20).await.unwrap();
        let found = page.entries.into_iter().map(|candidate| (candidate.entry.path_and_query, candidate.work));
        let found: Vec<_> = found.filter(|(path, _)| path != "/").collect();
        (found, page.ahead)
    };
    let (visit, again) =
        (|path: &str| (path.to_owned(), DueWork::Visit), |path: &str| (path.to_owned(), DueWork::Reparse));
    let oldest = Some(first.iteration);
    for (pass, expected, ahead, why) in [
        (
            Pass::All,
            vec![visit("/cut"), again("/file"), visit("/new"), again("/stale"), visit("/stood")],
            LaterCandidates::default(),
            "all at once",
        ),
        (
            Pass::New,
            vec![again("/file"), visit("/new"), again("/stale")],
            LaterCandidates { due: 2, oldest, cut: 1 },
            "never visited, or stale",
        ),
        (Pass::Cut, vec![again("/cut")], LaterCandidates::default(), "links were left for want of budget"),
        (Pass::Visited, vec![visit("/cut"), visit("/stood")], LaterCandidates::default(), "visited before"),
        (
            Pass::VisitedIn(first.iteration),
            vec![visit("/cut"), visit("/stood")],
            LaterCandidates::default(),
            "visited then",
        ),
        (Pass::VisitedIn(world.iteration), vec![], LaterCandidates::default(), "nothing was visited yet"),
    ] {
        let found = until(async || in_pass(pass).await, |(found, _)| *found == expected).await;
        assert_eq!(found, (expected, ahead), "{pass:?}: {why}");
    }
}

/// Asks for all that is due.
const fn all(iteration: Iteration) -> DueQuery {
    DueQuery { iteration, pass: Pass::All, rules: RULES, now: Timestamp::constant(1_795_000_010, 0) }
}

/// Returns the paths after this one to the end, page by page. They may lag behind what was written.
async fn walk(world: &World<'_, impl Frontier>, origin: &OriginKey, after: &str, limit: usize) -> Vec<String> {
    let (mut next, mut seen) = (Some(after.to_owned()), Vec::new());
    for _ in 0..20 {
        let Some(after) = next else { return seen };
        let page = world.frontier.due_candidates(origin, &all(world.iteration), &after, limit).await.unwrap();
        assert!(page.entries.len() <= limit, "no more than asked for");
        seen.extend(page.entries.into_iter().map(|candidate| candidate.entry.path_and_query));
        next = page.next;
    }
    panic!("the walk must reach its end: {seen:?}");
}

/// The cursor skips what others queued in this iteration, but not what its own turn claimed before
/// a crash.
pub async fn the_recrawl_cursor_skips_what_is_queued(frontier: &impl Frontier) {
    let origin = key("a.example");
    let left = ["/a", "/b", "/c"].map(|path| (path, Outcome::FileIngested, None));
    let world = with_candidates(frontier, &origin, &left).await;
    let by_seed = world.claim(&origin, Claimer::trigger(&trigger("u")), &["/b"]).await;
    assert_eq!(by_seed, [NEW]);
    let due = async || frontier.due_candidates(&origin, &all(world.iteration), "", 10).await.unwrap();
    let page = until(due, |page| page.entries.len() == 2).await;
    assert_eq!((paths(&page), &page.next), (vec!["/a", "/c"], &None));
    assert_eq!(page.entries[0].depth, sighting(1).depth, "with the depth at which it was found");
    assert_eq!(page.entries[0].entry.via, sighting(1).via, "and the page that led there");
    assert_eq!(page.entries[0].entry.requisite_steps, sighting(1).requisite_steps, "which needs it");
    assert_eq!(page.entries[0].entry.read_as, sighting(1).read_as, "and names it as a sitemap");
    assert_eq!(world.claim(&origin, Claimer::recrawl(), &["/a"]).await, [NEW]);
    assert_eq!(paths(&due().await), ["/a", "/c"], "its own claims count only once they are committed");
}

/// Pages come in the order of the paths until the cursor reaches its end.
pub async fn the_recrawl_cursor_goes_through_in_pages(frontier: &impl Frontier) {
    let origin = key("a.example");
    let left = ["/d", "/a?q", "/c", "/b", "/a"].map(|path| (path, Outcome::FileIngested, None));
    let world = with_candidates(frontier, &origin, &left).await;
    let found = async || walk(&world, &origin, "", 2).await;
    assert_comes_to(found, ["/a", "/a?q", "/b", "/c", "/d"].map(String::from).to_vec(), "in order").await;
}

/// The cursor walks candidates with the longest possible URLs like any others, in whatever order,
/// and can resume after each of them.
pub async fn the_recrawl_cursor_goes_through_long_urls(frontier: &impl Frontier) {
    let origin = key("a.example");
    let long: Vec<String> = (0..5).map(long_path).collect();
    let left = || long.iter().map(String::as_str).chain(["/short"]);
    let known: Vec<_> = left().map(|path| (path, Outcome::FileIngested, None)).collect();
    let world = with_candidates(frontier, &origin, &known).await;
    let order = until(async || walk(&world, &origin, "", 2).await, |found| found.len() == known.len()).await;
    let found: BTreeSet<&str> = order.iter().map(String::as_str).collect();
    assert_eq!((found, order.len()), (left().collect(), known.len()), "each once, and whole");
    for (position, path) in order.iter().enumerate() {
        let rest = walk(&world, &origin, path, 10).await;
        assert_eq!(rest, order[position + 1..], "where a turn left off");
    }
}

/// The cursor skips what is not due yet.
pub async fn the_recrawl_cursor_leaves_what_is_not_due(frontier: &impl Frontier) {
    let origin = key("a.example");
    let left = [
        ("/due", Outcome::FileIngested, Some(at(10))),
        ("/gone", Outcome::FileGone, None),
        ("/later", Outcome::FileIngested, Some(at(11))),
    ];
    let world = with_candidates(frontier, &origin, &left).await;
    let found = async || walk(&world, &origin, "", 10).await;
    assert_comes_to(found, ["/due", "/gone"].map(String::from).to_vec(), "what is due").await;
}

/// What a rule forbids is left alone until the rules change.
pub async fn what_the_rules_forbid_waits_until_they_change(frontier: &impl Frontier) {
    let origin = key("a.example");
    let first = World::begin(frontier, UNLIMITED).await;
    first.claim(&origin, Claimer::trigger(&trigger("t")), &["/by-others", "/by-these"]).await;
    let blocked = |path, by| {
        let visit = VisitResult { blocked_by: Some(by), ..ended(Outcome::BlockedUrlByLocalPolicy) };
        update(path, (first.iteration, 1, 0), Some(visit))
    };
    let updates = [blocked("/by-others", RulesDigest(1)), blocked("/by-these", RULES)];
    frontier.update_candidates(&origin, &updates).await.unwrap();
    first.end(&[]).await;
    let world = World::begin_by(frontier, "u", UNLIMITED).await;
    let found = async || walk(&world, &origin, "", 10).await;
    assert_comes_to(found, vec!["/by-others".to_owned()], "other rules forbade it").await;
}
