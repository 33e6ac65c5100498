//! The second iteration: what is requested again and how, and how answers are handled.

use std::collections::BTreeSet;
use std::time::Duration;

use dragline_domain::change::ChangeKind;
use dragline_domain::definition::{Condition, DoNotCrawl, RecrawlRule, RecrawlWord, TextTest};
use dragline_domain::outcome::Outcome;
use dragline_formats::warc::{RecordType, RevisitProfile};
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::content::gzip;
use super::scripted::{Act, Asked, ScriptedSite, answer, page};

const DAY: Duration = Duration::from_hours(24);
const CHANGED: &str = "last-modified: Sun, 06 Nov 1994 08:49:37 GMT";

fn site(asked: &Asked) -> Act {
    let is_again = asked.earlier > 0;
    match asked.target.as_str() {
        "/" => page(
            "<a href=/tagged>1</a><a href=/dated>2</a><a href=/same>3</a><a href=/packed>4</a><a href=/news>5</a><a href=/doomed>6</a>",
        ),
        "/tagged" if asked.field("if-none-match") == Some("\"v1\"") => answer(304, &["etag: \"v1\""], ""),
        "/tagged" => answer(200, &["content-type: text/html", "etag: \"v1\""], "tagged"),
        "/dated" if asked.field("if-modified-since").is_some_and(|date| CHANGED.ends_with(date)) => {
            answer(304, &[], "")
        }
        "/dated" => answer(200, &["content-type: text/html", CHANGED], "dated"),
        "/same" => page("same"),
        "/packed" if is_again => answer(200, &["content-type: text/html", "content-encoding: gzip"], gzip(b"packed")),
        "/packed" => page("packed"),
        "/news" if is_again => page("fresh <a href=/late>late</a>"),
        "/news" => page("stale"),
        "/doomed" if !is_again => page("doomed"),
        "/late" => page("late"),
        _ => answer(404, &[], ""),
    }
}

#[tokio::test]
async fn a_second_visit_tells_what_changed() {
    let site = ScriptedSite::start(site).await;
    let definition = definition(&[site.url("/")], |_| {});
    let first = Crawled::once(&definition).await;
    assert_eq!(first.progress.count(Outcome::FileIngested), 7);
    let received_at_first = first.row("/same").body_bytes;
    let second = first.again(&definition).await;
    second.assert_outcomes(&[
        ("/", Outcome::FileDidNotChange, "no validators, and the same body"),
        ("/tagged", Outcome::FileDidNotChange, "304 by its tag"),
        ("/dated", Outcome::FileDidNotChange, "304 by its date"),
        ("/same", Outcome::FileDidNotChange, "no validators, and the same body"),
        ("/packed", Outcome::FileDidNotChange, "the same body in other bytes"),
        ("/news", Outcome::FileIngested, "another body"),
        ("/doomed", Outcome::FileNotFound, "gone since"),
        ("/late", Outcome::FileIngested, "a new link of a changed page"),
    ]);
    for (path, kind, profile, status) in [
        ("/tagged", RecordType::Revisit, Some(RevisitProfile::ServerNotModified), 304),
        ("/dated", RecordType::Revisit, Some(RevisitProfile::ServerNotModified), 304),
        ("/same", RecordType::Revisit, Some(RevisitProfile::IdenticalPayload), 200),
        // No earlier record has these bytes.
        ("/packed", RecordType::Response, None, 200),
        ("/news", RecordType::Response, None, 200),
    ] {
        let record = second.record(path);
        assert_eq!((&record.record_type, record.profile()), (&kind, profile), "{path}");
        assert_eq!(second.row(path).status, Some(status), "{path}");
        if kind == RecordType::Revisit {
            assert_eq!(record.refers_to_target_uri(), Some(site.url(path).as_str()), "{path}");
            assert!(record.refers_to_date().is_some() && record.payload_digest().is_some(), "{path}");
        }
    }
    assert_eq!(second.row("/same").body_bytes, received_at_first, "it was received, though not stored again");
    assert_eq!(second.row("/tagged").body_bytes, Some(0), "a 304 has no body");
    assert!(second.text("/news").contains("fresh"));
    assert_eq!(second.row("/late").via.as_deref(), Some("/news"));
    let third = second.again(&definition).await;
    assert_eq!(third.row("/doomed").outcome, Outcome::FileNotFound, "requested again, in case it is back");
    let last = site.log().into_iter().rfind(|asked| asked.target == "/tagged").unwrap();
    assert_eq!(last.field("if-none-match"), Some("\"v1\""), "what a 304 confirmed is sent again");
}

