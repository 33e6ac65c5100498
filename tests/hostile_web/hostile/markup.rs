//! HTML that is deeply nested, endless or malformed on purpose.

use dragline_domain::outcome::Outcome::{self, BlockedAtRequestOfRemote, FileIngested, StoredNotRead};
use dragline_testkit::hostile::{HostileSite, html, links, reply};
use dragline_testkit::whole_crawls::{Crawled, definition};

use crate::support::{case, judge, tight};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_costs_time_by_its_length_however_it_is_built() {
    let page = |body: String| html(format!("<title>nasty</title>{body}"));
    let cases = vec![
        case("100,000 nested elements", FileIngested, page("<div>".repeat(100_000))),
        case("100,000 nested elements of a formatting kind", FileIngested, page("<b><p>".repeat(50_000))),
        case("100,000 nested tables", FileIngested, page("<table><td>".repeat(50_000))),
        case("100,000 nested drawings", FileIngested, page("<svg><foreignobject>".repeat(25_000))),
        case("a tag that never closes", FileIngested, page(format!("<p {}", "x".repeat(500_000)))),
        case("a tag of 50,000 attributes", FileIngested, page(format!("<p{}>", attributes(50_000)))),
        case("a comment that never ends", FileIngested, page(format!("<!--{}", "-".repeat(500_000)))),
        case("half a million angle brackets", FileIngested, page("<".repeat(500_000))),
        case("NUL bytes everywhere", FileIngested, page("<\0p\0>a\0b</\0p>".repeat(20_000))),
    ];
    let crawled = judge(cases, |draft| draft.fetch.body_bytes_max = 2 << 20).await;
    let read = crawled.pages.iter().filter(|page| page.title.as_deref() == Some("nasty"));
    assert_eq!(read.count(), 9, "each of them was read");
}

