//! Answers that are not pages, each final without retries.

use dragline_domain::outcome::Outcome;
use dragline_testkit::site::Site;
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::replies::{html, links, reply};

#[tokio::test]
async fn a_status_says_how_a_url_ended() {
    const STATUSES: &[(u16, Outcome, &str)] = &[
        (400, Outcome::ServerBlamedClient, "it says that we are at fault"),
        (401, Outcome::BlockedAtRequestOfRemote, "it requires a login"),
        (403, Outcome::BlockedAtRequestOfRemote, "it says no"),
        (404, Outcome::FileNotFound, "not there"),
        (410, Outcome::FileGone, "gone for good"),
        (451, Outcome::ServerBlamedClient, "another 4xx"),
        (500, Outcome::ServerInternalError, "it is at fault, for this URL only"),
        (501, Outcome::ServerInternalError, "another 5xx"),
    ];
    let paths: Vec<_> = STATUSES.iter().map(|(status, ..)| format!("/{status}")).collect();
    let mut builder = Site::builder()
        .reply("/", html(&links(paths.iter().map(String::as_str).chain(["/challenge"]))))
        .reply("/challenge", reply(403, &[("cf-mitigated", "challenge")], "Are you a robot?"));
    let mut expected = vec![
        ("/", Outcome::FileIngested, "the seed"),
        ("/challenge", Outcome::BlockedByChallenge, "a challenge meant for people, whatever its status"),
    ];
    for ((status, outcome, why), path) in STATUSES.iter().zip(&paths) {
        let body = links(["/from-an-error"]);
        builder = builder.reply(path, reply(*status, &[("content-type", "text/html")], body));
        expected.push((path, *outcome, why));
    }
    let site = builder.start().await.unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |draft| draft.fetch.retries = 0)).await;
    crawled.assert_outcomes(&expected);
    for ((status, ..), path) in STATUSES.iter().zip(&paths) {
        let row = crawled.row(path);
        assert_eq!((row.status, row.tries), (Some(*status), 1), "{path}: requested once");
        let detail = row.detail.as_deref().unwrap_or_default();
        assert!(detail.starts_with(&format!("status {status}")), "{path}: {detail}");
        assert!(crawled.links_of(path).is_empty(), "{path}: links of error pages are ignored");
    }
    assert_eq!(site.log().len(), 1 + expected.len(), "robots.txt, and each URL once");
}