#[tokio::test]
async fn segments_of_a_second_visit_are_as_large_as_those_of_the_first() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/" => page(&(1..=40).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>()),
        "/robots.txt" => answer(404, &[], ""),
        _ => page("a page"),
    })
    .await;
    let definition = definition(&[site.url("/")], |_| {});
    let segments = |crawled: &Crawled| {
        let objects: BTreeSet<_> =
            crawled.log.iter().map(|row| row.record.clone().map(|record| record.object)).collect();
        (crawled.log.len(), objects.len())
    };
    let first = Crawled::once(&definition).await;
    assert_eq!(segments(&first), (41, 2), "the first page, and all that it links to");
    let second = first.again(&definition).await;
    assert_eq!(segments(&second), (41, 2), "the seed, and all that is known");
}

#[tokio::test]
async fn depth_is_that_of_this_iteration() {
    // The path to /news was long, and is short now. By the long path its link would be too deep.
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/" if asked.earlier > 0 => page("<a href=/1>1</a><a href=/news>news</a>"),
        "/" => page("<a href=/1>1</a>"),
        "/1" => page("<a href=/2>2</a>"),
        "/2" => page("<a href=/news>news</a>"),
        "/news" if asked.earlier > 0 => page("fresh <a href=/article>article</a>"),
        "/news" => page("<a href=/article>article</a>"),
        "/robots.txt" => answer(404, &[], ""),
        _ => page("a page"),
    })
    .await;
    let definition = definition(&[site.url("/")], |draft| draft.scope.max_depth = Some(3));
    let first = Crawled::once(&definition).await;
    assert_eq!((first.row("/news").depth, first.links_of("/news")), (3, vec![("/article", "a", "too_deep")]));
    let second = first.again(&definition).await;
    let news = second.row("/news");
    assert_eq!((news.depth, news.via.as_deref()), (1, Some("/")), "ahead of what was known about it");
    assert_eq!(second.row("/article").depth, 2);
}

#[tokio::test]
async fn a_stricter_definition_holds_for_what_is_known() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/" => page("<a href=/keep>1</a><a href=/drop>2</a><a href=/ban>3</a>"),
        "/robots.txt" => answer(404, &[], ""),
        _ => page("a page"),
    })
    .await;
    let first = Crawled::once(&definition(&[site.url("/")], |_| {})).await;
    assert_eq!(first.progress.count(Outcome::FileIngested), 4);
    let before = site.targets().len();
    let stricter = definition(&[site.url("/")], |draft| {
        draft.scope.exclude.push("/drop".parse().unwrap());
        let when = Condition::Path(TextTest::Equals("/ban".to_owned()));
        draft.do_not_crawl.push(DoNotCrawl { when, reason: "asked not to".to_owned() });
    });
    let second = first.again(&stricter).await;
    let mut asked = site.targets().split_off(before);
    asked.sort();
    assert_eq!(asked, ["/", "/keep"], "URLs that left the crawl are not requested");
    for (path, rule) in [("/drop", "scope.exclude entry 1"), ("/ban", "do_not_crawl entry 1")] {
        let row = second.row(path);
        assert_eq!(row.outcome, Outcome::BlockedUrlByLocalPolicy, "{path}");
        assert!(row.detail.as_deref().is_some_and(|detail| detail.contains(rule)), "{path}: {:?}", row.detail);
        assert_eq!(
            row.change.as_ref().map(|change| change.kind),
            Some(ChangeKind::OutOfScope),
            "{path}: nobody looked whether it is gone"
        );
    }
}

#[tokio::test]
async fn a_policy_decides_what_is_requested_again() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/" => {
            page("<a href=/quiet>1</a><a href=/live>2</a><a href=/gone>3</a><a href=/broken>4</a><a href=/hidden>5</a>")
        }
        "/broken" => answer(500, &[], ""),
        "/gone" | "/robots.txt" => answer(404, &[], ""),
        "/hidden" => answer(200, &["content-type: text/html", "x-robots-tag: noindex"], "not for search"),
        _ => page("a page"),
    })
    .await;
    let monthly = definition(&[site.url("/")], |draft| {
        draft.recrawl.interval = Some(30 * DAY);
        draft.fetch.retries = 0;
        let when = Condition::Path(TextTest::Equals("/live".to_owned()));
        let policy = Some(RecrawlWord::Always);
        draft.recrawl.rules.push(RecrawlRule { when, policy, interval: None, min: None, max: None });
    });
    let first = Crawled::once(&monthly).await;
    let before = site.targets().len();
    first.again(&monthly).await;
    let mut asked = site.targets().split_off(before);
    asked.sort();
    // The seed, one whose rule says so, and one that failed once. The others are not due for a
    // month, whether they are there, gone, or not to be ingested.
    assert_eq!(asked, ["/", "/broken", "/live"]);
}
