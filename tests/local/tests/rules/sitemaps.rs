//! Sitemaps that nobody names, and what their extensions add.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragline_domain::definition::{Condition, Draft, RecrawlRule, RecrawlWord, Requisites, Sitemaps, TextTest};
use dragline_domain::outcome::Outcome;
use dragline_graph::Broken;
use dragline_local::SystemClock;
use dragline_ports::clock::Clock;
use dragline_testkit::whole_crawls::{Crawled, definition};
use jiff::Timestamp;

use super::graph::{all, graph};
use super::heard::Heard;
use super::scripted::{Act, Asked, ScriptedSite, answer, page};

fn follow(draft: &mut Draft) {
    draft.sitemaps = Sitemaps::Follow;
    draft.name = "docs".parse().unwrap();
}

/// A site without a robots.txt, whose sitemap is where most are.
fn unnamed(asked: &Asked) -> Act {
    match asked.target.as_str() {
        "/" | "/listed" => page("a page"),
        "/sitemap.xml" => answer(301, &["location: /map.xml"], ""),
        "/map.xml" => answer(
            200,
            &["content-type: text/html"],
            "<sitemapindex><sitemap><loc>/1.xml</loc></sitemap></sitemapindex>",
        ),
        "/1.xml" => answer(200, &["content-type: text/xml"], "<urlset><url><loc>/listed</loc></url></urlset>"),
        _ => answer(404, &[], ""),
    }
}

#[tokio::test]
async fn the_usual_place_of_a_sitemap_is_tried_where_robots_txt_names_none() {
    let site = ScriptedSite::start(unnamed).await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |draft| draft.sitemaps = Sitemaps::Only)).await;
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "the seed"),
        ("/robots.txt", Outcome::FileNotFound, "a seed, too"),
        ("/sitemap.xml", Outcome::PermanentRedirect, "tried"),
        ("/map.xml", Outcome::StoredNotRead, "an index, whatever its type"),
        ("/1.xml", Outcome::StoredNotRead, "a sitemap"),
        ("/listed", Outcome::FileIngested, "listed there"),
    ]);
    assert_eq!((crawled.row("/listed").depth, crawled.row("/sitemap.xml").via.as_deref()), (0, Some("/robots.txt")));
    let again = crawled.again(&definition(&[site.url("/")], |draft| draft.sitemaps = Sitemaps::Only)).await;
    let asked = |path: &str| site.targets().iter().filter(|target| *target == path).count();
    assert_eq!((again.log.len(), asked("/sitemap.xml")), (6, 2), "once in each iteration");
}

#[tokio::test]
async fn nothing_is_told_of_a_sitemap_that_nobody_named() {
    for (robots, expected, why) in [
        (None, Some(Outcome::FileNotFound), "no robots.txt"),
        (Some("User-agent: *\nDisallow: /x"), Some(Outcome::FileNotFound), "one that names none"),
        (Some("User-agent: *\nDisallow: /sitemap"), Some(Outcome::BlockedByRobotsTxt), "one that forbids it"),
        (Some("Sitemap: /map.xml"), None, "one that names another"),
    ] {
        let site = ScriptedSite::start(move |asked| match (asked.target.as_str(), robots) {
            ("/", _) => page("a page"),
            ("/robots.txt", Some(robots)) => answer(200, &["content-type: text/plain"], robots),
            _ => answer(404, &[], ""),
        })
        .await;
        let (data, heard) = (tempfile::tempdir().unwrap(), Heard::default());
        heard.crawl(data.path(), &definition(&[site.url("/")], follow)).await;
        let useless = heard.take("sitemap_useless");
        let graph = graph(data.path()).await.0;
        let broken = all(|visit| graph.broken(10, visit).unwrap());
        let broken: Vec<_> = broken.iter().map(|broken: &Broken| broken.url.as_str()).collect();
        let outcome = graph.node(&site.url("/sitemap.xml")).unwrap().and_then(|node| node.outcome_name);
        assert_eq!(outcome.as_deref(), expected.map(Outcome::name), "{why}");
        let named = expected.is_none();
        assert_eq!((useless.len(), broken.len()), (named.into(), named.into()), "{why}: {useless:?} {broken:?}");
    }
}

