//! Redirects in circles, in chains, and to nowhere.

use dragline_domain::outcome::Outcome::{DidNotUnderstandAnswer, FileIngested, TemporaryRedirect};
use dragline_testkit::hostile::{HostileSite, Step, head, html};
use dragline_testkit::whole_crawls::{Crawled, definition};

use crate::support::{Case, case, judge, tight};

fn to(location: &str) -> Vec<Step> {
    vec![head(302, &[&format!("location: {location}"), "content-length: 0"])]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_to_nowhere_is_not_understood() {
    let mut cases: Vec<Case> = [
        ("a script", "javascript:alert(1)".to_owned()),
        ("data", "data:text/html,<p>x".to_owned()),
        ("a file", "file:///etc/passwd".to_owned()),
        ("no host", "http://".to_owned()),
        ("a bad address", "http://[::bad/".to_owned()),
        ("10 KB", format!("/{}", "x".repeat(10_000))),
    ]
    .into_iter()
    .map(|(what, location)| case(what, DidNotUnderstandAnswer, to(&location)))
    .collect();
    cases.push(case("no Location", DidNotUnderstandAnswer, vec![head(301, &["content-length: 0"])]));
    cases.push(case(
        "100 KB, beyond the limit of a header",
        DidNotUnderstandAnswer,
        to(&format!("/{}", "x".repeat(100_000))),
    ));
    cases.push(case("itself", TemporaryRedirect, to("/nasty")));
    cases.push(case("another host, which is out of scope", TemporaryRedirect, to("http://elsewhere.test/")));
    judge(cases, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn circles_and_endless_chains_meet_their_end() {
    let site = HostileSite::start(|asked| match asked.target.strip_prefix("/chain/").map(str::parse::<u64>) {
        Some(Ok(n)) => to(&format!("/chain/{}", n + 1)),
        _ => match asked.target.as_str() {
            "/a" => to("/b"),
            "/b" => to("/a"),
            "/robots.txt" => vec![head(404, &["content-length: 0"])],
            "/refresh" => html("<meta http-equiv=refresh content='0; url=/refresh'>again"),
            "/refresh/1" => html("<meta http-equiv=refresh content='0; url=/refresh/2'>one"),
            "/refresh/2" => html("<meta http-equiv=refresh content='0; url=/refresh/1'>two"),
            _ => html("good"),
        },
    })
    .await;
    let seeds = ["/good", "/a", "/chain/0", "/refresh", "/refresh/1"].map(|target| site.url(target));
    let crawled = Crawled::once(&definition(&seeds, |draft| {
        tight(draft);
        draft.scope.max_depth = Some(3);
    }))
    .await;
    let asked = |prefix: &str| site.targets().iter().filter(|target| target.starts_with(prefix)).count();
    assert_eq!(asked("/a") + asked("/b"), 2, "each URL of a circle once");
    assert_eq!(asked("/refresh"), 3, "a page that refreshes itself is a page");
    assert!(
        (10..=30).contains(&asked("/chain/")),
        "five are free, and then each counts as depth: {}",
        asked("/chain/")
    );
    assert_eq!(crawled.row("/good").outcome, FileIngested);
    assert_eq!(crawled.progress.origins_open, 0);
}
