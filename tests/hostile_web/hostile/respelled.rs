//! Servers that tell apart what is one URL to a crawler: by its spelling, by parameters that are
//! stripped, by a cookie, by conditions.

use std::time::Duration;

use dragline_domain::outcome::Outcome::{
    self, AskedToTryAgain, BlockedByRobotsTxt, FileDidNotChange, FileIngested, FileNotFound, ServerBlamedClient,
    ServerUnavailable, TemporaryRedirect,
};
use dragline_domain::url::UrlRules;
use dragline_testkit::hostile::{Asked, HostileSite, Step, head, html, links, reply};
use dragline_testkit::whole_crawls::{Crawled, definition};

use crate::support::tight;

const DELAY: Duration = Duration::from_millis(400);
/// How late the server may see a request on a busy machine.
const LATENESS: Duration = Duration::from_millis(200);

/// What a server answers.
type Script = fn(&Asked) -> Vec<Step>;

/// A server that asks for the same URL in another way.
struct Case {
    /// The name, shown when the case fails.
    what: &'static str,
    /// The URL, as the crawler knows it.
    path: &'static str,
    script: Script,
    /// The targets that it must see, robots.txt and the page of links aside, in order.
    asked: &'static [&'static str],
    /// The outcomes of the URL, in order.
    outcomes: &'static [Outcome],
}

const fn case(
    what: &'static str,
    path: &'static str,
    script: Script,
    asked: &'static [&'static str],
    outcomes: &'static [Outcome],
) -> Case {
    Case { what, path, script, asked, outcomes }
}

fn to(location: &str) -> Vec<Step> {
    vec![head(302, &[&format!("location: {location}"), "content-length: 0"])]
}

/// A redirect to what is asked for, unless it is already.
fn at(asked: &Asked, target: &str) -> Vec<Step> {
    if asked.target == target { html("here") } else { to(target) }
}

const ONCE: &[Outcome] = &[TemporaryRedirect, FileIngested];

const CASES: &[Case] = &[
    case("hex digits in lower case", "/caf%C3%A9", |a| at(a, "/caf%c3%a9"), &["/caf%C3%A9", "/caf%c3%a9"], ONCE),
    case("an encoded `~`", "/~joe", |a| at(a, "/%7Ejoe"), &["/~joe", "/%7Ejoe"], ONCE),
    case("an encoded `-`", "/a-b", |a| at(a, "/a%2Db"), &["/a-b", "/a%2Db"], ONCE),
    case("an encoded letter", "/abc", |a| at(a, "/%61bc"), &["/abc", "/%61bc"], ONCE),
    case("a session id", "/s", |a| at(a, "/s?PHPSESSID=ab12"), &["/s", "/s?PHPSESSID=ab12"], ONCE),
    case("one in the path", "/s", |a| at(a, "/s;jsessionid=AB12"), &["/s", "/s;jsessionid=AB12"], ONCE),
    case("a campaign", "/s?a=1", |a| at(a, "/s?a=1&utm_source=x"), &["/s?a=1", "/s?a=1&utm_source=x"], ONCE),
    case("the definition's own", "/s", |a| at(a, "/s?ref=home"), &["/s", "/s?ref=home"], ONCE),
    case("an empty query", "/s", |a| at(a, "/s?"), &["/s", "/s?"], ONCE),
    case("itself, once", "/s", |a| if a.earlier == 0 { to("/s") } else { html("here") }, &["/s", "/s"], ONCE),
    case("itself, for ever", "/s", |_| to("/s"), &["/s", "/s"], &[TemporaryRedirect, TemporaryRedirect]),
    case(
        "another spelling each time",
        "/s",
        |a| to(&format!("/s?utm_id={}", a.target.len())),
        &["/s", "/s?utm_id=2"],
        &[TemporaryRedirect, TemporaryRedirect],
    ),
    case(
        "a spelling that leads elsewhere",
        "/s",
        |a| match a.target.as_str() {
            "/s" => to("/s?"),
            "/s?" => to("/other"),
            _ => html("here"),
        },
        &["/s", "/s?", "/other"],
        &[TemporaryRedirect, TemporaryRedirect],
    ),
    case(
        "a spelling that is not there",
        "/s",
        |a| if a.target == "/s" { to("/s?") } else { reply(404, &[], "") },
        &["/s", "/s?"],
        &[TemporaryRedirect, FileNotFound],
    ),
    case(
        "a spelling that fails once",
        "/s",
        |a| match (a.target.as_str(), a.earlier) {
            ("/s", _) => to("/s?"),
            (_, 0) => reply(503, &[], ""),
            _ => html("here"),
        },
        &["/s", "/s?", "/s?"],
        &[TemporaryRedirect, ServerUnavailable, FileIngested],
    ),
    case(
        "a spelling that robots.txt forbids",
        "/s",
        |a| at(a, "/s?PHPSESSID=forbidden"),
        &["/s"],
        &[TemporaryRedirect, BlockedByRobotsTxt],
    ),
    case(
        "a choice, as a page",
        "/s",
        |_| reply(300, &["location: /other", "content-type: text/html"], "choose"),
        &["/s"],
        &[FileIngested],
    ),
    case("302 and no target", "/s", |_| reply(302, &["content-type: text/html"], "here"), &["/s"], &[FileIngested]),
    case("303 and no target", "/s", |_| reply(303, &["content-type: text/html"], "here"), &["/s"], &[FileIngested]),
    case("308 and no target", "/s", |_| reply(308, &["content-type: text/html"], "here"), &["/s"], &[FileIngested]),
    case("412, without conditions", "/s", |_| reply(412, &[], ""), &["/s"], &[ServerBlamedClient]),
];

