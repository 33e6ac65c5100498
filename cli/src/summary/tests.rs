use dragline_domain::change::ChangeKind;
use dragline_domain::doubt::Doubt;
use dragline_domain::frontier::{LeftoverReason, Task};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_domain::refusal::Refusal;
use dragline_ports::reader::LeftoverRow;
use dragline_report::{CanonicalsDoubted, Causes, NotCrawled, OutcomeCount, ScriptedPages, Slow};

use super::*;
use crate::location::Directory;
use crate::terminal::Colour;

fn counted(outcome: Outcome, urls: u64) -> OutcomeCount {
    let name = outcome.name().to_owned();
    OutcomeCount { outcome: outcome.code(), name, class: outcome.class().name().to_owned(), urls }
}

fn summary(status: IterationStatus, data: &str, figures: Figures) -> Summary {
    let closed_at = (status == IterationStatus::Closed).then(|| "2026-03-01T12:01:20.5Z".parse().unwrap());
    Summary {
        standing: IterationHead {
            crawl: "example.org".parse().unwrap(),
            iteration: Iteration::FIRST.next(),
            status,
            task: Task::Crawl,
            started_at: "2026-03-01T12:00:00Z".parse().unwrap(),
            closed_at,
        },
        place: CrawlLocation::Data(Directory { path: data.into(), crawl: None, cache: None }),
        age: Age::Latest,
        certificates: Certificates::Checked,
        ignored_robots: Vec::new(),
        nofollow: Nofollow::default(),
        noindex: Noindex::default(),
        figures,
    }
}

#[test]
fn an_iteration_that_is_over() {
    let figures = Figures {
        stuck: Some(1),
        outcomes: vec![
            counted(Outcome::FileIngested, 1_200),
            counted(Outcome::FileNotFound, 30),
            counted(Outcome::BlockedByRobotsTxt, 12),
            counted(Outcome::BlockedAtRequestOfRemote, 7),
            counted(Outcome::ConnectionFailed, 3),
        ],
        refusals: [(Refusal::Noindex, 1), (Refusal::LogIn, 4), (Refusal::Denied, 2)].into(),
        requests: 1_240,
        pages: 1_230,
        changes: [
            (ChangeKind::New, 12),
            (ChangeKind::Changed, 3),
            (ChangeKind::Gone, 1),
            (ChangeKind::Unchanged, 1_100),
        ]
        .into(),
        remade: 12,
        unvisited: Some(4_000),
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
        leftovers: vec![(LeftoverReason::BudgetExhausted, 4_000)],
        canonicals_doubted: vec![
            CanonicalsDoubted {
                why: Doubt::Unlike,
                pages: 1_100,
                canonical: "https://example.org/".to_owned(),
                named_by: 1_090,
            },
            CanonicalsDoubted {
                why: Doubt::NamedByMany,
                pages: 20,
                canonical: "https://example.org/\u{1b}[2J".to_owned(),
                named_by: 20,
            },
        ],
        scripted: ScriptedPages {
            pages: 40,
            examples: vec!["https://example.org/app".to_owned(), "https://example.org/b\u{1b}[2J".to_owned()],
        },
        links_beyond_budget: Some(25_000),
        links_nofollow: Some(12),
        urls_stripped: Some(340),
        bodies_cut: 3,
        ..Figures::default()
    };
    let summary = summary(IterationStatus::Closed, "dragline-data", figures);
    insta::assert_snapshot!("over", text(&summary, Some("dragline crawl"), Colour::Off));
    insta::assert_json_snapshot!("over_json", summary);
}

#[test]
fn an_iteration_that_is_not_finished() {
    let figures = Figures { waiting: 7, requests: 1, pages: 1, body_bytes: 1_024, ..Figures::default() };
    let summary = summary(IterationStatus::Open, "/srv/my crawl", figures);
    insta::assert_snapshot!("not_finished", text(&summary, Some("dragline crawl --data '/srv/my crawl'"), Colour::Off));
}

#[test]
fn an_iteration_that_got_nothing() {
    let detail = "certificate not trusted: invalid peer certificate: UnknownIssuer".to_owned();
    let mut causes = Causes::default();
    causes.add_left(LeftoverRow {
        iteration: Iteration::FIRST,
        origin: "https://localhost:8443".parse().unwrap(),
        reason: LeftoverReason::RobotsUnreadable,
        urls: 1,
        robots_error: Some(detail),
    });
    let leftovers = vec![(LeftoverReason::RobotsUnreadable, 1)];
    let (stuck, links_beyond_budget, links_nofollow, urls_stripped) = (Some(0), Some(0), Some(0), Some(0));
    let causes = causes.into_counts();
    let figures =
        Figures { causes, leftovers, stuck, links_beyond_budget, links_nofollow, urls_stripped, ..Figures::default() };
    let summary = Summary {
        certificates: Certificates::NotChecked,
        ignored_robots: vec!["staging.example.org".parse().unwrap()],
        nofollow: Nofollow::Follow,
        noindex: Noindex::Keep,
        ..summary(IterationStatus::Closed, "dragline-data", figures)
    };
    assert!(!summary.figures.has_content());
    insta::assert_snapshot!("nothing", text(&summary, None, Colour::Off));
    insta::assert_json_snapshot!("nothing_json", summary);
}

#[test]
fn an_earlier_iteration_among_several_crawls() {
    let figures = Figures { outcomes: vec![counted(Outcome::FileIngested, 2)], pages: 2, ..Figures::default() };
    let place = CrawlLocation::Data(Directory {
        path: "dragline-data".into(),
        crawl: Some("example.org".parse().unwrap()),
        cache: None,
    });
    let latest = Summary { place, ..summary(IterationStatus::Closed, "", figures) };
    insta::assert_snapshot!("among_others", text(&latest, None, Colour::Off));
    let earlier = Summary { age: Age::Earlier, ..latest };
    insta::assert_snapshot!("earlier", text(&earlier, None, Colour::Off));
    insta::assert_json_snapshot!("earlier_json", earlier);
}
