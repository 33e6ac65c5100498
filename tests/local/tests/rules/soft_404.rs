//! Servers that do not say by a status that a page is missing: what they answer for an address that
//! cannot exist is missing elsewhere, too.

use std::collections::BTreeSet;
use std::time::Duration;

use dragline_domain::change::ChangeKind;
use dragline_domain::command::Command;
use dragline_domain::definition::{Definition, Soft404};
use dragline_domain::frontier::Selection;
use dragline_domain::outcome::Outcome;
use dragline_testkit::whole_crawls::{Crawled, definition, store};

use super::scripted::{Act, Asked, ScriptedSite, answer, page};

const SORRY: &str = "<title>Shop</title><h1>Sorry</h1><p>What you looked for is not there, or not there any more.";
const SHELL: &str =
    "<title>App</title><noscript>This app needs JavaScript.</noscript><div id=app></div><script src=/a.js></script>";
const HOME: &str =
    "<title>Shop</title><h1>Shop</h1><p>Chairs, tables and shelves of all kinds of wood.<a href=/chair>A chair</a>";

/// The path of a page, its outcome, and the reason.
type Expected = (&'static str, Outcome, &'static str);

fn detecting(site: &ScriptedSite, seeds: &[&str]) -> Definition {
    let seeds: Vec<String> = seeds.iter().map(|path| site.url(path)).collect();
    definition(&seeds, |draft| draft.soft_404 = Soft404::Detect)
}

fn is_impossible(target: &str) -> bool {
    target.len() > 20 && !target.contains('.')
}

/// Returns the addresses that cannot exist for which a site was asked.
fn impossible(site: &ScriptedSite) -> Vec<String> {
    site.targets().into_iter().filter(|target| is_impossible(target)).collect()
}

/// A server with pages `/` and `/chair`, and with something else for all other addresses.
async fn shop(home: &'static str, chair: &'static str, missing: fn(&Asked) -> Act) -> ScriptedSite {
    ScriptedSite::start(move |asked| match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        "/" => page(home),
        "/chair" => page(chair),
        _ => missing(asked),
    })
    .await
}

