//! Sites with endless URLs.

use dragline_domain::outcome::Outcome;
use dragline_testkit::hostile::{HostileSite, html, links, reply};
use dragline_testkit::whole_crawls::{Crawled, definition};

use crate::support::tight;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_calendar_without_end_ends_with_the_budget_and_says_so() {
    let site = HostileSite::start(|asked| match asked.target.strip_prefix("/day/").map(str::parse::<i64>) {
        _ if asked.target == "/robots.txt" => reply(404, &[], ""),
        Some(Ok(day)) => html(links([format!("/day/{}", day - 1), format!("/day/{}", day + 1)])),
        _ => html(links(["/day/0", "/good"])),
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |draft| {
        tight(draft);
        draft.budget.pages_per_origin = Some(40);
    }))
    .await;
    assert_eq!(crawled.log.iter().filter(|row| row.r#final && row.duration_ms.is_some()).count(), 40);
    let reasons: Vec<_> = crawled.leftovers().into_iter().map(|(reason, _)| reason).collect();
    assert_eq!(reasons, ["origin_budget_exhausted"], "the leftovers and their reason");
    assert!(site.targets().len() <= 41, "robots.txt and forty pages");
    assert!(site.targets().contains(&"/good".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paths_that_grow_without_end_are_traps_by_rule() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        "/good" => html("good"),
        // Relative links that accumulate, each page one level deeper.
        target => html(links([
            &format!("{}/again/", target.trim_end_matches('/')),
            "/good",
            &format!("{}/{}/", target.trim_end_matches('/'), target.len()),
        ])),
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |draft| {
        tight(draft);
        draft.traps.segments_max = 4;
    }))
    .await;
    assert_eq!(crawled.leftovers(), [], "it ended by itself");
    let rules: Vec<_> =
        crawled.log.iter().filter(|row| row.duration_ms.is_none()).filter_map(|row| row.detail.clone()).collect();
    assert!(rules.iter().any(|rule| rule.contains("segments")), "too many segments: {rules:?}");
    assert!(rules.iter().any(|rule| rule.contains("repeats")), "a repeated segment: {rules:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn session_ids_of_usual_names_are_taken_out() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        // Each link to a page has a new session.
        _ => html(links((0..5).map(|page| format!("/{page}?PHPSESSID={}{page}", asked.at.elapsed().as_nanos())))),
    })
    .await;
    Crawled::once(&definition(&[site.url("/")], |draft| {
        tight(draft);
        draft.budget.pages = Some(50);
    }))
    .await;
    assert_eq!(site.targets().len(), 7, "robots.txt, the seed, five pages: {:?}", site.targets());
}

/// A site whose pages link to five pages, each time with a new session in a path parameter.
async fn with_sessions_in_paths(parameter: &'static str) -> HostileSite {
    HostileSite::start(move |asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        _ => html(links((0..5).map(|page| format!("/{page};{parameter}={}{page}", asked.at.elapsed().as_nanos())))),
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn session_ids_in_paths_are_taken_out_or_end_with_the_budget() {
    let (usual, unknown) = (with_sessions_in_paths("jsessionid").await, with_sessions_in_paths("visit").await);
    let crawled = Crawled::once(&definition(&[usual.url("/"), unknown.url("/")], |draft| {
        tight(draft);
        draft.budget.pages_per_origin = Some(30);
    }))
    .await;
    assert_eq!(usual.targets().len(), 7, "robots.txt, the seed, five pages: {:?}", usual.targets());
    assert!(usual.targets().iter().all(|target| !target.contains(';')), "{:?}", usual.targets());
    assert_eq!(unknown.targets().len(), 31, "robots.txt and thirty pages");
    let reasons: Vec<_> = crawled.leftovers().into_iter().map(|(reason, _)| reason).collect();
    assert_eq!(reasons, ["origin_budget_exhausted"], "the leftovers say why it ended");
}

/// A text that differs from those of other numbers.
fn prose(number: usize) -> String {
    (0..60).map(|word| format!("word{} ", (number * 31 + word * word * 7) % 997)).collect()
}

/// A site of 130 articles, each of which names a later one, beside a calendar and a list without
/// end.
async fn with_a_calendar_and_a_list() -> HostileSite {
    HostileSite::start(|asked| {
        let number = |prefix: &str| asked.target.strip_prefix(prefix).and_then(|rest| rest.parse::<usize>().ok());
        let page = |text: &str, to: Vec<String>| html(format!("<p>{text}</p>{}", links(to)));
        if let Some(article) = number("/article/") {
            let next = (article <= 120).then(|| format!("/article/{}", article + 10));
            return page(&prose(article), next.into_iter().collect());
        }
        if let Some(month) = number("/calendar/") {
            let days: String = (1..=30).map(|day| format!("{day} ")).collect();
            return page(&format!("Month {month}: Mon Tue Wed {days}"), vec![format!("/calendar/{}", month + 1)]);
        }
        if let Some(n) = number("/list?page=") {
            let items: Vec<String> =
                (n * 5..n * 5 + 5).filter(|item| *item < 50).map(|item| format!("/item{item}")).collect();
            let text = if items.is_empty() { "No results".to_owned() } else { items.join(" ") };
            return page(&text, items.into_iter().chain([format!("/list?page={}", n + 1)]).collect());
        }
        match asked.target.as_str() {
            "/robots.txt" => reply(404, &[], ""),
            "/" => {
                let articles = (1..=10).map(|n| format!("/article/{n}"));
                page("The front page", articles.chain(["/calendar/1".to_owned(), "/list?page=0".to_owned()]).collect())
            }
            item => page(&prose(1_000 + item.len() + usize::from(item.as_bytes()[item.len() - 1])), Vec::new()),
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_lead_on_and_show_nothing_new_are_left_with_a_word() {
    let site = with_a_calendar_and_a_list().await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |draft| {
        tight(draft);
        draft.traps.fruitless_pages_max = 24;
    }))
    .await;
    let targets = site.targets();
    let count = |prefix: &str| targets.iter().filter(|target| target.starts_with(prefix)).count();
    assert_eq!((count("/article/"), count("/item")), (130, 50), "every page with something in it");
    assert!(count("/calendar/") <= 80, "{} months", count("/calendar/"));
    assert!(count("/list?") <= 80, "{} pages of the list", count("/list?"));
    assert_eq!(crawled.leftovers(), [], "it ended by itself");
    let left: Vec<_> = crawled.log.iter().filter(|row| row.outcome == Outcome::CrawlerTrap).collect();
    let details: Vec<_> = left.iter().filter_map(|row| row.detail.as_deref()).collect();
    for (prefix, shape) in [
        ("/calendar/", "pages like /calendar/{n} led on and showed nothing new"),
        ("/list?", "pages like /list?page or /list?* led on"),
    ] {
        assert!(left.iter().any(|row| row.url.as_str().contains(prefix)), "{prefix}: {details:?}");
        assert!(details.iter().any(|detail| detail.contains(shape)), "{shape}: {details:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_rule_frees_is_no_trap() {
    let site = with_a_calendar_and_a_list().await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |draft| {
        tight(draft);
        draft.traps.fruitless_pages_max = 24;
        draft.traps.except = vec!["/calendar/".parse().unwrap()];
        draft.budget.pages_per_origin = Some(500);
    }))
    .await;
    let months = site.targets().iter().filter(|target| target.starts_with("/calendar/")).count();
    assert!(months > 150, "{months} months until the budget is spent");
    let left: Vec<_> = crawled.log.iter().filter(|row| row.outcome == Outcome::CrawlerTrap).collect();
    assert!(!left.is_empty() && left.iter().all(|row| row.url.as_str().contains("/list?")), "the list still is");
}
