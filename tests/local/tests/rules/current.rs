//! The site as it is now, after several iterations: what definitions, budgets, failures and
//! unchanged answers leave of it.

use std::collections::BTreeSet;
use std::time::Duration;

use dragline_domain::change::VisitChange;
use dragline_domain::definition::{Condition, Definition, DoNotCrawl, Draft, TextTest};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_local::LocalStore;
use dragline_ports::reader::{Filter, Reader};
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// Pages that never change: `/` leads to `/a` and `/b/1`, `/a` to `/a/1`, and so on, three deep.
fn tree(asked: &Asked) -> Act {
    let of = |links: &[&str]| {
        let links: String = links.iter().map(|to| format!("<a href={to}>{to}</a> ")).collect();
        let body = format!("<title>{0}</title>text of {0} {links}", asked.target);
        if asked.field("if-none-match").is_some() {
            return answer(304, &["etag: \"1\""], "");
        }
        answer(200, &["content-type: text/html", "etag: \"1\""], body)
    };
    match asked.target.as_str() {
        "/" => of(&["/a", "/b/1", "/c?x=1"]),
        "/a" => of(&["/a/1"]),
        "/a/1" => of(&["/a/2"]),
        "/robots.txt" => answer(404, &[], ""),
        _ => of(&[]),
    }
}

const ALL: [&str; 6] = ["/", "/a", "/a/1", "/a/2", "/b/1", "/c?x=1"];

fn forbid(draft: &mut Draft) {
    let when = Condition::Path(TextTest::Prefix("/b".to_owned()));
    draft.do_not_crawl.push(DoNotCrawl { when, reason: "not now".to_owned() });
}

/// A change of the definition, by which some URLs are out of reach.
type Narrow = fn(&mut Draft);

#[tokio::test]
async fn links_of_unchanged_pages_are_decided_again_by_another_definition() {
    let cases: [(Narrow, &[&str], &str); 5] = [
        (|draft| draft.scope.max_depth = Some(0), &["/"], "too deep"),
        (|draft| draft.scope.max_depth = Some(1), &["/", "/a", "/b/1", "/c?x=1"], "too deep, one level down"),
        (|draft| draft.scope.exclude.push("/a(/|$)".parse().unwrap()), &["/", "/b/1", "/c?x=1"], "excluded"),
        (forbid, &["/", "/a", "/a/1", "/a/2", "/c?x=1"], "forbidden, and so logged as blocked"),
        (|draft| draft.traps.segments_max = 1, &["/", "/a", "/c?x=1"], "like a trap"),
    ];
    let monthly: Narrow = |draft| draft.recrawl.interval = Some(Duration::from_hours(30 * 24));
    let always: Narrow = |_| {};
    for (recrawl, requests, how) in [(always, "all of them", "every page is due"), (monthly, "the seed", "none is due")]
    {
        for (narrow, reached, why) in cases {
            let site = ScriptedSite::start(tree).await;
            let of = |changes: &[Narrow]| {
                definition(&[site.url("/")], |draft| changes.iter().for_each(|change| change(draft)))
            };
            let narrowed = of(&[recrawl, narrow]);
            let first = Crawled::once(&narrowed).await;
            assert_eq!(first.shown_urls(), reached, "{why}");
            let before = site.targets().len();
            let wide = of(&[recrawl]);
            let second = first.again(&wide).await;
            assert_eq!(second.shown_urls(), ALL, "{why}: what was out of reach comes, where {how}");
            let asked: BTreeSet<String> = site.targets().split_off(before).into_iter().collect();
            let new = ALL.iter().filter(|url| !reached.contains(url));
            assert!(new.clone().all(|url| asked.contains(*url)), "{why}: {asked:?}");
            if requests == "the seed" {
                let known = reached.iter().filter(|url| **url != "/" && asked.contains(**url));
                assert_eq!(known.collect::<Vec<_>>(), Vec::<&&str>::new(), "{why}: no request for what is not due");
            }
            let third = second.again(&narrowed).await;
            assert_eq!(third.shown_urls(), reached, "{why}: what is out of reach goes, where {how}");
            let fourth = third.again(&wide).await;
            assert_eq!(fourth.shown_urls(), ALL, "{why}: and comes back, where {how}");
            let kept: Vec<_> = fourth.now.iter().filter_map(|page| page.title.as_deref()).collect();
            assert_eq!(kept.len(), ALL.len(), "{why}: each with its title: {kept:?}");
        }
    }
}

