//! Failing servers: what is retried, when, and when an origin is given up.

use std::time::Duration;

use dragline_domain::capture::CrawlType;
use dragline_domain::outcome::Outcome;
use dragline_testkit::site::{GeneratedSite, Site};
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// Finds the request for a target after this many earlier ones.
fn nth<'l>(log: &'l [Asked], target: &str, earlier: usize) -> &'l Asked {
    log.iter().find(|asked| asked.target == target && asked.earlier == earlier).unwrap()
}

/// Answers one path by a function and all others with a page; has no robots.txt.
async fn with(path: &'static str, script: impl Fn(&Asked) -> Act + Send + Sync + 'static) -> ScriptedSite {
    ScriptedSite::start(move |asked| match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        target if target == path => script(asked),
        _ => page("fine"),
    })
    .await
}

/// One crawl of all origins, as the waits between tries are long and can overlap.
#[tokio::test]
async fn what_may_be_a_fluke_is_tried_again() {
    let limited = with("/busy", |asked| match asked.earlier {
        0 => answer(429, &["retry-after: 1"], ""),
        _ => page("at last"),
    })
    .await;
    let closed = with("/busy", |asked| match asked.earlier {
        // Whole seconds: between one and two from now.
        0 => answer(503, &[&format!("retry-after: {}", http_date(whole_seconds_later(asked, 2)))], ""),
        _ => page("at last"),
    })
    .await;
    let flaky = with("/flaky", |asked| if asked.earlier == 0 { Act::HangUp } else { page("at last") }).await;
    let broken = with("/broken", |_| Act::HangUp).await;
    let seeds = [
        limited.url("/busy"),
        limited.url("/next"),
        closed.url("/busy"),
        closed.url("/next"),
        flaky.url("/flaky"),
        broken.url("/broken"),
    ];
    let crawled = Crawled::once(&definition(&seeds, |draft| draft.politeness.concurrency = 1)).await;
    crawled.assert_outcomes(&[
        ("/busy", Outcome::FileIngested, "the second try was in time"),
        ("/next", Outcome::FileIngested, "delayed, but fine"),
        (&seeds[2], Outcome::FileIngested, "the second try was in time"),
        (&seeds[3], Outcome::FileIngested, "delayed, but fine"),
        (&seeds[4], Outcome::FileIngested, "the second connection held"),
        (&seeds[5], Outcome::ConnectionFailed, "there are only three tries"),
    ]);

    let log = limited.log();
    let (refused, next) = (nth(&log, "/busy", 0), nth(&log, "/next", 0));
    assert!(next.at - refused.at >= Duration::from_secs(1), "the origin is left alone as long as it asks");
    let log = closed.log();
    let (refused, next) = (nth(&log, "/busy", 0), nth(&log, "/next", 0));
    assert!(next.at_wall >= whole_seconds_later(refused, 2), "until the date that it names");

    let tries = |url: &str| -> Vec<_> {
        let rows = crawled.log.iter().filter(|row| row.url == url);
        rows.map(|row| (row.tries, row.r#final, row.crawl_type, row.outcome)).collect()
    };
    let (failed, got) = (Outcome::ConnectionFailed, Outcome::FileIngested);
    assert_eq!(tries("/busy"), [(1, false, CrawlType::Queued, Outcome::RateLimited), (2, true, CrawlType::Retry, got)]);
    assert_eq!(tries(&seeds[4]), [(1, false, CrawlType::Queued, failed), (2, true, CrawlType::Retry, got)]);
    assert_eq!(
        tries(&seeds[5]),
        [
            (1, false, CrawlType::Queued, failed),
            (2, false, CrawlType::Retry, failed),
            (3, true, CrawlType::Retry, failed)
        ]
    );
    let log = broken.log();
    let tries = [0, 1, 2].map(|earlier| nth(&log, "/broken", earlier).at);
    let waits = (tries[1] - tries[0], tries[2] - tries[1]);
    assert!(waits.0 >= Duration::from_secs(2) && waits.1 >= Duration::from_secs(8), "{waits:?}");
}

fn whole_seconds_later(asked: &Asked, seconds: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(asked.at_wall.as_second() + seconds).unwrap()
}

fn http_date(at: jiff::Timestamp) -> String {
    at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[tokio::test]
async fn an_origin_that_only_fails_is_given_up() {
    let bad = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        _ => Act::HangUp,
    })
    .await;
    let good = Site::builder()
        .generated(GeneratedSite { pages: 20, links_per_page: 5, bytes_per_page: 1_000, seed: 1 })
        .start()
        .await
        .unwrap();
    let mut seeds: Vec<_> = (0..20).map(|n| bad.url(&format!("/{n}"))).collect();
    seeds.push(good.url());
    let crawled = Crawled::once(&definition(&seeds, |draft| draft.politeness.concurrency = 1)).await;
    let robots = bad.log().iter().filter(|asked| asked.target == "/robots.txt").count();
    assert_eq!(robots, 6, "it is there, as its robots.txt says five times more");
    assert_eq!(bad.targets().len(), 30, "five failures each time are enough");
    assert_eq!(crawled.leftovers(), [("origin_given_up", 0)], "each was to be tried again, and ends instead");
    for row in (0..20).map(|n| crawled.row(&format!("/{n}"))) {
        let ended = (row.outcome, row.crawl_type, row.tries > 0, row.status);
        assert_eq!(ended, (Outcome::OriginGivenUp, CrawlType::Retry, true, None), "{}", row.url);
        assert!(row.detail.is_some(), "it says how the origin failed");
    }
    assert_eq!(crawled.progress.count(Outcome::FileIngested), 20, "the other origin is not affected");
}

#[tokio::test]
async fn answers_give_patience_back() {
    let site = ScriptedSite::start(|asked| match asked.target.trim_start_matches('/').parse::<u64>() {
        Ok(n) if n % 2 == 1 => Act::HangUp,
        Ok(_) => page("fine"),
        Err(_) => answer(404, &[], ""),
    })
    .await;
    let seeds: Vec<_> = (0..16).map(|n| site.url(&format!("/{n}"))).collect();
    let crawled = Crawled::once(&definition(&seeds, |draft| {
        draft.politeness.concurrency = 1;
        draft.budget.pages = Some(16);
    }))
    .await;
    assert_eq!(crawled.progress.count(Outcome::FileIngested), 8, "every second one failed, but none was skipped");
    assert_eq!(crawled.leftovers(), [("budget_exhausted", 8)], "the budget ended before the second tries");
}

#[tokio::test]
async fn statuses_that_pass_are_asked_for_again() {
    const STATUSES: [(u16, Outcome); 8] = [
        (408, Outcome::RequestTimeout),
        (421, Outcome::AskedToTryAgain),
        (425, Outcome::AskedToTryAgain),
        (502, Outcome::ServerUnavailable),
        (503, Outcome::ServerUnavailable),
        (522, Outcome::ServerUnavailable),
        (524, Outcome::ServerUnavailable),
        (599, Outcome::ServerUnavailable),
    ];
    let mut sites = Vec::new();
    for (status, _) in STATUSES {
        sites.push(
            with("/busy", move |asked| match asked.earlier {
                0 => answer(status, &[], ""),
                _ => page("at last"),
            })
            .await,
        );
    }
    let seeds: Vec<String> = sites.iter().map(|site| site.url("/busy")).collect();
    let crawled = Crawled::once(&definition(&seeds, |_| {})).await;
    for (n, (status, first)) in STATUSES.into_iter().enumerate() {
        let url = if n == 0 { "/busy" } else { seeds[n].as_str() };
        let tries: Vec<_> =
            crawled.log.iter().filter(|row| row.url == url).map(|row| (row.status, row.outcome)).collect();
        let expected = [(Some(status), first), (Some(200), Outcome::FileIngested)];
        assert_eq!(tries, expected, "{status}");
    }
}
