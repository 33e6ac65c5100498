//! Crawls, iterations, and how origins open.

use dragline_domain::definition::{Definition, Draft};
use dragline_domain::frontier::{
    CrawlPut, CrawlStamp, IterationBegun, IterationStatus, OriginsJoined, StatusChange, Switch,
};
use dragline_domain::ids::Iteration;
use dragline_domain::url::{CrawlUrl, Origin, UrlRules};
use dragline_formats::robots::{RobotsFetch, RobotsRecord};
use dragline_ports::frontier::{CrawlRow, Frontier, IterationClosed, JoinOrigins, PutCrawl, RobotsRow, SeedResult};

use super::super::samples::{at, crawl, key, origin};
use super::super::world::{UNLIMITED, World, request_to_begin};

/// A crawl definition with this path as its seed.
pub(super) fn defined(path: &str) -> Definition {
    let seed = CrawlUrl::parse(&format!("https://defined.example{path}"), &UrlRules::default()).unwrap();
    Definition::for_seeds(vec![seed]).unwrap()
}

/// A definition is read back. Each put makes the next version, except one that changes nothing.
/// Earlier versions are kept.
pub async fn a_definition_is_read_back(frontier: &impl Frontier) {
    let name = defined("/").name.clone();
    assert_eq!(frontier.load_crawl(&name).await.unwrap(), None, "never put");
    for (path, seen, version) in [("/", None, 1), ("/other", Some(1), 2), ("/other", Some(1), 2), ("/", Some(2), 3)] {
        let put = PutCrawl { definition: defined(path), seen, next: None };
        assert_eq!(frontier.put_crawl(&put).await.unwrap(), CrawlPut::Stored(version), "{path} over {seen:?}");
        let row = CrawlRow { definition: put.definition, version, switch: Switch::On { next: None } };
        assert_eq!(frontier.load_crawl(&name).await.unwrap(), Some(row), "{path} over {seen:?}");
    }
    for (version, path) in [(1, Some("/")), (2, Some("/other")), (3, Some("/")), (4, None)] {
        let kept = frontier.load_definition(&name, version).await.unwrap();
        assert_eq!(kept, path.map(defined), "version {version}");
    }
}

/// Of two changes of the same version of a definition the second is refused.
pub async fn a_definition_that_somebody_else_changed_is_not_put(frontier: &impl Frontier) {
    let put = |path, seen| async move {
        frontier.put_crawl(&PutCrawl { definition: defined(path), seen, next: None }).await.unwrap()
    };
    assert_eq!(put("/", Some(1)).await, CrawlPut::Changed, "there is no version 1 yet");
    assert_eq!(put("/", None).await, CrawlPut::Stored(1));
    assert_eq!(put("/mine", None).await, CrawlPut::Changed, "somebody else put it first");
    assert_eq!(put("/theirs", Some(1)).await, CrawlPut::Stored(2));
    assert_eq!(put("/mine", Some(1)).await, CrawlPut::Changed, "version 1 is changed already");
    let stored = frontier.load_crawl(&defined("/").name).await.unwrap().map(|row| (row.version, row.definition));
    assert_eq!(stored, Some((2, defined("/theirs"))), "theirs stays");
}

/// Origins join after those that they were compared with, are listed in the order in which they
/// joined, and stay when the definition changes.
pub async fn origins_that_joined_stay(frontier: &impl Frontier) {
    let name = defined("/").name.clone();
    let stamp = || async { frontier.load_stamp(&name).await.unwrap() };
    let joined = |places| async { frontier.load_joined(&name, places).await.unwrap() };
    assert_eq!(stamp().await, None, "there is no such crawl");
    frontier.put_crawl(&PutCrawl { definition: defined("/"), seen: None, next: None }).await.unwrap();
    assert_eq!((stamp().await, joined(0..9).await), (Some(CrawlStamp { version: 1, joined: 0 }), Vec::new()));
    for (seen, hosts, expected, count, why) in [
        (0, &["z.example", "a.example"][..], OriginsJoined::Joined, 2, "two at once"),
        (0, &["z.example", "a.example"], OriginsJoined::Changed, 2, "the same again: they joined before"),
        (0, &["b.example"], OriginsJoined::Changed, 2, "it was not compared with them"),
        (2, &["b.example"], OriginsJoined::Joined, 3, "now it was"),
    ] {
        let origins = hosts.iter().map(|host| origin(host)).collect();
        let join = JoinOrigins { crawl: name.clone(), seen, origins };
        assert_eq!(frontier.join_origins(&join).await.unwrap(), expected, "{why}");
        assert_eq!(stamp().await, Some(CrawlStamp { version: 1, joined: count }), "{why}");
    }
    let other = PutCrawl { definition: defined("/other"), seen: Some(1), next: None };
    assert_eq!(frontier.put_crawl(&other).await.unwrap(), CrawlPut::Stored(2), "perhaps without knowing of them");
    assert_eq!(stamp().await, Some(CrawlStamp { version: 2, joined: 3 }));
    let all = ["z.example", "a.example", "b.example"].map(origin);
    for (places, expected, why) in [
        (0..3, &all[..], "all"),
        (1..3, &all[1..], "the later ones"),
        (0..1, &all[..1], "the first"),
        (2..2, &[], "none"),
    ] {
        assert_eq!(joined(places).await, expected, "{why}");
    }
    assert_eq!(joined(1..99).await, all[1..], "more than there are");
}

