//! Every kind of bad robots.txt: what it allows, and that nothing is requested before it is known.

use std::time::Duration;

use dragline_domain::outcome::Outcome::{self, BlockedByRobotsTxt, FileIngested, OriginGivenUp, RequestTimeout};
use dragline_testkit::hostile::{HostileSite, Step, gzip, head, html, reply};
use dragline_testkit::whole_crawls::{Crawled, definition};

use crate::support::tight;

const FORBIDS: &str = "User-agent: *\nDisallow: /page\n";

const CHALLENGE: &str = "<title>Just a moment...</title><script>window._cf_chl_opt={cvId:'3'}</script>";

const LOGIN: &str = "<title>Log in</title><form method=post><input name=u><input type=password name=p></form>";

/// What an origin's robots.txt means for its pages.
#[derive(Clone, Copy)]
enum RobotsMeaning {
    /// It is obeyed: `/page` is forbidden, `/open` is not.
    Obeyed,
    /// It counts as missing: everything is allowed.
    Allowed,
    /// It cannot be read: nothing is requested.
    Unreadable,
}

fn broken_off(status: u16, body: &str) -> Vec<Step> {
    vec![head(status, &["content-type: text/plain", "content-length: 999"]), Step::send(body.to_owned())]
}

fn text(body: impl AsRef<[u8]>) -> Vec<Step> {
    reply(200, &["content-type: text/plain"], body)
}

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

/// Where redirects lead.
#[derive(Clone, Copy)]
enum Hops {
    /// To the same host.
    Home,
    /// To another host each time.
    Abroad,
}

/// Redirects to `/robots/{times}`, counts down to zero, and then serves the rules.
async fn redirecting(times: usize, hops: Hops) -> HostileSite {
    HostileSite::start(move |asked| {
        let port = asked.field("host").and_then(|host| host.rsplit_once(':')).map_or("80", |(_, port)| port);
        let left = match asked.target.as_str() {
            "/robots.txt" => Some(times),
            target => target.strip_prefix("/robots/").and_then(|left| left.parse().ok()),
        };
        match left {
            Some(0) => text(FORBIDS),
            Some(left) => {
                let host = match hops {
                    Hops::Home => String::new(),
                    Hops::Abroad => format!("http://host-{left}.test:{port}"),
                };
                vec![head(301, &[&format!("location: {host}/robots/{}", left - 1), "content-length: 0"])]
            }
            None => html("page"),
        }
    })
    .await
}

async fn with_robots(robots: Vec<Step>) -> HostileSite {
    HostileSite::start(move |asked| if asked.target == "/robots.txt" { robots.clone() } else { html("page") }).await
}

