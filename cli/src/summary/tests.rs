use dragline_local::query::{LogRow, NotCrawled, OutcomeCount, Slow};

use super::*;
use crate::terminal::Colour;

/// A final visit.
pub(crate) fn visit(url: &str, outcome: Outcome) -> LogRow {
    LogRow {
        crawl: "docs".to_owned(),
        iteration: 1,
        url: url.to_owned(),
        depth: 0,
        via: None,
        crawl_type: "queued".to_owned(),
        outcome: outcome.code(),
        outcome_name: outcome.name().to_owned(),
        r#final: true,
        tries: 1,
        at: String::new(),
        status: None,
        duration_ms: None,
        first_byte_ms: None,
        remote: None,
        detail: None,
        content_type: None,
        body_bytes: None,
        truncated: None,
        redirects_to: None,
        object: None,
        offset: None,
        length: None,
        agent: String::new(),
    }
}

fn counted(outcome: Outcome, urls: u64) -> OutcomeCount {
    let name = outcome.name().to_owned();
    OutcomeCount { outcome: outcome.code(), name, class: String::new(), urls }
}

fn summary(status: IterationStatus, data: &str, log: query::Summary) -> Summary {
    let closed_at = (status == IterationStatus::Closed).then(|| "2026-03-01T12:01:20.5Z".parse().unwrap());
    Summary {
        crawl: "example.org".to_owned(),
        iteration: 2,
        status,
        started_at: "2026-03-01T12:00:00Z".parse().unwrap(),
        closed_at,
        place: Place::Data(data.into()),
        waiting: 0,
        certificates: Certificates::Checked,
        stuck: 0,
        causes: Vec::new(),
        log,
    }
}

#[test]
fn an_iteration_that_is_over() {
    let log = query::Summary {
        outcomes: vec![
            counted(Outcome::FileIngested, 1_200),
            counted(Outcome::FileNotFound, 30),
            counted(Outcome::BlockedByRobotsTxt, 12),
            counted(Outcome::ConnectionFailed, 3),
        ],
        requests: 1_240,
        pages: 1_230,
        body_bytes: 47_815_065,
        slowest: vec![
            Slow { url: "https://example.org/search".to_owned(), duration_ms: 12_300 },
            Slow { url: "https://example.org/a\u{1b}[2J".to_owned(), duration_ms: 850 },
        ],
        not_crawled: vec![NotCrawled {
            outcome: Outcome::BlockedByRobotsTxt.code(),
            name: "blocked_by_robots_txt".to_owned(),
            detail: Some("robots.txt line 2: `Disallow: /private/`".to_owned()),
            urls: 12,
            example: "https://example.org/private/".to_owned(),
        }],
        leftovers: vec![("budget_exhausted".to_owned(), 4_000)],
        links_beyond_budget: 25_000,
        urls_stripped: 340,
    };
    let summary = Summary { stuck: 1, ..summary(IterationStatus::Closed, "dragline-data", log) };
    insta::assert_snapshot!("over", text(&summary, Some("dragline crawl"), Colour::Off));
    insta::assert_json_snapshot!("over_json", summary);
}

#[test]
fn an_iteration_that_is_not_finished() {
    let log = query::Summary { requests: 1, pages: 1, body_bytes: 1_024, ..query::Summary::default() };
    let summary = Summary { waiting: 7, ..summary(IterationStatus::Open, "/srv/my crawl", log) };
    insta::assert_snapshot!("not_finished", text(&summary, Some("dragline crawl --data '/srv/my crawl'"), Colour::Off));
}

#[test]
fn an_iteration_that_got_nothing() {
    let detail = "certificate not trusted: invalid peer certificate: UnknownIssuer".to_owned();
    let log = query::Summary { leftovers: vec![("robots_unreadable".to_owned(), 1)], ..query::Summary::default() };
    let mut causes = Causes::default();
    causes.add_left(query::OriginLeft {
        origin: "https://localhost:8443".to_owned(),
        reason: "robots_unreadable".to_owned(),
        urls: 1,
        robots_error: Some(detail),
    });
    let summary = Summary {
        certificates: Certificates::NotChecked,
        causes: causes.counted(),
        ..summary(IterationStatus::Closed, "dragline-data", log)
    };
    assert!(!summary.has_got_something());
    insta::assert_snapshot!("nothing", text(&summary, None, Colour::Off));
    insta::assert_json_snapshot!("nothing_json", summary);
}

#[test]
fn all_is_well_unless_something_failed() {
    let outcome = |outcome| query::Summary { outcomes: vec![counted(outcome, 1)], ..query::Summary::default() };
    let left = |reason: LeftoverReason| query::Summary {
        leftovers: vec![(reason.name().to_owned(), 1)],
        ..query::Summary::default()
    };
    for (log, expected, why) in [
        (query::Summary::default(), true, "nothing happened"),
        (outcome(Outcome::FileIngested), true, "a page"),
        (outcome(Outcome::FileNotFound), true, "the site says that there is nothing"),
        (outcome(Outcome::BlockedByRobotsTxt), true, "the site does not want it"),
        (outcome(Outcome::ServerInternalError), false, "the site failed"),
        (outcome(Outcome::RequestTimeout), false, "it did not answer"),
        (outcome(Outcome::BudgetExhausted), true, "as the user wished"),
        (left(LeftoverReason::BudgetExhausted), true, "as the user wished"),
        (left(LeftoverReason::OriginBudgetExhausted), true, "as the user wished"),
        (left(LeftoverReason::Stopped), true, "as the user wished"),
        (left(LeftoverReason::OriginGivenUp), false, "the site failed too often"),
        (left(LeftoverReason::RobotsUnreadable), false, "its robots.txt cannot be read"),
        (left(LeftoverReason::Stuck), false, "a defect"),
        (left(LeftoverReason::SegmentUnreadable), false, "its captures are lost"),
    ] {
        assert_eq!(summary(IterationStatus::Closed, "d", log).is_all_well(), expected, "{why}");
    }
    let stuck = Summary { stuck: 1, ..summary(IterationStatus::Closed, "d", query::Summary::default()) };
    assert!(!stuck.is_all_well(), "a page that broke the parser");
}