#[tokio::test]
async fn what_is_answered_like_an_address_that_cannot_exist_is_missing() {
    const CHAIR: &str = "<title>Shop</title><h1>Chair</h1><p>Of beech, oiled, with a back that bends. In stock.";
    let content = |path, why| (path, Outcome::FileIngested, why);
    let cases: Vec<(ScriptedSite, Vec<Expected>, &str)> = vec![
        (
            shop(HOME, CHAIR, |_| page(SORRY)).await,
            vec![
                content("/", "the home page"),
                content("/chair", "a page with the same title"),
                ("/gone", Outcome::SoftNotFound, "as for what cannot exist"),
            ],
            "a page with status 200",
        ),
        (
            shop(HOME, CHAIR, |asked| page(&format!("{SORRY} There is no {}.", asked.target))).await,
            vec![content("/chair", "a page"), ("/gone", Outcome::SoftNotFound, "it says what was not found")],
            "a page that says what was asked for",
        ),
        (
            shop(HOME, CHAIR, |_| answer(302, &["location: /"], "")).await,
            vec![
                content("/", "where everything leads"),
                content("/chair", "a page"),
                ("/gone", Outcome::SoftNotFound, "it leads home, like what cannot exist"),
                ("/index.html", Outcome::TemporaryRedirect, "another name of the home page"),
            ],
            "a redirect to the home page",
        ),
        (
            shop(HOME, CHAIR, |_| answer(301, &["location: /chair"], "")).await,
            vec![content("/chair", "a page, to which others lead"), ("/gone", Outcome::SoftNotFound, "it leads there")],
            "a redirect to another page, for good",
        ),
        (
            shop(HOME, CHAIR, |_| page(HOME)).await,
            vec![
                content("/", "the home page is never missing"),
                content("/chair", "a page"),
                ("/gone", Outcome::SoftNotFound, "the home page in its place"),
            ],
            "the home page, without a redirect",
        ),
        (
            shop(HOME, CHAIR, |_| answer(404, &["content-type: text/html"], SORRY)).await,
            vec![content("/chair", "a page"), ("/gone", Outcome::FileNotFound, "its status")],
            "status 404: it is honest",
        ),
        (
            shop(SHELL, SHELL, |_| page(SHELL)).await,
            vec![
                ("/", Outcome::NeedsScript, "scripts make it"),
                ("/chair", Outcome::NeedsScript, "scripts may make another page of it"),
                ("/gone", Outcome::NeedsScript, "or of this"),
            ],
            "one shell for every page",
        ),
        (
            shop(HOME, CHAIR, |_| answer(200, &["content-type: text/html"], "<title>Shop</title>")).await,
            vec![content("/gone", "next to nothing says nothing")],
            "a page of no words",
        ),
        (
            shop(HOME, CHAIR, |_| answer(403, &["cf-mitigated: challenge"], "")).await,
            vec![content("/chair", "a page"), ("/gone", Outcome::BlockedByChallenge, "a wall, and nothing else")],
            "a challenge",
        ),
        (
            shop(HOME, CHAIR, |asked| if is_impossible(&asked.target) { answer(500, &[], "") } else { page(SORRY) })
                .await,
            vec![content("/gone", "nothing is known")],
            "an error",
        ),
    ];
    for (site, expected, what) in cases {
        let seeds: Vec<&str> = ["/"].into_iter().chain(expected.iter().map(|(path, ..)| *path)).collect();
        let crawled = Crawled::once(&detecting(&site, &seeds)).await;
        for (path, outcome, why) in expected {
            let row = crawled.row(path);
            assert_eq!(row.outcome, outcome, "{what}: {path}: {why}: {:?}", row.detail);
            let names_rule = row.detail.as_deref().is_some_and(|detail| detail.contains("by the rule `missing_"));
            assert_eq!(names_rule, outcome == Outcome::SoftNotFound, "{what}: {path}: {:?}", row.detail);
            let is_shown = crawled.shown(path).is_some_and(|page| page.text.is_some());
            let has_page = matches!(outcome, Outcome::FileIngested | Outcome::NeedsScript);
            assert_eq!(is_shown, has_page, "{what}: {path} is shown or not");
        }
        let asked = impossible(&site);
        assert_eq!(asked.len(), 1, "{what}: asked once");
        let told = crawled.requests_told();
        assert_eq!(told.get(&site.url(&asked[0])), Some(&1), "{what}: its answer is in the archive");
        assert!(crawled.log.iter().all(|row| row.url != asked[0]), "{what}: it is not a page of the site");
    }
}

#[tokio::test]
async fn nothing_is_asked_that_was_not_wanted_or_is_forbidden() {
    let rules = "User-agent: *\nDisallow: /\nAllow: /$\nAllow: /gone\n";
    for (robots, change, expected, why) in [
        ("", None, Outcome::FileIngested, "the definition does not say so"),
        (rules, Some(Soft404::Detect), Outcome::FileIngested, "robots.txt forbids the address"),
        ("", Some(Soft404::Detect), Outcome::SoftNotFound, "it may be asked for"),
    ] {
        let site = ScriptedSite::start(move |asked| match asked.target.as_str() {
            "/robots.txt" => answer(200, &["content-type: text/plain"], robots),
            "/" => page(HOME),
            _ => page(SORRY),
        })
        .await;
        let seeds = [site.url("/"), site.url("/gone")];
        let definition = definition(&seeds, |draft| draft.soft_404 = change.unwrap_or(draft.soft_404));
        let crawled = Crawled::once(&definition).await;
        assert_eq!(crawled.row("/gone").outcome, expected, "{why}");
        assert_eq!(impossible(&site).len(), usize::from(expected == Outcome::SoftNotFound), "{why}");
    }
}

