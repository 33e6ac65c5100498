//! What the link graph tells of a site: who links where, what is broken, which redirects follow one
//! another, and what is alike.

use std::ops::ControlFlow;
use std::path::Path;

use dragline_domain::definition::Definition;
use dragline_graph::{Broken, Chain, Duplicate, Graph, Orphan, SiteLink};
use dragline_local::LocalStore;

use super::heard::Heard;
use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// Words that make a text long enough to be compared.
fn words(from: u32) -> String {
    (from..from + 120).map(|n| format!("word{n} ")).collect()
}

/// A small site; with each iteration, `/later` appears and `/only-once` is no longer linked to.
fn site(asked: &Asked) -> Act {
    let moved = |to: &str| answer(301, &[&format!("location: {to}")], "");
    match asked.target.as_str() {
        "/" => page(&format!(
            "<title>Home</title><a href=/a>to <b>A</b></a><a href=/old>the old name</a><a href=/gone>gone</a><a href=/loop/1>round</a>
             <a href=/twin/1>one</a><a href=/twin/2>two</a><a href=/near>near</a><a href=/dead-end>end</a><img src=/i.png alt='a picture'>
             <a href=https://elsewhere.example/x>else</a><a href=/fails>fails</a><a href=/to-gone>by a redirect</a>{}",
            if asked.earlier == 0 { "<a href=/only-once>once</a>" } else { "<a href=/later>later</a>" }
        )),
        "/a" => page("<title>A</title><a href=/>home</a><a href=/a>itself</a><a href=/gone rel=nofollow>gone, too</a>"),
        "/old" => moved("/older"),
        "/older" => moved("/a"),
        "/loop/1" => moved("/loop/2"),
        "/loop/2" => moved("/loop/1"),
        "/to-gone" => moved("/gone"),
        "/twin/1" | "/twin/2" => page(&format!("<title>Twin</title>{}", words(0))),
        "/near" => page(&format!("<title>Near</title>{} and a bit", words(0))),
        "/fails" => answer(418, &[], ""),
        "/dead-end" | "/only-once" | "/later" => page(&asked.target),
        _ => answer(404, &[], ""),
    }
}

fn definition(site: &ScriptedSite) -> Definition {
    let yaml = format!("name: docs\nseeds: ['{}']\npoliteness: {{ delay: 0s, concurrency: 1 }}", site.url("/"));
    dragline_definition::parse(&yaml, "crawl.yaml").unwrap()
}

/// Opens the graph, and says whether it was made.
pub(super) async fn graph(data: &Path) -> (Graph, bool) {
    let reader = LocalStore::open_read_only(data).unwrap().into_reader("docs".parse().unwrap());
    let mut made = false;
    let graph = Graph::up_to_date(&reader, &data.join("graph/docs.db"), || made = true).await.unwrap();
    (graph, made)
}

/// Collects what a question is answered with.
pub(super) fn all<T>(ask: impl FnOnce(&mut dyn FnMut(T) -> ControlFlow<()>)) -> Vec<T> {
    let mut rows = Vec::new();
    ask(&mut |row| {
        rows.push(row);
        ControlFlow::Continue(())
    });
    rows
}

