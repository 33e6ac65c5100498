//! Sitemaps that nobody names, and what their extensions add.

use dragline_domain::definition::{Draft, Requisites, Sitemaps};
use dragline_domain::outcome::Outcome;
use dragline_graph::Broken;
use dragline_testkit::whole_crawls::{Crawled, definition};

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
async fn languages_count_like_seeds_and_pictures_are_requisites() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => answer(200, &["content-type: text/plain"], "Sitemap: /map.xml"),
        "/map.xml" => answer(
            200,
            &["content-type: text/xml"],
            "<urlset><url><loc>/en</loc><xhtml:link rel='alternate' hreflang='de' href='/de'/>
             <image:image><image:loc>/1.png</image:loc></image:image></url></urlset>",
        ),
        "/1.png" => answer(200, &["content-type: image/png"], "\u{89}PNG"),
        _ => page("a page"),
    })
    .await;
    for (requisites, disposition, visits) in [(Requisites::Ignore, "not_a_page", 5), (Requisites::Fetch, "follow", 6)] {
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