#[tokio::test]
async fn the_address_is_asked_for_first_and_at_the_origins_pace_once_an_iteration() {
    let site = shop(HOME, HOME, |_| page(SORRY)).await;
    let paths: Vec<String> = (0..60).map(|n| format!("/gone{n}")).collect();
    let seeds: Vec<&str> = paths.iter().map(String::as_str).collect();
    let definition = detecting(&site, &seeds);
    let first = Crawled::once(&definition).await;
    assert!(is_impossible(&site.targets()[0]), "before any page");
    assert_eq!(impossible(&site).len(), 1, "in all turns and segments");
    let missing = first.log.iter().filter(|row| row.outcome == Outcome::SoftNotFound).count();
    assert_eq!(missing, 60, "in each segment");
    let _second = first.again(&definition).await;
    let asked: BTreeSet<_> = impossible(&site).into_iter().collect();
    assert_eq!(asked.len(), 2, "another address in another iteration");
    let delay = Duration::from_millis(300);
    let slow = shop(HOME, HOME, |_| answer(302, &["location: /"], "")).await;
    let definition = dragline_testkit::whole_crawls::definition(&[slow.url("/gone")], |draft| {
        (draft.soft_404, draft.politeness.delay) = (Soft404::Detect, delay);
    });
    let _crawled = Crawled::once(&definition).await;
    let asked = slow.log();
    assert!(asked.len() >= 4, "robots.txt, the address, where it leads, and a page: {}", asked.len());
    for pair in asked.windows(2) {
        let gap = pair[1].at.duration_since(pair[0].at);
        assert!(gap >= delay - Duration::from_millis(20), "{} after {}: {gap:?}", pair[1].target, pair[0].target);
    }
}

#[tokio::test]
async fn a_page_that_was_there_is_gone_and_comes_back() {
    let site = shop(HOME, HOME, |asked| {
        let is_there = asked.earlier != 1 && asked.target == "/table";
        page(if is_there { "<title>Table</title>A table of oak." } else { SORRY })
    })
    .await;
    let definition = detecting(&site, &["/", "/table"]);
    let first = Crawled::once(&definition).await;
    assert!(first.shown("/table").is_some());
    let second = first.again(&definition).await;
    assert_eq!(second.row("/table").outcome, Outcome::SoftNotFound);
    assert_eq!(second.row("/table").change.as_ref().map(|change| change.kind), Some(ChangeKind::Gone), "as with 404");
    assert!(second.shown("/table").is_none());
    let third = second.again(&definition).await;
    assert_eq!(third.row("/table").outcome, Outcome::FileIngested);
    assert!(third.shown("/table").is_some(), "it is back");
}

#[tokio::test]
async fn what_was_stored_as_a_page_before_is_missing_once_it_is_looked_for() {
    for (validates, why) in [(false, "the body is the same"), (true, "304, and then a reparse")] {
        let site = ScriptedSite::start(move |asked| match asked.target.as_str() {
            "/robots.txt" => answer(404, &[], ""),
            _ if validates && asked.field("if-none-match").is_some() => answer(304, &["etag: \"1\""], ""),
            "/" => page(HOME),
            _ => answer(200, &["content-type: text/html", "etag: \"1\""], SORRY),
        })
        .await;
        let seeds = [site.url("/"), site.url("/gone")];
        let ignoring = definition(&seeds, |_| {});
        let before = Crawled::once(&ignoring).await;
        assert!(before.shown("/gone").is_some(), "{why}: nobody looked");
        let detecting = definition(&seeds, |draft| draft.soft_404 = Soft404::Detect);
        let mut crawled = before.again(&detecting).await;
        let reparse = Command::Reparse { crawl: detecting.name.clone(), selection: Selection::All };
        if validates {
            assert!(crawled.shown("/gone").is_some(), "{why}: its body was not seen again");
            let requests = site.targets().len();
            crawled = crawled.then(&detecting, &reparse).await;
            assert_eq!(site.targets().len(), requests, "{why}: nothing is requested");
        }
        assert!(crawled.shown("/gone").is_none(), "{why}");
        let next = crawled.again(&detecting).await;
        assert_eq!(next.row("/gone").outcome, Outcome::SoftNotFound, "{why}: read as a whole");
        assert!(next.shown("/gone").is_none(), "{why}: it does not come back");
        store(next.data(), &ignoring).await;
        let after = next.again(&ignoring).await;
        assert!(after.shown("/gone").is_some(), "{why}: it does if nobody looks any more");
    }
}