/// One crawl of all sites, as the waits between tries of an unreadable robots.txt take 7.5 seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_robots_txt_means_is_the_same_however_bad_it_is() {
    let elsewhere = with_robots(text(FORBIDS)).await;
    let across =
        vec![head(302, &[&format!("location: {}", elsewhere.named("other.test", "/robots.txt")), "content-length: 0"])];
    let padded =
        |padding: usize, then: &str| [b"# ".to_vec(), vec![b'x'; padding], format!("\n{then}").into_bytes()].concat();
    // The rules are at the beginning.
    let half_a_gzip = gzip(format!("{FORBIDS}{}", (0..999).map(|n| format!("# {n}\n")).collect::<String>()));
    let half_a_gzip = half_a_gzip[..half_a_gzip.len() / 2].to_vec();
    let drip = Step::Drip { bytes: vec![b'#'; 1_000].into(), every: Duration::from_millis(50) };
    let mut sites = vec![
        (redirecting(5, Hops::Home).await, RobotsMeaning::Obeyed, "five redirects"),
        (redirecting(6, Hops::Home).await, RobotsMeaning::Allowed, "six redirects: taken as missing"),
        (redirecting(5, Hops::Abroad).await, RobotsMeaning::Obeyed, "five redirects, each to another host"),
        (redirecting(6, Hops::Abroad).await, RobotsMeaning::Allowed, "six redirects, each to another host"),
    ];
    let cases: Vec<(Vec<Step>, RobotsMeaning, &'static str)> = vec![
        (reply(404, &[], FORBIDS), RobotsMeaning::Allowed, "404"),
        (reply(403, &[], FORBIDS), RobotsMeaning::Allowed, "403"),
        (reply(500, &[], ""), RobotsMeaning::Unreadable, "500"),
        (reply(503, &[], ""), RobotsMeaning::Unreadable, "503"),
        (reply(429, &[], ""), RobotsMeaning::Unreadable, "429"),
        (vec![Step::Hold], RobotsMeaning::Unreadable, "no answer in time"),
        (vec![head(200, &[]), drip], RobotsMeaning::Unreadable, "a body that drips"),
        (vec![Step::Reset], RobotsMeaning::Unreadable, "a reset"),
        (broken_off(200, FORBIDS), RobotsMeaning::Obeyed, "a body that breaks off in each try: the rules that came"),
        (broken_off(200, &format!("{FORBIDS}Allow: /")), RobotsMeaning::Obeyed, "cut within a line that allows more"),
        (broken_off(200, FORBIDS.trim_end()), RobotsMeaning::Obeyed, "cut within a line that forbids less"),
        (
            broken_off(200, &format!("{FORBIDS}User-agent: *\n")),
            RobotsMeaning::Obeyed,
            "cut before the rules of a group",
        ),
        (broken_off(200, "# Rules"), RobotsMeaning::Unreadable, "a body that breaks off before any rule"),
        (
            broken_off(200, "User-agent: *\nAllow: /"),
            RobotsMeaning::Unreadable,
            "a body that breaks off within its only rule",
        ),
        (broken_off(404, "not fo"), RobotsMeaning::Allowed, "404, whatever becomes of its body"),
        (reply(200, &["content-encoding: gzip"], &half_a_gzip), RobotsMeaning::Obeyed, "gzip that ends halfway"),
        (reply(200, &["content-encoding: br"], gzip(FORBIDS)), RobotsMeaning::Unreadable, "gzip that is called brotli"),
        (
            vec![head(200, &["content-encoding: gzip", "content-length: 999"]), Step::send(gzip(FORBIDS))],
            RobotsMeaning::Obeyed,
            "gzip that is whole, whatever its length should be",
        ),
        (across, RobotsMeaning::Obeyed, "a redirect to another host, whose rules apply to this one"),
        (text(format!("\u{feff}{FORBIDS}")), RobotsMeaning::Obeyed, "a byte order mark"),
        (text(utf_16(&format!("\u{feff}{FORBIDS}"), u16::to_le_bytes)), RobotsMeaning::Obeyed, "UTF-16 with its mark"),
        (text(utf_16(&format!("\u{feff}{FORBIDS}"), u16::to_be_bytes)), RobotsMeaning::Obeyed, "the other UTF-16"),
        (text(utf_16(FORBIDS, u16::to_le_bytes)), RobotsMeaning::Allowed, "UTF-16 without its mark: not guessed"),
        (text(FORBIDS.replace('\n', "\r")), RobotsMeaning::Obeyed, "CR as line end"),
        (text(FORBIDS.replace('\n', "\r\n")), RobotsMeaning::Obeyed, "CR LF as line end"),
        (text(padded(1_000, FORBIDS)), RobotsMeaning::Obeyed, "a long comment first"),
        (
            text([FORBIDS.as_bytes(), &vec![b'#'; 600 << 10]].concat()),
            RobotsMeaning::Obeyed,
            "600 KiB, the rules at the beginning",
        ),
        (
            text(padded(600 << 10, FORBIDS)),
            RobotsMeaning::Allowed,
            "600 KiB, the rules beyond the 512 KiB that are read",
        ),
        (text((0..=255).cycle().take(100_000).collect::<Vec<u8>>()), RobotsMeaning::Allowed, "binary junk"),
        (text("<!doctype html><p>not found"), RobotsMeaning::Allowed, "a page instead"),
        (html("<p>Everything is answered with this page."), RobotsMeaning::Allowed, "a page instead, by its type"),
        (reply(403, &["cf-mitigated: challenge"], ""), RobotsMeaning::Unreadable, "a challenge, by its field"),
        (reply(403, &["content-type: text/html"], CHALLENGE), RobotsMeaning::Unreadable, "a challenge, by its page"),
        (
            reply(200, &["content-type: text/html"], CHALLENGE),
            RobotsMeaning::Unreadable,
            "a challenge with a good status",
        ),
        (
            reply(503, &["content-type: text/plain"], CHALLENGE),
            RobotsMeaning::Unreadable,
            "a challenge that is called plain text",
        ),
        (
            reply(200, &["content-type: text/html", "content-encoding: gzip"], gzip(CHALLENGE)),
            RobotsMeaning::Unreadable,
            "a challenge that is compressed",
        ),
        (
            reply(202, &["x-amzn-waf-action: challenge"], ""),
            RobotsMeaning::Unreadable,
            "a challenge of AWS WAF: 202, and empty",
        ),
        (reply(202, &["sg-captcha: challenge"], ""), RobotsMeaning::Unreadable, "a challenge of SiteGround"),
        (reply(429, &["x-vercel-mitigated: challenge"], ""), RobotsMeaning::Unreadable, "a challenge of Vercel"),
        (
            vec![head(302, &["location: /login?next=%2Frobots.txt", "content-length: 0"])],
            RobotsMeaning::Unreadable,
            "a redirect to a form to log in",
        ),
        (html(LOGIN), RobotsMeaning::Unreadable, "a form to log in"),
        (reply(404, &["content-type: text/html"], LOGIN), RobotsMeaning::Allowed, "404, with a form to log in"),
    ];
    for (robots, disposition, why) in cases {
        sites.push((with_robots(robots).await, disposition, why));
    }
    let witness = HostileSite::beside_good_pages(Vec::new()).await;
    let pages = sites.iter().flat_map(|(site, ..)| [site.url("/page"), site.url("/open")]);
    let seeds: Vec<String> = std::iter::once(witness.url("/")).chain(pages).collect();
    let crawled = Crawled::once(&definition(&seeds, tight)).await;
    let outcome = |url: &str| crawled.row(url).outcome;
    for (site, disposition, why) in &sites {
        let expected: [Outcome; 2] = match disposition {
            RobotsMeaning::Obeyed => [BlockedByRobotsTxt, FileIngested],
            RobotsMeaning::Allowed => [FileIngested; 2],
            RobotsMeaning::Unreadable if *why == "no answer in time" => [RequestTimeout; 2],
            RobotsMeaning::Unreadable => [OriginGivenUp; 2],
        };
        let found = [outcome(&site.url("/page")), outcome(&site.url("/open"))];
        assert_eq!(found, expected, "{why}: /page and /open: {:?}", crawled.row(&site.url("/page")).detail);
        let asked = site.targets();
        assert_eq!(asked[0], "/robots.txt", "{why}: rules first");
        for (target, expected) in ["/page", "/open"].into_iter().zip(expected) {
            assert_eq!(asked.contains(&target.to_owned()), expected == FileIngested, "{why}: {asked:?}");
        }
    }
    assert_eq!(crawled.leftovers(), [("robots_unreadable", 0)]);
    assert_eq!(crawled.row("/good/after").outcome, FileIngested, "the rest of the crawl");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_robots_txt_behind_a_challenge_is_asked_for_again_and_obeyed_once_it_can_be_read() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" if asked.earlier == 0 => reply(403, &["content-type: text/html"], CHALLENGE),
        "/robots.txt" => text(FORBIDS),
        _ => html("page"),
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.url("/page"), site.url("/open")], tight)).await;
    assert_eq!(crawled.row("/page").outcome, BlockedByRobotsTxt, "its rules count");
    assert_eq!(crawled.row("/open").outcome, FileIngested, "and no more than they");
    assert_eq!(site.targets(), ["/robots.txt", "/robots.txt", "/open"], "nothing before it was read");
    let times: Vec<_> = site.log().iter().map(|asked| asked.at).collect();
    assert!(times[1].duration_since(times[0]) >= Duration::from_millis(400), "not at once: {times:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_of_five_hundred_wildcards_costs_no_time_to_speak_of() {
    let rule = format!("User-agent: *\nDisallow: /{}$\n", "*a".repeat(500));
    let nasty = format!("/{}b", "a".repeat(1_500));
    let site = {
        let (rule, seed) = (rule.clone(), dragline_testkit::hostile::links((0..200).map(|n| format!("{nasty}{n}"))));
        HostileSite::start(move |asked| match asked.target.as_str() {
            "/robots.txt" => text(&rule),
            "/" => html(&seed),
            _ => html("page"),
        })
        .await
    };
    let definition = definition(&[site.url("/")], tight);
    let crawl = Crawled::once(&definition);
    let crawled =
        tokio::time::timeout(Duration::from_secs(60), crawl).await.expect("matching takes polynomial time at most");
    assert_eq!(crawled.progress.count(FileIngested), 201, "none of them ends with the letter in the rule");
}