fn attributes(count: usize) -> String {
    (0..count).map(|number| format!(" a{number}=\"{number}\"")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_hundred_thousand_links_ten_thousand_are_kept() {
    let many = links((0..100_000).map(|n| format!("/{n}")));
    let site = HostileSite::beside_good_pages(vec![("/many".to_owned(), html(many))]).await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |draft| draft.scope.max_depth = Some(1))).await;
    assert_eq!(crawled.links_of("/many").len(), 10_000);
    assert_unharmed_here(&crawled, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_that_lead_nowhere_are_left_out() {
    let long = format!("<a href=\"/{}\">long</a>", "x".repeat(1 << 20));
    let page = format!(
        "{long}<a href='javascript:alert(1)'>x</a><a href='data:text/html,x'>x</a><a href='file:///etc/passwd'>x</a>
         <a href='ftp://h.test/'>x</a><a href='http://[::bad/'>x</a><a href='//'>x</a><a href='/fine'>x</a>"
    );
    let cases = vec![
        ("/page", html(&page)),
        ("/base/script", html("<base href='javascript:x()'><a href=one>x</a>")),
        ("/base/data", html("<base href='data:text/html,x'><a href=two>x</a>")),
        ("/base/long", html(format!("<base href='/{}/'><a href=three>x</a>", "y".repeat(5_000)))),
    ];
    let cases = cases.into_iter().map(|(target, steps)| (target.to_owned(), steps)).collect();
    let site = HostileSite::beside_good_pages(cases).await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |draft| {
        tight(draft);
        draft.fetch.body_bytes_max = 2 << 20;
    }))
    .await;
    let targets = |page| crawled.links_of(page).into_iter().map(|(target, _, _)| target).collect::<Vec<_>>();
    assert_eq!(targets("/page"), ["/fine"]);
    assert_eq!(targets("/base/script"), ["/base/one"], "an unusable base is ignored");
    assert_eq!(targets("/base/data"), ["/base/two"]);
    assert!(crawled.log.iter().all(|row| row.url.len() < 4_096), "no URL exceeds the maximum length");
    assert_unharmed_here(&crawled, &site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_read_as_browsers_read_them() {
    /// Content type, body, outcome, text, links, and why.
    type Case<'a> = (&'a str, String, Outcome, &'a str, &'a [&'a str], &'a str);
    const HTML: &str = "text/html";
    const XHTML: &str = "application/xhtml+xml";
    let root = "<?xml version='1.0'?><!DOCTYPE html><html xmlns='http://www.w3.org/1999/xhtml'>";
    let xml = format!("{root}<title/><p>a</p><a href='x'/></html>");
    let metas = format!("{}<meta name=robots content=noindex>", "<meta name=viewport content=x>".repeat(40));
    let bots = format!("{}<meta name=robots content=noindex>", "<meta name=somebot content=index>".repeat(40));
    let empty = "<title/><script src='s.js'/><style/><iframe src='f'/><textarea/><p>a <![CDATA[< b]]></p><a href='x'/>";
    let cases: [Case<'_>; 13] = [
        (XHTML, empty.to_owned(), FileIngested, "a < b", &["/s.js", "/f", "/x"], "empty elements of XHTML"),
        (
            HTML,
            "<p>a<script src='s.js'/>b<a href='x'/>".to_owned(),
            FileIngested,
            "a",
            &["/s.js"],
            "which HTML does not have",
        ),
        ("text/xml", xml, FileIngested, "a", &["/x"], "XML that contains a page"),
        ("text/xml", "<rss><p>a</p></rss>".to_owned(), StoredNotRead, "", &[], "other XML"),
        ("*/*", "<p>a<a href=x>b</a>".to_owned(), FileIngested, "ab", &["/x"], "an invalid type"),
        ("unknown/unknown", "<p>a".to_owned(), FileIngested, "a", &[], "another"),
        (
            "*/*",
            "a<a href=x>b</a>".to_owned(),
            StoredNotRead,
            "",
            &[],
            "an invalid type that does not begin like a page",
        ),
        (HTML, metas, BlockedAtRequestOfRemote, "", &[], "noindex after many other elements"),
        (HTML, bots, BlockedAtRequestOfRemote, "", &[], "noindex after directives for other crawlers"),
        (HTML, "<p>a<a href='/b #c'>d</a>".to_owned(), FileIngested, "ad", &["/b%20"], "a space before the fragment"),
        (
            HTML,
            "<p hidden>a<p>b<i style='display:none'>c<a href=x></a></i>".to_owned(),
            FileIngested,
            "b",
            &["/x"],
            "hidden text",
        ),
        (
            HTML,
            "<p>a<i aria-hidden=true>icon</i><div aria-hidden=true>b".to_owned(),
            FileIngested,
            "a\nb",
            &[],
            "text hidden from some readers",
        ),
        (
            HTML,
            "<title>a&shy;b</title><p>sof\u{ad}t \u{200b}ly".to_owned(),
            FileIngested,
            "soft ly",
            &[],
            "invisible characters",
        ),
    ];
    let pages = cases.iter().enumerate().map(|(n, (media_type, body, ..))| {
        let field = format!("content-type: {media_type}");
        (format!("/{n}"), reply(200, &[field.as_str()], body))
    });
    let site = HostileSite::beside_good_pages(pages.collect()).await;
    let crawled = Crawled::once(&definition(&[site.url("/")], tight)).await;
    for (n, (.., outcome, text, targets, why)) in cases.iter().enumerate() {
        let page = format!("/{n}");
        let found: Vec<_> = crawled.links_of(&page).into_iter().map(|(target, ..)| target).collect();
        assert_eq!((crawled.row(&page).outcome, &found[..]), (*outcome, *targets), "{why}");
        if *outcome == FileIngested {
            assert_eq!(crawled.text(&page), *text, "{why}");
        }
    }
    assert_unharmed_here(&crawled, &site);
}

#[track_caller]
fn assert_unharmed_here(crawled: &Crawled, site: &HostileSite) {
    for target in ["/", "/good/before", "/good/after"] {
        assert_eq!(crawled.row(target).outcome, FileIngested, "{}", site.url(target));
    }
}