#[tokio::test]
async fn what_changed_is_visited_before_it_is_due_if_the_sitemap_was_right_before() {
    const PAGES: [&str; 6] = ["/often/1", "/often/2", "/often/3", "/seldom", "/old", "/lie"];
    // What the sitemap says of a page's last change; the lie is told by another sitemap.
    let changed: Arc<Mutex<BTreeMap<&str, Timestamp>>> = Arc::default();
    let told = Arc::clone(&changed);
    let site = ScriptedSite::start(move |asked| {
        let changed = told.lock().unwrap();
        let list = |paths: &[&'static str]| {
            let entry = |path: &&str| {
                let lastmod = changed.get(*path).map(|at| format!("<lastmod>{at}</lastmod>")).unwrap_or_default();
                format!("<url><loc>{path}</loc>{lastmod}</url>")
            };
            let entries: String = paths.iter().map(entry).collect();
            answer(200, &["content-type: text/xml"], format!("<urlset>{entries}</urlset>"))
        };
        match asked.target.as_str() {
            "/robots.txt" => answer(200, &["content-type: text/plain"], "Sitemap: /map.xml\nSitemap: /lies.xml"),
            "/map.xml" => list(&PAGES[..5]),
            "/lies.xml" => list(&["/lie"]),
            "/lie" => page("a page"),
            path => page(&format!("version {}", changed.get(path).is_some())),
        }
    })
    .await;
    let definition = definition(&[site.url("/")], |draft| {
        follow(draft);
        draft.recrawl.policy = Some(RecrawlWord::Fixed);
        draft.recrawl.interval = Some(Duration::from_hours(24 * 30));
        for when in [TextTest::Prefix("/often/".to_owned()), TextTest::Suffix(".xml".to_owned())] {
            let (when, policy) = (Condition::Path(when), Some(RecrawlWord::Always));
            draft.recrawl.rules.push(RecrawlRule { when, policy, interval: None, min: None, max: None });
        }
    });
    let asked = |crawled: &Crawled| -> Vec<String> {
        let rows = crawled.log.iter().filter(|row| PAGES[3..].contains(&row.url.as_str()));
        rows.map(|row| row.url.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let now = || SystemClock::new().now();
    let first = Crawled::once(&definition).await;
    assert_eq!(asked(&first), ["/lie", "/old", "/seldom"]);
    changed.lock().unwrap().extend(["/often/1", "/often/2", "/often/3", "/lie"].map(|path| (path, now())));
    let second = first.again(&definition).await;
    assert_eq!(asked(&second), Vec::<String>::new(), "it has proved nothing yet");
    assert_eq!(second.row("/map.xml").detail, None, "nor is it wrong");
    changed.lock().unwrap().extend(["/seldom", "/lie"].map(|path| (path, now())));
    let third = second.again(&definition).await;
    assert_eq!(asked(&third), ["/seldom"], "the visits of the second time proved it, but for the other sitemap");
    let detail = third.row("/map.xml").detail.as_deref();
    assert_eq!(detail, Some("lastmod was right 3 of 3 times: 1 changed since the last visit"));
    assert!(third.links_of("/map.xml").contains(&("/seldom", "sitemap", "changed")));
    let fourth = third.again(&definition).await;
    assert_eq!(asked(&fourth), Vec::<String>::new(), "it was visited since");
}

#[tokio::test]
async fn languages_count_like_seeds_and_pictures_are_requisites() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => answer(200, &["content-type: text/plain"], "Sitemap: /map.xml"),
        "/map.xml" => answer(
            200,
            &["content-type: text/xml"],
            "<urlset><url><loc>/en</loc><xhtml:link rel='alternate' hreflang='de' href='/de'/>
             <image:image><image:loc>/1.png</image:loc></image:image></url></urlset>",
        ),
        "/1.png" | "/favicon.ico" => answer(200, &["content-type: image/png"], "\u{89}PNG"),
        _ => page("a page"),
    })
    .await;
    for (requisites, disposition, visits) in [(Requisites::Ignore, "not_a_page", 5), (Requisites::Fetch, "follow", 7)] {
        let crawled = Crawled::once(&definition(&[site.url("/")], |draft| {
            (draft.sitemaps, draft.requisites) = (Sitemaps::Only, requisites);
        }))
        .await;
        assert_eq!(
            crawled.links_of("/map.xml"),
            [("/en", "sitemap", "follow"), ("/de", "alternate", "follow"), ("/1.png", "img", disposition)]
        );
        assert_eq!((crawled.row("/de").depth, crawled.log.len()), (0, visits));
    }
}
