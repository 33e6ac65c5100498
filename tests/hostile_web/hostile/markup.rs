//! HTML that is nested, endless or crooked on purpose.

use dragline_domain::outcome::Outcome::FileIngested;
use dragline_testkit::hostile::{HostileSite, html, links};
use dragline_whole_crawls::{Crawled, definition};

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
    assert_eq!(targets("/base/script"), ["/base/one"], "a base that is no place is none");
    assert_eq!(targets("/base/data"), ["/base/two"]);
    assert!(crawled.log.iter().all(|row| row.url.len() < 4_096), "no URL is longer than a URL may be");
    assert_unharmed_here(&crawled, &site);
}

#[track_caller]
fn assert_unharmed_here(crawled: &Crawled, site: &HostileSite) {
    for target in ["/", "/good/before", "/good/after"] {
        assert_eq!(crawled.row(target).outcome, FileIngested.code(), "{}", site.url(target));
    }
}