#[tokio::test]
async fn a_definition_that_stays_has_no_document_made_again() {
    let site = ScriptedSite::start(tree).await;
    let monthly = definition(&[site.url("/")], |draft| draft.recrawl.interval = Some(Duration::from_hours(30 * 24)));
    let second = Crawled::once(&monthly).await.again(&monthly).await;
    assert_eq!(second.log.len(), 1, "the seed: {:?}", second.log);
    let reader = LocalStore::open_read_only(second.data()).unwrap().into_reader(monthly.name.clone());
    let put = reader.documents(&Filter::by_iteration(Iteration::FIRST.next()), None, 9).await.unwrap().rows;
    assert!(put.iter().all(|row| row.document.page.is_none()), "{put:?}");
    assert_eq!(second.links_of("/").len(), 3, "the iteration saw them all the same");
    assert_eq!(second.links_now.len(), 5, "and the links are there");
}

/// A page `/` with links to all others, whose text differs at each visit.
fn wide(asked: &Asked) -> Act {
    match asked.target.as_str() {
        "/" => {
            let links: String = (1..SITE).map(|n| format!("<a href=/{n}>{n}</a> ")).collect();
            page(&format!("visit {} {links}", asked.earlier))
        }
        "/robots.txt" => answer(404, &[], ""),
        _ => page("a page"),
    }
}

/// How many pages it has.
const SITE: usize = 60;

#[tokio::test]
async fn runs_with_a_budget_reach_the_whole_site() {
    let site = ScriptedSite::start(wide).await;
    let seven = |draft: &mut Draft| draft.budget.pages = Some(7);
    let definition: Definition = definition(&[site.url("/")], seven);
    let mut crawled = Crawled::once(&definition).await;
    let mut visited: Vec<BTreeSet<String>> = Vec::new();
    let mut asked = 0;
    for run in 1..=12 {
        if run > 1 {
            crawled = crawled.again(&definition).await;
        }
        let now = site.targets().split_off(asked);
        asked += now.len();
        visited.push(now.into_iter().filter(|target| target != "/robots.txt" && target != "/").collect());
        let known = 1 + 6 * run;
        assert_eq!(crawled.now.len(), known.min(SITE), "run {run}: six new pages besides the seed");
        let left = crawled.leftovers();
        assert_eq!(left.is_empty(), run > 12, "run {run}: {left:?}");
    }
    // The tenth run visits the last five new pages, and then what was visited first.
    assert_eq!(visited[9].intersection(&visited[0]).count(), 1, "{:?}", visited[9]);
    assert_eq!(visited[10].iter().filter(|url| visited[0].contains(*url)).count(), 5, "{:?}", visited[10]);
    assert_eq!(visited[10].iter().filter(|url| visited[1].contains(*url)).count(), 1, "{:?}", visited[10]);
}

/// The answers to each URL, iteration by iteration.
fn moody(asked: &Asked) -> Act {
    let html = |body: &str| answer(200, &["content-type: text/html"], body);
    let tagged = |body: &str, fields: &[&str]| match asked.field("if-none-match") {
        Some(_) => answer(304, &[&["etag: \"1\""], fields].concat(), ""),
        None => answer(200, &[&["content-type: text/html", "etag: \"1\""], fields].concat(), body),
    };
    match (asked.target.as_str(), asked.earlier) {
        ("/", _) => html(
            "<a href=/same>1</a><a href=/tagged>2</a><a href=/fails>3</a><a href=/goes>4</a><a href=/hides>5</a>\
             <a href=/moves>6</a><a href=/news>7</a><a href=/stamped>8</a>",
        ),
        ("/same", _) => html("<title>same</title><a href=/to>same</a>"),
        ("/tagged", _) => tagged("<title>tagged</title>tagged", &[]),
        ("/fails", 0) | ("/goes", 0 | 2) => html("<title>there</title>there"),
        ("/fails", _) => answer(500, &[], "no"),
        ("/goes", _) => answer(410, &[], ""),
        ("/hides", 0) => tagged("<title>hides</title>secret", &[]),
        ("/hides", _) => tagged("<title>hides</title>secret", &["x-robots-tag: noindex"]),
        ("/moves", 0) => html("<title>moves</title>here"),
        ("/moves", _) => answer(301, &["location: /to"], ""),
        ("/news", n) => html(&format!("<title>news {n}</title>text <a href=/n{n}>n</a>")),
        ("/stamped", n) => html(&format!("<title>stamped</title>the same <!-- {n} -->")),
        ("/to" | "/n0" | "/n1" | "/n2", _) => html("<title>to</title>to"),
        _ => answer(404, &[], ""),
    }
}