/// A definition that takes more than a row of some stores holds, and hundreds of origins that
/// joined, are read back.
pub async fn a_crawl_of_many_sites_comes_back(frontier: &impl Frontier) {
    const SEEDS: u64 = 2_000;
    const AT_ONCE: usize = 50;
    // Compresses badly.
    let digits = |n: u64| format!("{:016x}", (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let site = |n: u64| -> Origin { format!("https://{}.example", digits(n)).parse().unwrap() };
    let path = |n: u64| (0..24).map(|part| digits(SEEDS + 24 * n + part)).collect::<String>();
    let seeds = (0..SEEDS).map(|n| site(n).url_at(&format!("/{}", path(n))).unwrap()).collect();
    let mut draft = Draft::for_seeds(seeds);
    draft.name = "many".parse().unwrap();
    let of_version = |version: u32| {
        let mut draft = draft.clone();
        draft.scope.max_depth = Some(version);
        Definition::new(draft).unwrap()
    };
    let name = &draft.name;
    for (seen, version) in [(None, 1), (Some(1), 2)] {
        let put = PutCrawl { definition: of_version(version), seen, next: None };
        assert_eq!(frontier.put_crawl(&put).await.unwrap(), CrawlPut::Stored(version));
        assert_eq!(frontier.load_crawl(name).await.unwrap().map(|row| row.definition), Some(put.definition));
    }
    assert_eq!(frontier.load_definition(name, 1).await.unwrap(), Some(of_version(1)), "the one before is kept");
    let sites: Vec<Origin> = (0..300).map(site).collect();
    for (seen, origins) in (0..).step_by(AT_ONCE).zip(sites.chunks(AT_ONCE)) {
        let join = JoinOrigins { crawl: name.clone(), seen, origins: origins.to_vec() };
        assert_eq!(frontier.join_origins(&join).await.unwrap(), OriginsJoined::Joined);
    }
    assert_eq!(frontier.load_joined(name, 0..300).await.unwrap(), sites);
}

/// A trigger always gets the iteration that it began, even when that is closed.
pub async fn a_trigger_is_handled_once(frontier: &impl Frontier) {
    assert_eq!(frontier.latest_iteration(&crawl()).await.unwrap(), None, "none has begun");
    let first = World::begin(frontier, UNLIMITED).await;
    let row = first.row().await;
    assert_eq!((row.number, row.status, row.open, row.token_out), (Iteration::FIRST, IterationStatus::Open, 1, true));
    assert_eq!((row.origins, row.joined_before), (0, Some(3)), "as it began");
    assert_eq!(
        frontier.begin_iteration(&request_to_begin("t", UNLIMITED)).await.unwrap(),
        IterationBegun::Iteration(row),
        "again"
    );
    first.end(&[]).await;
    let second = World::begin_by(frontier, "u", UNLIMITED).await;
    assert_eq!(second.iteration, Iteration::FIRST.next());
    let late = frontier.begin_iteration(&request_to_begin("t", UNLIMITED)).await.unwrap();
    assert_eq!(late, IterationBegun::Iteration(first.row().await), "delivered again after the next one began");
    assert_eq!(frontier.latest_iteration(&crawl()).await.unwrap(), Some(second.row().await));
}

/// A trigger that arrives while an iteration runs is refused, and can begin one once that is
/// closed.
pub async fn an_iteration_waits_for_the_last_one_to_close(frontier: &impl Frontier) {
    let first = World::begin(frontier, UNLIMITED).await;
    let busy = frontier.begin_iteration(&request_to_begin("u", UNLIMITED)).await.unwrap();
    assert_eq!(busy, IterationBegun::Busy(first.row().await));
    first.end(&[]).await;
    assert_eq!(World::begin_by(frontier, "u", UNLIMITED).await.iteration, Iteration::FIRST.next());
}

/// Returning the scheduler's token twice lowers the count of open origins once.
pub async fn a_token_is_returned_once(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    world.seed(&key("a.example"), &["/"]).await;
    assert_eq!(world.row().await.open, 2, "the token and the origin");
    for _ in 0..2 {
        frontier.return_token(&crawl(), world.iteration).await.unwrap();
        let row = world.row().await;
        assert_eq!((row.open, row.token_out, row.due), (1, false, None));
    }
}

/// An iteration closes once, when nothing is open; nothing opens in it afterwards.
pub async fn closing_at_zero_is_final(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let crawl = crawl();
    let close = |second| frontier.close_iteration(&crawl, world.iteration, at(second));
    assert_eq!(close(1).await.unwrap(), IterationClosed::NotYet(world.row().await), "the token is out");
    frontier.return_token(&crawl, world.iteration).await.unwrap();
    assert_eq!(
        world.seed(&key("a.example"), &["/"]).await,
        SeedResult::IterationOver,
        "zero is final before it is closed"
    );
    let IterationClosed::Now(row) = close(2).await.unwrap() else { panic!("nothing is open") };
    assert_eq!((row.status, row.closed_at), (IterationStatus::Closed, Some(at(2))));
    assert_eq!(close(3).await.unwrap(), IterationClosed::Before(row), "with the time of the first close");
    assert_eq!(world.seed(&key("b.example"), &["/"]).await, SeedResult::IterationOver);
    assert_eq!(frontier.load_origin(&key("b.example")).await.unwrap(), None, "nothing was opened");
    assert_eq!(frontier.load_inbox(&key("b.example")).await.unwrap(), None, "nor an inbox");
}

/// Pausing, resuming and stopping change the status where they fit it, and nothing otherwise.
pub async fn a_change_of_status_that_does_not_fit_changes_nothing(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    for (change, status, why) in [
        (StatusChange::Resume, None, "it is not paused"),
        (StatusChange::Pause, Some(IterationStatus::Paused), "it is open"),
        (StatusChange::Pause, None, "it is paused already"),
        (StatusChange::Resume, Some(IterationStatus::Open), "it is paused"),
        (StatusChange::Stop, Some(IterationStatus::Stopping), "it is open"),
        (StatusChange::Pause, None, "it is stopping"),
        (StatusChange::Stop, None, "it is stopping already"),
    ] {
        let before = world.row().await;
        let changed = frontier.change_status(&crawl(), world.iteration, change).await.unwrap();
        assert_eq!(changed.as_ref().map(|row| row.status), status, "{why}");
        assert_eq!(world.row().await, changed.unwrap_or(before), "{why}");
    }
    let other = frontier.change_status(&crawl(), world.iteration.next(), StatusChange::Stop).await.unwrap();
    assert_eq!(other, None, "there is no such iteration");
}

/// The seeds of each trigger are added once; the first ones open the origin.
pub async fn seeds_are_added_once(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    for (trigger, paths, expected, added, why) in [
        ("t", &["/", "/b"][..], SeedResult::Added, 2, "opens it"),
        ("t", &["/", "/b"], SeedResult::Already, 2, "the command came twice"),
        ("u", &["/c"], SeedResult::Added, 3, "another trigger joins"),
        ("v", &[], SeedResult::Added, 3, "no seeds at all"),
    ] {
        assert_eq!(world.seed_by(&origin, trigger, paths).await, expected, "{why}");
        let rows = world.origin(&origin).await;
        assert_eq!((rows.inbox.added, rows.inbox.open, world.row().await.open), (added, true, 2), "{why}");
    }
}

/// The robots.txt that was fetched last is kept, unless its time is in the future.
pub async fn robots_are_overwritten(frontier: &impl Frontier) {
    let origin = key("a.example");
    assert_eq!(frontier.load_robots(&origin).await.unwrap(), None);
    let row = |second, status, body| {
        let record = RobotsRecord::from_fetch(&RobotsFetch::Answered { status, body });
        RobotsRow { record, fetched_at: at(second), expires_at: at(second + 1_800) }
    };
    let (first, second, late) = (row(1, 200, &b"User-agent: *\nDisallow: /\n"[..]), row(3, 404, b""), row(2, 410, b""));
    let ahead = row(365 * 24 * 3_600, 403, b"");
    let walled = RobotsRecord::from_fetch(&RobotsFetch::Walled { detail: "a challenge" });
    let walled = RobotsRow { record: walled, fetched_at: at(4), expires_at: at(4) };
    for (put, kept, why) in [
        (&first, &first, "the first"),
        (&second, &second, "a later one"),
        (&late, &second, "fetched before, by a holder that slept"),
        (&second, &second, "tried again"),
        (&walled, &walled, "one that a wall stands before"),
        (&ahead, &ahead, "fetched by a clock that is a year ahead"),
        (&first, &first, "the clock was set back: what it said is not later, or nothing would be kept for a year"),
    ] {
        frontier.put_robots(&origin, put).await.unwrap();
        assert_eq!(frontier.load_robots(&origin).await.unwrap().as_ref(), Some(kept), "{why}");
    }
}