#[tokio::test]
async fn the_graph_tells_who_links_where_and_what_is_broken() {
    let site = ScriptedSite::start(site).await;
    let (data, heard) = (tempfile::tempdir().unwrap(), Heard::default());
    let definition = definition(&site);
    heard.crawl(data.path(), &definition).await;
    let (of_first, made) = graph(data.path()).await;
    assert!(made);
    assert!(!graph(data.path()).await.1, "it is made once");

    let path = |url: &str| url.replace(&site.url("/"), "/");
    let to_a: Vec<SiteLink> = all(|visit| of_first.links_to(&site.url("/a"), visit).unwrap());
    let told: Vec<_> =
        to_a.iter().map(|link| (path(&link.from_url), path(&link.to_url), link.anchor.as_deref())).collect();
    assert_eq!(
        told,
        [
            ("/".to_owned(), "/a".to_owned(), Some("to A")),
            ("/".to_owned(), "/old".to_owned(), Some("the old name")),
            ("/old".to_owned(), "/older".to_owned(), None),
            ("/older".to_owned(), "/a".to_owned(), None),
        ],
        "also by redirects; a page's own links to itself do not count"
    );
    let from_a: Vec<SiteLink> = all(|visit| of_first.links_from(&site.url("/a"), visit).unwrap());
    let told: Vec<_> =
        from_a.iter().map(|link| (path(&link.to_url), link.disposition.as_str(), link.is_broken)).collect();
    assert_eq!(
        told,
        [
            ("/".to_owned(), "follow", false),
            ("/a".to_owned(), "follow", false),
            ("/gone".to_owned(), "no_follow", true)
        ]
    );

    let broken: Vec<Broken> = all(|visit| of_first.broken(10, visit).unwrap());
    let told: Vec<_> = broken
        .iter()
        .map(|broken| {
            let holders: Vec<_> = broken
                .holders
                .iter()
                .map(|holder| format!("{} {}", path(&holder.from_url), path(&holder.to_url)))
                .collect();
            (path(&broken.url), broken.status, broken.linked_from, holders.join(", "))
        })
        .collect();
    assert_eq!(
        told,
        [
            ("/gone".to_owned(), Some(404), 2, "/ /gone, / /to-gone, /a /gone".to_owned()),
            ("/fails".to_owned(), Some(418), 1, "/ /fails".to_owned()),
            ("/loop/1".to_owned(), Some(301), 1, "/ /loop/1".to_owned()),
        ],
        "with what redirects there, and loops; nothing is known of what is out of scope or was not asked for"
    );

    let chains: Vec<Chain> = all(|visit| of_first.chains(2, visit).unwrap());
    let told: Vec<_> = chains
        .iter()
        .map(|chain| {
            let steps: Vec<_> = chain.steps.iter().map(|step| format!("{} {}", path(&step.url), step.state)).collect();
            (chain.ends.as_str(), steps.join(" > "))
        })
        .collect();
    assert_eq!(
        told,
        [
            ("loops", "/loop/1 redirect > /loop/2 redirect > /loop/1 redirect".to_owned()),
            ("loops", "/loop/2 redirect > /loop/1 redirect > /loop/2 redirect".to_owned()),
            ("lands", "/old redirect > /older redirect > /a page".to_owned()),
        ]
    );
    assert_eq!(all(|visit| of_first.chains(1, visit).unwrap()).len(), 5, "single redirects, if they are asked for");

    let duplicates: Vec<Duplicate> = all(|visit| of_first.duplicates(visit).unwrap());
    let told: Vec<_> = duplicates
        .iter()
        .map(|duplicate| {
            (duplicate.of_what.as_str(), path(&duplicate.same_as), path(&duplicate.url), duplicate.distance > 0)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("body", "/twin/1".to_owned(), "/twin/2".to_owned(), false),
            ("text", "/twin/1".to_owned(), "/twin/2".to_owned(), false),
            ("near", "/near".to_owned(), "/twin/1".to_owned(), true),
        ]
    );

    let node = |graph: &Graph, url: &str| graph.node(&site.url(url)).unwrap().unwrap();
    let a = node(&of_first, "/a");
    assert_eq!((a.state.as_str(), a.status, a.depth, a.linked_from, a.links_to), ("page", Some(200), Some(1), 1, 2));
    assert_eq!(node(&of_first, "/").depth, Some(0));
    assert!(node(&of_first, "/").rank > node(&of_first, "/dead-end").rank, "more links lead there");
    assert_eq!(node(&of_first, "/older").lands_on, site.url("/a"));
    assert_eq!(of_first.node("https://elsewhere.example/x").unwrap().unwrap().state, "outside");
    assert!(of_first.node(&site.url("/never-heard-of")).unwrap().is_none());
    assert_eq!(all(|visit| of_first.orphans(visit).unwrap()).len(), 0);
    let counts = of_first.counts().unwrap();
    assert_eq!((counts.broken, counts.broken_links, counts.chains, counts.orphans), (3, 5, 3, 0), "{counts:?}");
}

#[tokio::test]
async fn the_graph_is_of_the_site_as_it_is_now() {
    let site = ScriptedSite::start(site).await;
    let (data, heard) = (tempfile::tempdir().unwrap(), Heard::default());
    let definition = definition(&site);
    heard.crawl(data.path(), &definition).await;
    let (of_first, _) = graph(data.path()).await;
    heard.crawl(data.path(), &definition).await;
    let (now, made) = graph(data.path()).await;
    assert!(made, "the crawl has gone on");
    let orphans = all(|visit| now.orphans(visit).unwrap());
    assert_eq!(orphans.iter().map(|orphan| orphan.url.as_str()).collect::<Vec<_>>(), [site.url("/only-once").as_str()]);
    assert!(now.node(&site.url("/later")).unwrap().is_some_and(|node| node.depth == Some(1)));
    assert!(of_first.node(&site.url("/later")).unwrap().is_none(), "whoever reads the earlier file goes on reading it");

    // A file that is none, or is damaged, is made again.
    drop((of_first, now));
    std::fs::write(data.path().join("graph/docs.db"), "SQLite format 3\0 and then nothing of the kind").unwrap();
    let (mended, made) = graph(data.path()).await;
    assert!(made && mended.node(&site.url("/later")).unwrap().is_some());
}

