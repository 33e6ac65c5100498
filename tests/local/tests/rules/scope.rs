//! Which links are followed: scope, rules of the definition, traps, depth.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dragline_domain::definition::{Condition, DoNotCrawl, Draft, QueryRule, TextTest};
use dragline_domain::outcome::Outcome;
use dragline_engine::local_world;
use dragline_local::{LocalStore, SystemClock};
use dragline_ports::clock::Clock;
use dragline_testkit::site::{Site, SiteBuilder};
use dragline_testkit::whole_crawls::{Crawled, Network, Silent, crawl_in, definition};

use super::clocks::until_free;
use super::replies::{html, links, redirect};
use super::scripted::{ScriptedSite, answer, page};

/// Crawls a site that has only the given pages.
async fn crawl(builder: SiteBuilder, change: impl FnOnce(&mut Draft)) -> (Site, Crawled) {
    let site = builder.start().await.unwrap();
    let crawled = Box::pin(Crawled::once(&definition(&[site.url()], change))).await;
    (site, crawled)
}

fn asked(site: &Site) -> Vec<String> {
    site.log().into_iter().map(|access| access.target).filter(|target| target != "/robots.txt").collect()
}

#[tokio::test]
async fn patterns_say_what_belongs_to_the_crawl() {
    let targets = ["/docs/a", "/docs/draft/b", "/blog/c", "http://elsewhere.example/docs/", "http://127.0.0.1:9/docs/"];
    let (site, crawled) = crawl(Site::builder().reply("/", html(&links(targets))), |draft| {
        draft.scope.include = vec!["/docs/".parse().unwrap(), "^[^/]*//[^/]*/$".parse().unwrap()];
        draft.scope.exclude = vec!["/draft/".parse().unwrap()];
    })
    .await;
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "included by the second pattern"),
        ("/docs/a", Outcome::FileNotFound, "included, and not excluded"),
    ]);
    let expected = targets.map(|target| (target, "a", if target == "/docs/a" { "follow" } else { "out_of_scope" }));
    assert_eq!(crawled.links_of("/"), expected, "every link is recorded");
    assert_eq!(crawled.progress.parser.links_out_of_scope, 4);
    assert_eq!(crawled.candidates.len(), 2, "a URL out of scope is not a candidate");
    assert_eq!(asked(&site), ["/", "/docs/a"]);
}

#[tokio::test]
async fn a_site_is_crawled_under_all_of_its_names_and_each_page_once() {
    let site = ScriptedSite::start(|asked| {
        let host = asked.field("host").unwrap_or_default();
        let named = |name: &str, path: &str| format!("http://{name}:{}{path}", asked.port());
        let canonical = |name: &str| format!("<link rel=canonical href='{}'>", named(name, &asked.target));
        let [bare, www] = ["site.example", "www.site.example"];
        match (host.starts_with("www."), asked.target.as_str()) {
            (false, "/") => {
                let by_www = ["/moved", "/gone", "/plain", "/both"].map(|path| named(www, path));
                let elsewhere = named("docs.site.example", "/");
                page(&(links(by_www.iter().map(String::as_str)) + &links(["/own", "/deep", &elsewhere])))
            }
            (true, "/moved") => answer(301, &[&format!("location: {}", named(bare, "/moved"))], ""),
            (true, "/plain") => page(&links(["/only-there"])),
            // What it shows is there under both names, and each page says which is right.
            (_, "/both" | "/deep") => page(&(canonical(bare) + &links(["/both", "/deep", "/deeper"]))),
            // It moved once, and still calls itself by its old name.
            (false, "/own") => page(&canonical(www)),
            (false, "/moved" | "/deeper") | (true, "/only-there") => page("text"),
            _ => answer(404, &[], ""),
        }
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.named("site.example", "/")], |_| {})).await;
    let www = |path| site.named("www.site.example", path);
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "the seed"),
        (&www("/moved"), Outcome::PermanentRedirect, "it is asked as it is linked"),
        ("/moved", Outcome::FileIngested, "and redirects"),
        (&www("/gone"), Outcome::FileNotFound, "nobody claims that it works"),
        (&www("/plain"), Outcome::FileIngested, "a page that is only there"),
        (&www("/only-there"), Outcome::FileIngested, "so are those that it links to"),
        (&www("/both"), Outcome::NotCanonical, "the same under both names, by its own word"),
        ("/both", Outcome::FileIngested, "where it belongs"),
        ("/deep", Outcome::FileIngested, "what that page links to is not crawled under the other name"),
        ("/deeper", Outcome::FileIngested, "nor is what that links to"),
        ("/own", Outcome::FileIngested, "its old name is not asked for the same page"),
    ]);
    assert_eq!(crawled.links_of("/own").len(), 1, "it is recorded");
}

