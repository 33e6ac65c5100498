//! Servers that ask for a pause, in every form.

use std::time::Duration;

use dragline_domain::outcome::Outcome::{FileIngested, RateLimited, ServerUnavailable};
use dragline_testkit::hostile::{HostileSite, html, links, reply};
use dragline_testkit::whole_crawls::{Crawled, definition};
use jiff::Timestamp;

use crate::support::tight;

/// A server that asks for a pause on the first request for `/busy` and answers the next.
async fn busy_once(status: u16, retry_after: impl Fn() -> String + Send + Sync + 'static) -> HostileSite {
    HostileSite::start(move |asked| match (asked.target.as_str(), asked.earlier) {
        ("/robots.txt", _) => reply(404, &[], ""),
        ("/", _) => html(links(["/busy"])),
        ("/busy", 0) => reply(status, &[&format!("retry-after: {}", retry_after())], ""),
        _ => html("at last"),
    })
    .await
}

/// A date in whole seconds, at least `seconds` away.
#[expect(clippy::disallowed_methods, reason = "the date is by the server's own clock")]
fn date_in(seconds: i64) -> String {
    let at = Timestamp::from_second(Timestamp::now().as_second() + seconds + 1).unwrap();
    at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// The same date with the wrong day of the week.
fn on_another_day(date: &str) -> String {
    let day = if date.starts_with("Mon") { "Tue" } else { "Mon" };
    format!("{day}{}", &date[3..])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_that_is_asked_for_is_kept_and_nonsense_is_no_wait() {
    let second = Duration::from_secs(1);
    let cases = [
        (busy_once(429, || "3".to_owned()).await, RateLimited, 3 * second, "429, seconds"),
        (busy_once(503, || "3".to_owned()).await, ServerUnavailable, 3 * second, "503, seconds"),
        (busy_once(429, || date_in(3)).await, RateLimited, 3 * second, "429, a date"),
        (busy_once(503, || date_in(3)).await, ServerUnavailable, 3 * second, "503, a date"),
        (busy_once(429, || "Mon, 01 Jan 2001 00:00:00 GMT".to_owned()).await, RateLimited, second, "a date long past"),
        (busy_once(429, || "soon".to_owned()).await, RateLimited, second, "not a time"),
        (busy_once(429, || "-5".to_owned()).await, RateLimited, second, "a negative time"),
        (busy_once(429, || "3.5".to_owned()).await, RateLimited, 4 * second, "a fraction: the longer reading"),
        (
            busy_once(429, || date_in(3).replace("GMT", "UTC")).await,
            RateLimited,
            3 * second,
            "another name of the zone",
        ),
        (busy_once(429, || date_in(3).replace("GMT", "+0000")).await, RateLimited, 3 * second, "the zone as a number"),
        (busy_once(429, || on_another_day(&date_in(3))).await, RateLimited, 3 * second, "the wrong day of the week"),
        (busy_once(430, || "3".to_owned()).await, RateLimited, 3 * second, "430, as Shopify says it"),
        (busy_once(420, || "3".to_owned()).await, RateLimited, 3 * second, "420"),
        (busy_once(403, || "3".to_owned()).await, RateLimited, 3 * second, "403 that names a time is no ban"),
        (busy_once(413, || "3".to_owned()).await, RateLimited, 3 * second, "413 that names a time"),
    ];
    let seeds: Vec<String> = cases.iter().map(|(site, ..)| site.url("/")).collect();
    let crawled = Crawled::once(&definition(&seeds, tight)).await;
    for (n, (site, first, wait, why)) in cases.iter().enumerate() {
        let url = if n == 0 { "/busy".to_owned() } else { site.url("/busy") };
        let log = site.log();
        let asked: Vec<_> = log.iter().filter(|asked| asked.target == "/busy").collect();
        assert_eq!(asked.len(), 2, "{why}");
        assert!(asked[1].at - asked[0].at >= *wait, "{why}: {:?}", asked[1].at - asked[0].at);
        let tries: Vec<_> = crawled.log.iter().filter(|row| row.url == url).map(|row| row.outcome).collect();
        assert_eq!(tries, [*first, FileIngested], "{why}");
    }
}

/// A server that asks for an impossible wait for `/busy` or robots.txt.
async fn always_busy(target: &'static str, retry_after: &'static str) -> HostileSite {
    HostileSite::start(move |asked| match asked.target.as_str() {
        asked if asked == target => reply(429, &[&format!("retry-after: {retry_after}")], ""),
        "/robots.txt" => reply(404, &[], ""),
        _ => html("good"),
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_without_end_ends_with_the_time_of_the_crawl() {
    let mut sites = Vec::new();
    for retry_after in
        ["1000000000000", "18446744073709551616", "-1000000000000", "Fri, 31 Dec 9999 23:59:59 GMT", "1e12"]
    {
        for target in ["/busy", "/robots.txt"] {
            sites.push((always_busy(target, retry_after).await, target, retry_after));
        }
    }
    let seeds = sites.iter().flat_map(|(site, ..)| ["/good", "/busy"].map(|target| site.url(target)));
    let definition = definition(&seeds.collect::<Vec<_>>(), |draft| {
        tight(draft);
        draft.budget.duration = Some(Duration::from_secs(20));
    });
    let crawl = tokio::time::timeout(Duration::from_secs(120), Crawled::once(&definition));
    let crawled = crawl.await.expect("the crawl ends by its own time limit");
    for (site, target, retry_after) in &sites {
        let asked = site.targets().iter().filter(|asked| asked == target).count();
        let is_long = !matches!(*retry_after, "-1000000000000" | "1e12");
        let tries = if is_long && *target == "/busy" { 1..=1 } else { 1..=6 };
        assert!(tries.contains(&asked), "{target}, {retry_after}: requested {asked} times");
        let is_got = site.targets().contains(&"/good".to_owned());
        assert_eq!(is_got, *target == "/busy", "{target}, {retry_after}: the other page");
    }
    let reasons: Vec<_> = crawled.leftovers().into_iter().map(|(reason, _)| reason).collect();
    assert!(reasons.contains(&"stopped"), "{reasons:?}");
    assert_eq!(crawled.progress.origins_open, 0);
}
