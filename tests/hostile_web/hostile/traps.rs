//! Sites with endless URLs.

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