/// What a URL shows: its outcome, title and text.
type Shown = Option<(Outcome, &'static str, &'static str)>;

/// A URL, what it shows, how its last visit ended, its change with the parts, and why.
type Case = (&'static str, Shown, Outcome, (&'static str, &'static str), &'static str);

#[tokio::test]
async fn the_current_state_survives_failures_and_says_what_changed() {
    let site = ScriptedSite::start(moody).await;
    let definition = definition(&[site.url("/")], |_| {});
    let first = Crawled::once(&definition).await;
    let changes = |crawled: &Crawled, url: &str| {
        let change = crawled.row(url).change.as_ref();
        (change.map_or("", |change| change.kind.name()), change.map_or_else(String::new, VisitChange::part_names))
    };
    for url in ["/", "/same", "/tagged", "/fails", "/goes", "/hides", "/moves", "/news", "/stamped", "/to"] {
        assert_eq!(changes(&first, url), ("new", String::new()), "{url}");
    }
    let second = first.again(&definition).await;
    use Outcome::{
        BlockedAtRequestOfRemote as Hidden, FileDidNotChange as Same, FileGone as Gone, FileIngested as Page,
        PermanentRedirect as Moved, ServerInternalError as Failed,
    };
    let cases: [Case; 9] = [
        ("/same", Some((Page, "same", "same")), Same, ("unchanged", ""), "the same body"),
        ("/tagged", Some((Page, "tagged", "tagged")), Same, ("unchanged", ""), "304"),
        ("/fails", Some((Page, "there", "there")), Failed, ("", ""), "a failure hides nothing"),
        ("/goes", None, Gone, ("gone", ""), "410"),
        ("/hides", Some((Hidden, "", "")), Hidden, ("changed", "status,title,text,metadata"), "noindex with a 304"),
        ("/moves", Some((Moved, "", "")), Moved, ("moved", "status,title,text,links,metadata"), "it redirects now"),
        ("/news", Some((Page, "news 1", "text n")), Page, ("changed", "title,links"), "another title and link"),
        ("/stamped", Some((Page, "stamped", "the same")), Page, ("unchanged", ""), "another comment alone"),
        ("/n1", Some((Page, "to", "to")), Page, ("new", ""), "found now"),
    ];
    for (url, shown, last, change, why) in cases {
        let found = second.shown(url).map(|page| {
            let text = |part: &Option<String>| part.clone().unwrap_or_default().trim().to_owned();
            (page.outcome, text(&page.title), text(&page.text))
        });
        let expected = shown.map(|(outcome, title, text)| (outcome, title.to_owned(), text.to_owned()));
        assert_eq!(found, expected, "{url}: {why}");
        assert_eq!(second.row(url).outcome, last, "{url}: {why}");
        assert_eq!(changes(&second, url), (change.0, change.1.to_owned()), "{url}: {why}");
        if let Some(page) = second.shown(url) {
            assert_eq!(page.last_outcome, Some(last), "{url}: {why}");
            assert!(page.first_seen <= page.last_checked.unwrap(), "{url}");
        }
    }
    let links = |crawled: &Crawled, from: &str| -> Vec<String> {
        crawled.links_now.iter().filter(|link| link.from_url == from).map(|link| link.to_url.clone()).collect()
    };
    assert_eq!(links(&second, "/same"), ["/to"], "the links of an unchanged page");
    assert_eq!(links(&second, "/news"), ["/n1"], "those of the newest document alone");
    let (tagged, fails) = (second.shown("/tagged").unwrap(), second.shown("/fails").unwrap());
    assert!(tagged.last_checked > tagged.last_changed, "checked again, and as it was: {tagged:?}");
    assert_eq!(fails.last_checked, fails.last_changed, "a failure checks nothing: {fails:?}");
    let third = second.again(&definition).await;
    assert_eq!(changes(&third, "/goes"), ("back", String::new()), "it is there again, as it was");
    assert_eq!(third.shown("/goes").unwrap().title.as_deref(), Some("there"));
    assert_eq!(changes(&third, "/hides").0, "unchanged", "it still asks for noindex");
    assert_eq!(changes(&third, "/moves").0, "unchanged", "it still redirects there");
    assert_eq!(third.shown("/fails").map(|page| page.last_outcome), Some(Some(Failed)));
}
