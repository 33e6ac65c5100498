//! robots.txt: what it allows, how fast, and what happens when it cannot be read.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_domain::outcome::Outcome;
use dragline_formats::warc::{ExtensionName, RecordType, StoredRecord, parse_http_response};
use dragline_testkit::site::Site;
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::replies::{html, links, redirect, reply};

/// The path, status and body of each answer in the archive that is no visit, and how many requests
/// such answers have.
fn archived_rules(crawled: &Crawled) -> (Vec<(String, u16, String)>, usize) {
    let records: Vec<_> = crawled.every_record();
    let is_visit = |record: &&StoredRecord| record.extension(ExtensionName::VISIT).is_none();
    let answers = records.iter().filter(|record| record.record_type == RecordType::Response).filter(is_visit);
    let (mut read, mut requests) = (Vec::new(), 0);
    for answer in answers {
        let response = parse_http_response(&answer.block).unwrap();
        let path = answer.target_uri().unwrap().splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap();
        read.push((path, response.status, String::from_utf8_lossy(response.body).into_owned()));
        let of_answer = |record: &&StoredRecord| {
            record.record_type == RecordType::Request && record.target_uri() == answer.target_uri()
        };
        requests += records.iter().filter(of_answer).count();
    }
    (read, requests)
}

const RULES: &str = "# House rules\nUser-agent: otherbot\nDisallow: /\n\nUser-agent: dragline\nDisallow: /private\nAllow: /private/open\n";

#[tokio::test]
async fn what_is_disallowed_is_never_asked_for() {
    let seed = html(&links(["/private/a", "/private/open", "/public"]));
    let rules = reply(200, &[("content-type", "text/plain")], RULES);
    let rules_of = BTreeMap::from([
        ("plain", (vec![("/robots.txt".to_owned(), 200, RULES.to_owned())], 1)),
        (
            "redirected",
            (vec![("/robots.txt".to_owned(), 301, String::new()), ("/rules".to_owned(), 200, RULES.to_owned())], 2),
        ),
    ]);
    for (name, builder) in [
        ("plain", Site::builder().robots(RULES)),
        ("redirected", Site::builder().reply("/robots.txt", redirect(301, "/rules")).reply("/rules", rules)),
    ] {
        let site = builder.reply("/", seed.clone()).start().await.unwrap();
        let crawled = Crawled::once(&definition(&[site.url()], |_| {})).await;
        crawled.assert_outcomes(&[
            ("/", Outcome::FileIngested, "allowed"),
            ("/private/a", Outcome::BlockedByRobotsTxt, "disallowed"),
            ("/private/open", Outcome::FileNotFound, "allowed by the longer rule"),
            ("/public", Outcome::FileNotFound, "allowed"),
        ]);
        let row = crawled.row("/private/a");
        let detail = row.detail.as_deref().unwrap_or_default();
        assert!(detail.contains("Disallow: /private") && detail.contains('6'), "{name}: rule and line: {detail}");
        assert_eq!((row.tries, row.duration_ms, &row.record), (0, None, &None), "{name}: nothing was sent");
        let asked: Vec<_> = site.log().into_iter().map(|access| access.target).collect();
        assert!(!asked.contains(&"/private/a".to_owned()), "{name}: {asked:?}");
        assert!(asked[0] == "/robots.txt", "{name}: rules first: {asked:?}");
        assert_eq!(asked.iter().filter(|target| *target == "/robots.txt").count(), 1, "{name}: read once");
        assert_eq!(archived_rules(&crawled), rules_of[name], "{name}");
    }
}

#[tokio::test]
async fn answers_of_the_400s_are_no_rules() {
    for status in [401, 403, 404, 410] {
        let site = Site::builder()
            .reply("/robots.txt", reply(status, &[], "User-agent: *\nDisallow: /\n"))
            .reply("/", html("home"))
            .start()
            .await
            .unwrap();
        let crawled = Crawled::once(&definition(&[site.url()], |_| {})).await;
        assert_eq!(crawled.progress.count(Outcome::FileIngested), 1, "{status}");
    }
}

/// Takes 7.5 seconds because of the waits between the five tries.
#[tokio::test]
async fn an_origin_whose_rules_cannot_be_read_is_left_alone() {
    let site =
        Site::builder().reply("/robots.txt", reply(500, &[], "")).reply("/", html("home")).start().await.unwrap();
    let url = site.url();
    let crawled = Crawled::once(&definition(&[url.clone(), format!("{url}b")], |_| {})).await;
    crawled.assert_outcomes(&[
        ("/", Outcome::OriginGivenUp, "it was not requested"),
        ("/b", Outcome::OriginGivenUp, "nor was this one"),
    ]);
    let row = crawled.row("/");
    assert_eq!((row.tries, row.detail.as_deref()), (0, Some("robots.txt answered 500")));
    assert_eq!(crawled.leftovers(), [("robots_unreadable", 0)], "what is left over has no outcome");
    let log = site.log();
    assert!(log.iter().all(|access| access.target == "/robots.txt"), "{log:?}");
    let waits: Vec<_> = log.windows(2).map(|pair| pair[1].arrived - pair[0].arrived).collect();
    let least = [500, 1_000, 2_000, 4_000].map(Duration::from_millis);
    assert!(waits.len() == 4 && waits.iter().zip(least).all(|(wait, least)| *wait >= least), "{waits:?}");
}

#[tokio::test]
async fn the_crawl_delay_is_kept_by_the_servers_clock() {
    let site = Site::builder()
        .robots("User-agent: *\nCrawl-delay: 0.2\n")
        .reply("/", html(&links(["/1", "/2", "/3", "/4"])))
        .start()
        .await
        .unwrap();
    Crawled::once(&definition(&[site.url()], |_| {})).await;
    let log = site.log();
    let waits: Vec<_> = log.windows(2).map(|pair| pair[1].arrived - pair[0].arrived).collect();
    assert_eq!(waits.len(), 5, "robots.txt, the seed and its links");
    // A request may be slow to reach the server while the next one is fast.
    assert!(waits.iter().all(|wait| *wait >= Duration::from_millis(180)), "{waits:?}");
    assert!(waits.iter().sum::<Duration>() >= Duration::from_millis(980), "{waits:?}");
}
