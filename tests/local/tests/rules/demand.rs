//! URLs on demand: what is visited of what they lead to, and what the next crawl makes of the rest.

use std::collections::BTreeSet;
use std::time::Duration;

use dragline_domain::command::Command;
use dragline_domain::definition::{Definition, UrlPattern};
use dragline_domain::frontier::{Demand, Visits};
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::scripted::{Act, Asked, ScriptedSite, answer};

/// `/` leads to `/news` and `/shop`, each of these to two pages below it, and each of those to one
/// more and to `/`. `/old` redirects to `/shop/1`.
fn shop(asked: &Asked) -> Act {
    let of = |links: &[String]| {
        let links: String = links.iter().map(|to| format!("<a href={to}>{to}</a> ")).collect();
        if asked.field("if-none-match").is_some() {
            return answer(304, &["etag: \"1\""], "");
        }
        let body = format!("<title>{0}</title>text of {0} {links}", asked.target);
        answer(200, &["content-type: text/html", "etag: \"1\""], body)
    };
    match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        "/old" => answer(301, &["location: /shop/1"], ""),
        "/" => of(&["/news".to_owned(), "/shop".to_owned()]),
        path @ ("/news" | "/shop") => of(&[format!("{path}/1"), format!("{path}/2")]),
        path if path.matches('/').count() == 2 => of(&[format!("{path}/more"), "/".to_owned()]),
        _ => of(&[]),
    }
}

fn pattern(text: &str) -> UrlPattern {
    text.parse().unwrap()
}

fn demand(site: &ScriptedSite, definition: &Definition, path: &str, demand: Demand) -> Command {
    let url = CrawlUrl::parse(&site.url(path), &UrlRules::keep_all()).unwrap();
    Command::Demand { crawl: definition.name.clone(), urls: vec![url], demand }
}

/// The URLs that were requested from the `from`-th request on.
fn asked(site: &ScriptedSite, from: usize) -> BTreeSet<String> {
    site.targets().split_off(from).into_iter().filter(|target| target != "/robots.txt").collect()
}

fn set(urls: &[&str]) -> BTreeSet<String> {
    urls.iter().map(|url| (*url).to_owned()).collect()
}

const ALL: [&str; 11] = [
    "/",
    "/news",
    "/news/1",
    "/news/1/more",
    "/news/2",
    "/news/2/more",
    "/shop",
    "/shop/1",
    "/shop/1/more",
    "/shop/2",
    "/shop/2/more",
];

#[tokio::test]
async fn a_demand_goes_as_far_as_it_says_in_a_new_crawl_and_in_a_known_one() {
    let cases: [(&str, Demand, &[&str], &str); 6] = [
        ("/news", Demand { depth: Some(0), ..Demand::default() }, &["/news"], "the page alone"),
        (
            "/news",
            Demand { depth: Some(1), ..Demand::default() },
            &["/news", "/news/1", "/news/2"],
            "the page and its links",
        ),
        (
            "/news",
            Demand { pattern: Some(pattern("/news/")), ..Demand::default() },
            &["/news", "/news/1", "/news/1/more", "/news/2", "/news/2/more"],
            "links that match, and theirs",
        ),
        (
            "/news",
            Demand { skip: vec![pattern("/more$"), pattern("/shop"), pattern("/2")], ..Demand::default() },
            &["/", "/news", "/news/1"],
            "all but what is skipped",
        ),
        ("/news", Demand::default(), &ALL, "all that it leads to"),
        (
            "/old",
            Demand { pattern: Some(pattern("more$")), ..Demand::default() },
            &["/old", "/shop/1", "/shop/1/more"],
            "a redirect stands for its page, whether its target matches or not",
        ),
    ];
    for (path, wanted, expected, why) in cases {
        let site = ScriptedSite::start(shop).await;
        let definition = definition(&[site.url("/")], |_| {});
        let first = Crawled::once(&definition).await;
        assert_eq!(first.shown_urls(), ALL, "{why}");
        let before = site.targets().len();
        let known = first.then(&definition, &demand(&site, &definition, path, wanted.clone())).await;
        assert_eq!(asked(&site, before), set(expected), "{why}, where all is known");
        assert!(ALL.iter().all(|url| known.shown(url).is_some()), "{why}: the rest stays");

        let other = ScriptedSite::start(shop).await;
        let definition = dragline_testkit::whole_crawls::definition(&[other.url("/")], |_| {});
        let new = Crawled::first(&definition, &demand(&other, &definition, path, wanted)).await;
        assert_eq!(asked(&other, 0), set(expected), "{why}, where nothing is known");
        assert_eq!(new.log.len(), expected.len(), "{why}: {:?}", new.log);
    }
}

#[tokio::test]
async fn what_is_not_due_is_visited_by_force_alone_and_force_is_passed_on() {
    let site = ScriptedSite::start(shop).await;
    let monthly = definition(&[site.url("/")], |draft| draft.recrawl.interval = Some(Duration::from_hours(30 * 24)));
    let mut crawled = Crawled::once(&monthly).await;
    for (visits, expected, why) in [
        (Visits::Due, &[][..], "nothing is due"),
        (
            Visits::All,
            &["/news", "/news/1", "/news/1/more", "/news/2", "/news/2/more"][..],
            "by force, and so are links",
        ),
    ] {
        let before = site.targets().len();
        let news = Demand { pattern: Some(pattern("/news/")), visits, ..Demand::default() };
        crawled = crawled.then(&monthly, &demand(&site, &monthly, "/news", news)).await;
        assert_eq!(asked(&site, before), set(expected), "{why}");
        assert_eq!(crawled.shown_urls(), ALL, "{why}: all is still there");
    }
}

#[tokio::test]
async fn the_next_crawl_goes_on_with_what_a_demand_left() {
    let site = ScriptedSite::start(shop).await;
    let monthly = definition(&[site.url("/news")], |draft| {
        draft.recrawl.interval = Some(Duration::from_hours(30 * 24));
    });
    let one = Demand { depth: Some(0), ..Demand::default() };
    let page = Crawled::first(&monthly, &demand(&site, &monthly, "/news", one)).await;
    assert_eq!(page.shown_urls(), ["/news"], "one page of a crawl that never ran");
    assert_eq!(page.links_of("/news"), [("/news/1", "a", "later"), ("/news/2", "a", "later")]);
    let crawled = page.again(&monthly).await;
    assert_eq!(crawled.shown_urls(), ALL, "the rest comes with the crawl");
}

#[tokio::test]
async fn a_demand_does_not_go_where_the_definition_forbids() {
    let site = ScriptedSite::start(shop).await;
    let narrow = definition(&[site.url("/")], |draft| draft.scope.exclude.push(pattern("/shop")));
    let first = Crawled::once(&narrow).await;
    let before = first.shown_urls().len();
    let all = Demand { visits: Visits::All, ..Demand::default() };
    let more = first.then(&narrow, &demand(&site, &narrow, "/", all)).await;
    assert_eq!(more.shown_urls().len(), before, "{:?}", more.shown_urls());
    assert!(site.targets().iter().all(|target| !target.starts_with("/shop")));
}