#[tokio::test]
async fn what_a_rule_forbids_is_logged_once_and_never_asked_for() {
    let both = html(&links(["/secret/x", "/other"]));
    let (site, crawled) = crawl(Site::builder().reply("/", both.clone()).reply("/other", both), |draft| {
        let when = Condition::Path(TextTest::Prefix("/secret/".to_owned()));
        draft.do_not_crawl.push(DoNotCrawl { when, reason: "asked not to".to_owned() });
    })
    .await;
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "the seed"),
        ("/other", Outcome::FileIngested, "nothing forbids it"),
        ("/secret/x", Outcome::BlockedUrlByLocalPolicy, "forbidden, though two pages link to it"),
    ]);
    let row = crawled.row("/secret/x");
    let detail = row.detail.as_deref().unwrap_or_default();
    assert!(detail.starts_with("do_not_crawl entry 1") && detail.ends_with("asked not to"), "{detail}");
    assert_eq!((row.depth, row.via.as_deref(), row.tries), (1, Some("/"), 0));
    let candidate = crawled.candidates.iter().find(|candidate| candidate.url == "/secret/x").unwrap();
    assert_eq!(candidate.last_outcome, Some(Outcome::BlockedUrlByLocalPolicy));
    assert_eq!(asked(&site), ["/", "/other"]);
}

#[tokio::test]
async fn query_parameters_and_traps_are_looked_at() {
    let long = format!("/{}", "x".repeat(300));
    let many = (0..21).map(|n| format!("/{n}")).collect::<String>();
    let (repeating, blocked) = ("/a/b/a/b/a", Outcome::BlockedUrlByLocalPolicy);
    let targets = [
        "/list",
        "/list?page=2",
        "/list?page=3&sort=up",
        "/list?utm_source=mail#top",
        repeating,
        long.as_str(),
        many.as_str(),
    ];
    let (site, crawled) = crawl(Site::builder().reply("/", html(&links(targets))), |draft| {
        draft.traps.url_bytes_max = 200;
        draft.url_query_parameters = vec![QueryRule { when: None, allow: vec!["page".to_owned()] }];
    })
    .await;
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "the seed"),
        ("/list", Outcome::FileNotFound, "without a query, and once: tracking parameters are removed"),
        ("/list?page=2", Outcome::FileNotFound, "allowed"),
        ("/list?page=3&sort=up", blocked, "one parameter of two is not allowed"),
        (repeating, blocked, "a segment three times"),
        (&long, blocked, "too long"),
        (&many, blocked, "too many segments"),
    ]);
    for (url, key) in [
        ("/list?page=3&sort=up", "url_query_parameters"),
        (repeating, "traps.segment_repeats_max"),
        (&long, "traps.url_bytes_max"),
        (&many, "traps.segments_max"),
    ] {
        let detail = crawled.row(url).detail.as_deref().unwrap_or_default();
        assert!(detail.starts_with(key), "{url}: the key that decided: {detail}");
    }
    assert_eq!(asked(&site).len(), 3);
}

#[tokio::test]
async fn depth_is_counted_in_links_by_the_shortest_way() {
    let page = |targets: &[&str]| html(&links(targets.iter().copied()));
    let builder = Site::builder()
        .reply("/", page(&["/1", "/short"]))
        .reply("/1", page(&["/2"]))
        .reply("/2", page(&["/3", "/near"]))
        .reply("/short", page(&["/near"]))
        .reply("/near", page(&["/4"]));
    let (site, crawled) = crawl(builder, |draft| draft.scope.max_depth = Some(2)).await;
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "depth 0"),
        ("/1", Outcome::FileIngested, "depth 1"),
        ("/short", Outcome::FileIngested, "depth 1"),
        ("/2", Outcome::FileIngested, "depth 2"),
        ("/near", Outcome::FileIngested, "depth 2 by the shorter path"),
    ]);
    assert!(crawled.links_of("/2").contains(&("/3", "a", "too_deep")));
    assert_eq!(crawled.progress.parser.links_too_deep, 3, "/3, /near from /2, and /4");
    assert_eq!(asked(&site).len(), 5);
}