/// A site whose robots.txt names a sitemap that pages do not mention, and which lists a page that
/// nobody links to, and one that is gone.
fn with_sitemaps(asked: &Asked) -> Act {
    let xml = |body: &str| answer(200, &["content-type: application/xml"], body);
    let at = |path: &str| format!("http://127.0.0.1:{}{path}", asked.port());
    match asked.target.as_str() {
        "/" => page("<title>Home</title><a href=/known>known</a>"),
        "/robots.txt" => answer(
            200,
            &["content-type: text/plain"],
            format!("User-agent: *\nDisallow: /private/\nsitemap: {}\n", at("/sitemaps.xml")),
        ),
        "/sitemaps.xml" => xml(&format!(
            "<?xml version='1.0'?><sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><sitemap><loc>{}</loc></sitemap></sitemapindex>",
            at("/sitemap-1.xml")
        )),
        "/sitemap-1.xml" => xml(&format!(
            "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>
             <url><loc>{}</loc><lastmod>2026-01-01</lastmod></url><url><loc> {} </loc></url><url><loc>{}</loc></url><url><loc>{}</loc></url>
             <url><loc>https://elsewhere.example/</loc></url></urlset>",
            at("/known"),
            at("/unlinked?a=1&amp;b=2"),
            at("/gone"),
            at("/private/x"),
        )),
        "/known" | "/unlinked?a=1&b=2" => page(&asked.target.replace('&', "&amp;")),
        _ => answer(404, &[], ""),
    }
}

#[tokio::test]
async fn sitemaps_lead_to_pages_that_nobody_links_to() {
    let site = ScriptedSite::start(with_sitemaps).await;
    for (sitemaps, orphans, broken, asked, why) in [
        ("ignore", vec![], vec![], 2, "the pages alone"),
        ("follow", vec!["/unlinked?a=1&b=2 true"], vec!["/gone 0 /sitemap-1.xml"], 6, "and what sitemaps list"),
    ] {
        let (data, heard, before) = (tempfile::tempdir().unwrap(), Heard::default(), site.targets().len());
        let yaml = format!(
            "name: docs\nseeds: ['{}']\nsitemaps: {sitemaps}\npoliteness: {{ delay: 0s, concurrency: 1 }}",
            site.url("/")
        );
        heard.crawl(data.path(), &dragline_definition::parse(&yaml, "crawl.yaml").unwrap()).await;
        let graph = graph(data.path()).await.0;
        let path = |url: &str| url.replace(&site.url("/"), "/");
        let told: Vec<String> = all(|visit| graph.orphans(visit).unwrap())
            .iter()
            .map(|orphan: &Orphan| format!("{} {}", path(&orphan.url), orphan.in_sitemap))
            .collect();
        assert_eq!(told, orphans, "{why}");
        let told: Vec<String> = all(|visit| graph.broken(10, visit).unwrap())
            .iter()
            .map(|broken: &Broken| {
                format!("{} {} {}", path(&broken.url), broken.linked_from, path(&broken.holders[0].from_url))
            })
            .collect();
        assert_eq!(told, broken, "{why}");
        let targets = site.targets().split_off(before);
        assert_eq!(targets.len(), asked, "{why}: {targets:?}");
        assert!(!targets.iter().any(|target| target.contains("private")), "robots.txt forbids it: {targets:?}");
    }
}

/// A site of pages that lead on by themselves, by an element and by a field.
fn that_refreshes(asked: &Asked) -> Act {
    match asked.target.as_str() {
        "/" => page("<title>Home</title><meta http-equiv=refresh content='5; url=/a'>"),
        "/a" => answer(200, &["content-type: text/html", "refresh: 5; url=/b"], "a"),
        "/b" => page("b"),
        _ => answer(404, &[], ""),
    }
}

#[tokio::test]
async fn a_refresh_is_a_link() {
    let site = ScriptedSite::start(that_refreshes).await;
    let data = tempfile::tempdir().unwrap();
    let yaml = format!("name: docs\nseeds: ['{}']\npoliteness: {{ delay: 0s, concurrency: 1 }}", site.url("/"));
    let definition = dragline_definition::parse(&yaml, "crawl.yaml").unwrap();
    Heard::default().crawl(data.path(), &definition).await;
    let graph = graph(data.path()).await.0;
    assert_eq!(all(|visit| graph.orphans(visit).unwrap()).len(), 0, "all are linked to");
    for (path, from, depth) in [("/a", "/", 1), ("/b", "/a", 2)] {
        let node = graph.node(&site.url(path)).unwrap().unwrap();
        assert_eq!((node.linked_from, node.depth), (1, Some(depth)), "{path}");
        let links = all(|visit| graph.links_to(&site.url(path), visit).unwrap());
        let links: Vec<_> = links.iter().map(|link| (link.from_url.as_str(), link.kind.as_str())).collect();
        assert_eq!(links, [(site.url(from).as_str(), "refresh")], "{path}");
    }
}