/// Crawls a site for each case, with its URL as a seed, or behind a page of links.
async fn crawl_all(is_seed: bool) {
    let mut sites = Vec::new();
    for Case { path, script, .. } in CASES {
        let site = HostileSite::start(move |asked| match asked.target.as_str() {
            "/robots.txt" => reply(200, &[], "User-agent: *\nDisallow: /*forbidden\n"),
            "/" => html(links([path])),
            _ => script(asked),
        })
        .await;
        sites.push(site);
    }
    let host = |n: usize| format!("site{n}.test");
    let seeds: Vec<String> = (0..)
        .zip(CASES.iter().zip(&sites))
        .map(|(n, (case, site))| site.named(&host(n), if is_seed { case.path } else { "/" }))
        .collect();
    let crawled = Crawled::once(&definition(&seeds, |draft| {
        tight(draft);
        draft.politeness.delay = DELAY;
        draft.strip_query_parameters = UrlRules::new(["PHPSESSID", "jsessionid", "utm_*", "ref"]).unwrap();
    }))
    .await;
    for (n, (Case { what, path, asked, outcomes, .. }, site)) in CASES.iter().zip(&sites).enumerate() {
        let log = site.log();
        let targets: Vec<&str> = log.iter().map(|asked| asked.target.as_str()).collect();
        let expected: Vec<&str> =
            ["/robots.txt"].into_iter().chain((!is_seed).then_some("/")).chain(asked.iter().copied()).collect();
        assert_eq!(targets, expected, "{what}");
        for pair in log.windows(2) {
            assert!(pair[1].at - pair[0].at + LATENESS >= DELAY, "{what}: {:?}", pair[1].at - pair[0].at);
        }
        let url = site.named(&host(n), path);
        let short = url.strip_prefix(&site.named(&host(0), "")).filter(|_| n == 0).unwrap_or(&url);
        let rows: Vec<_> = crawled.log.iter().filter(|row| row.url == short).collect();
        let ended: Vec<_> = rows.iter().map(|row| row.outcome.name()).collect();
        let names: Vec<_> = outcomes.iter().map(|outcome| outcome.name()).collect();
        assert_eq!(ended, names, "{what}: {rows:?}");
        assert!(rows.iter().rev().skip(1).all(|row| !row.r#final), "{what}: only the last one stands");
        let requests = rows.iter().filter(|row| row.status.is_some()).count();
        let seen = asked.iter().filter(|target| **target != "/other").count();
        assert_eq!(requests, seen, "{what}: each request is in the log");
    }
    assert_eq!(crawled.progress.origins_open, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seed_is_asked_for_once_more_as_its_server_spells_it() {
    crawl_all(true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_is_asked_for_once_more_as_its_server_spells_it() {
    crawl_all(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cookie_goes_back_once_to_the_url_that_set_it() {
    const SECRET: &str = "sid=0123456789";
    let site = HostileSite::start(|asked| {
        let set = |location: &str| {
            head(302, &[location, "set-cookie: sid=0123456789; Path=/; HttpOnly", "set-cookie: old=; Max-Age=0"])
        };
        let with_cookie = |location: &str, body: &str| match asked.field("cookie") {
            Some(SECRET) => html(body),
            _ => vec![set(location)],
        };
        match asked.target.as_str() {
            "/robots.txt" => reply(404, &["set-cookie: robots=1"], ""),
            "/" => with_cookie("location: /", &links(["/next", "/respelled", "/away"])),
            "/respelled" => vec![set("location: /respelled?PHPSESSID=1")],
            "/respelled?PHPSESSID=1" => with_cookie("location: /respelled", "spelled and known"),
            "/away" => vec![set("location: /there")],
            _ => html("a page"),
        }
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |draft| {
        tight(draft);
        draft.politeness.concurrency = 1;
    }))
    .await;
    let log = site.log();
    let asked: Vec<_> = log.iter().map(|asked| (asked.target.as_str(), asked.field("cookie"))).collect();
    let mut sorted = asked.clone();
    sorted.sort_unstable();
    let mut expected = [
        ("/robots.txt", None),
        ("/", None),
        ("/", Some(SECRET)),
        ("/next", None),
        ("/respelled", None),
        ("/respelled?PHPSESSID=1", Some(SECRET)),
        ("/away", None),
        ("/there", None),
    ];
    expected.sort_unstable();
    assert_eq!(sorted, expected, "{asked:?}");
    crawled.assert_outcomes(&[
        ("/", FileIngested, "with its cookie"),
        ("/next", FileIngested, "another URL"),
        ("/respelled", FileIngested, "with its cookie, as spelled"),
        ("/away", TemporaryRedirect, "to another URL, which gets none"),
        ("/there", FileIngested, "without one"),
    ]);
    let requests: Vec<String> = crawled
        .every_record()
        .iter()
        .filter(|record| record.target_uri().is_some_and(|url| url.contains("/respelled")))
        .map(|record| String::from_utf8_lossy(&record.block).into_owned())
        .filter(|block| block.starts_with("GET "))
        .collect();
    let [first, second] = &requests[..] else { panic!("{requests:?}") };
    assert!(first.starts_with("GET /respelled HTTP/1.1\r\n") && !first.contains("cookie"), "{first}");
    assert!(second.starts_with("GET /respelled?PHPSESSID=1 HTTP/1.1\r\n"), "as it was sent: {second}");
    assert!(second.contains("\r\ncookie: [redacted]\r\n"), "{second}");
    for row in &crawled.log {
        assert!(!row.detail.as_ref().is_some_and(|detail| detail.contains("0123456789")), "{:?}", row.detail);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_site_that_redirects_every_page_to_itself_is_crawled() {
    const PAGES: usize = 120;
    let site = HostileSite::start(|asked| match (asked.target.as_str(), asked.field("cookie")) {
        ("/robots.txt", _) => reply(404, &[], ""),
        (target, None) => vec![head(302, &[&format!("location: {target}"), "set-cookie: seen=1"])],
        ("/", _) => html(links((0..PAGES).map(|n| format!("/{n}?{}", "x".repeat(500))))),
        _ => html("a page"),
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.url("/")], tight)).await;
    let finals = crawled.log.iter().filter(|row| row.r#final && row.outcome == FileIngested).count();
    assert_eq!(finals, PAGES + 1);
    assert_eq!(site.log().len(), 2 * (PAGES + 1) + 1, "each twice, and robots.txt");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_conditions_are_left_out() {
    let site = HostileSite::start(|asked| {
        let is_conditional = asked.field("if-none-match").is_some();
        match asked.target.as_str() {
            "/robots.txt" => reply(404, &[], ""),
            "/changed" if asked.earlier > 0 && !is_conditional => reply(200, &["content-type: text/html"], "new"),
            "/never" if asked.earlier > 0 => reply(412, &[], ""),
            _ if is_conditional => reply(412, &[], ""),
            _ => reply(200, &["content-type: text/html", "etag: \"1\""], links(["/", "/changed", "/never"])),
        }
    })
    .await;
    let definition = definition(&[site.url("/")], tight);
    let first = Crawled::once(&definition).await;
    first.assert_outcomes(&[
        ("/", FileIngested, "the first visit"),
        ("/changed", FileIngested, "the first visit"),
        ("/never", FileIngested, "the first visit"),
    ]);
    let second = first.again(&definition).await;
    second.assert_outcomes(&[
        ("/", FileDidNotChange, "the same body"),
        ("/changed", FileIngested, "another body"),
        ("/never", ServerBlamedClient, "412 without conditions"),
    ]);
    for path in ["/", "/changed", "/never"] {
        let meanwhile: Vec<_> = second.log.iter().filter(|row| row.url == path && !row.r#final).collect();
        assert!(matches!(meanwhile[..], [row] if row.outcome == AskedToTryAgain), "{path}: {meanwhile:?}");
        let log = site.log();
        let asked: Vec<_> =
            log.iter().filter(|asked| asked.target == path).map(|asked| asked.field("if-none-match")).collect();
        assert_eq!(asked, [None, Some("\"1\""), None], "{path}");
    }
}