#[tokio::test]
async fn who_reads_the_summary_is_told_of_parameters_that_were_taken_out() {
    const SESSION: &str = "0123456789abcdef0123456789abcdef";
    let first = [&*format!("/a?sid={SESSION}"), "/b?sid=1", "/moved", &*format!("/a?sid={SESSION}&x"), "/b?sid=1#part"];
    let builder = Site::builder()
        .reply("/", html(&links(first)))
        .reply("/a", html(&links([&*format!("/a?sid={SESSION}"), "/a"])))
        .reply("/a?x", html(""))
        .reply("/b?sid=1", html(""))
        .reply("/moved", redirect(302, &format!("/c;jsessionid={SESSION}")))
        .reply("/c", html(""));
    let (_site, crawled) = crawl(builder, |_| {}).await;
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "the seed"),
        ("/a", Outcome::FileIngested, "without its session"),
        ("/a?x", Outcome::FileIngested, "the same"),
        ("/b?sid=1", Outcome::FileIngested, "a number, not a session"),
        ("/moved", Outcome::TemporaryRedirect, "to a session"),
        ("/c", Outcome::FileIngested, "which is not part of the URL"),
    ]);
    assert_eq!(crawled.progress.parser.found_stripped, 3, "each URL once, as it was found first");
}

#[tokio::test]
async fn a_shorter_way_that_is_found_later_counts() {
    let seen = Arc::new(AtomicBool::new(false));
    let is_seen = Arc::clone(&seen);
    let deep = ScriptedSite::start(move |asked| match asked.target.as_str() {
        "/x" => {
            seen.store(true, Ordering::SeqCst);
            page("<a href=/y>4, or 2</a>")
        }
        "/robots.txt" => answer(404, &[], ""),
        _ => page("a page"),
    })
    .await;
    let to_x = format!("<a href={}>x</a>", deep.url("/x"));
    let last = to_x.clone();
    let long = ScriptedSite::start(move |asked| match asked.target.as_str() {
        "/" => page("<a href=/1>1</a>"),
        "/1" => page("<a href=/2>2</a>"),
        "/2" => page(&last),
        _ => answer(404, &[], ""),
    })
    .await;
    // Comes up once the long way has been gone.
    let short = ScriptedSite::start(move |asked| match asked.target.as_str() {
        "/" if is_seen.load(Ordering::SeqCst) => page(&to_x),
        "/" => answer(503, &["retry-after: 1"], ""),
        _ => answer(404, &[], ""),
    })
    .await;
    let seeds = [deep.url("/"), long.url("/"), short.named("localhost", "/")];
    let crawled = Crawled::once(&definition(&seeds, |draft| draft.scope.max_depth = Some(3))).await;
    let depth_of = |path: &str| {
        let candidate = crawled.candidates.iter().find(|candidate| candidate.url.ends_with(path));
        candidate.map(|candidate| candidate.depth)
    };
    assert_eq!((depth_of("/x"), depth_of("/y")), (Some(1), Some(2)), "by the short way");
    assert_eq!(deep.targets(), ["/", "/x", "/y"], "each once");
}

#[tokio::test]
async fn what_is_excluded_while_a_crawl_is_unfinished_is_left_alone_at_once() {
    let data = tempfile::tempdir().unwrap();
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/" => page("<a href=/a>1</a><a href=/b>2</a><a href=/c>3</a>"),
        "/c" => page("<a href=/b/found>4</a><a href=/d>5</a>"),
        _ => page("well"),
    })
    .await;
    let of_site = |exclude: &[&str]| {
        definition(&[site.url("/")], |draft| {
            draft.politeness.delay = Duration::from_millis(200);
            draft.scope.exclude = exclude.iter().map(|pattern| pattern.parse().unwrap()).collect();
        })
    };
    let world = local_world(&LocalStore::open(data.path(), SystemClock::new().now()).unwrap(), Silent);
    let messages = world.queue.clone();
    let whole = of_site(&[]);
    let waits = async {
        while !site.targets().contains(&"/a".to_owned()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = crawl_in(world, messages, Network::default().fetcher(), &whole) => panic!("it ended"),
        () = waits => {}
    }
    until_free(data.path()).await;
    let crawled = Crawled::in_directory(data, &of_site(&["/b"])).await;
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "visited before"),
        ("/a", Outcome::FileIngested, "asked for before, and again if that was not committed"),
        ("/b", Outcome::BlockedUrlByLocalPolicy, "it waited"),
        ("/c", Outcome::FileIngested, "it waited, too"),
        ("/d", Outcome::FileIngested, "found afterwards"),
    ]);
    assert!(!site.targets().iter().any(|target| target.starts_with("/b")), "{:?}", site.targets());
}
