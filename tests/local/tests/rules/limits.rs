//! Bodies beyond a limit are cut and flagged, and the crawl continues.

use dragline_domain::outcome::Outcome;
use dragline_formats::warc::Truncation;
use dragline_testkit::site::Site;
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::content::gzip;
use super::replies::{html, links, reply};
use super::scripted::{Act, ScriptedSite, answer};

const HTML: (&str, &str) = ("content-type", "text/html");
const MIB: usize = 1 << 20;

#[tokio::test]
async fn a_body_beyond_its_limit_is_cut_and_the_crawl_goes_on() {
    let bomb = gzip(&vec![0; 50 * MIB]);
    let long = [links(["/early"]).into_bytes(), vec![b' '; 200_000], links(["/late"]).into_bytes()].concat();
    let site = Site::builder()
        .reply("/", html(&links(["/bomb", "/long", "/after"])))
        .reply("/bomb", reply(200, &[HTML, ("content-encoding", "gzip")], bomb))
        .reply("/long", reply(200, &[HTML], long))
        .reply("/after", html("after"))
        .start()
        .await
        .unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |draft| {
        draft.fetch.decoded_bytes_max = 1 << 20;
        draft.fetch.body_bytes_max = 100_000;
    }))
    .await;
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "the seed"),
        ("/bomb", Outcome::FileIngested, "as far as it was read"),
        ("/long", Outcome::FileIngested, "as far as it was read"),
        ("/early", Outcome::FileNotFound, "before the cut"),
        ("/after", Outcome::FileIngested, "the crawl goes on"),
    ]);
    for path in ["/bomb", "/long"] {
        assert_eq!(crawled.row(path).truncated, Some(Truncation::Length), "{path}");
        assert_eq!(crawled.record(path).truncated(), Some(Truncation::Length), "{path}");
    }
    assert_eq!(crawled.row("/long").body_bytes, Some(100_000));
    assert_eq!(crawled.row("/after").truncated, None);
    assert_eq!(crawled.progress.crawler.bodies_cut, 2, "people are told how many");
}

#[tokio::test]
async fn a_body_that_breaks_off_is_no_page() {
    let site = ScriptedSite::start(|asked| match (asked.target.as_str(), asked.earlier) {
        ("/robots.txt", _) => answer(404, &[], ""),
        ("/half", 0) => {
            Act::Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 999\r\n\r\n<a href=/x>".into())
        }
        _ => answer(200, &["content-type: text/html"], "whole"),
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.url("/half")], |_| {})).await;
    crawled.assert_outcomes(&[("/half", Outcome::FileIngested, "the second try was whole")]);
    let first = &crawled.log[0];
    assert_eq!((first.r#final, first.outcome), (false, Outcome::ErrorReadingResponse));
    assert_eq!(first.truncated, Some(Truncation::Disconnect), "the part received is stored");
}

#[tokio::test]
async fn a_body_as_large_as_the_definition_allows_is_parsed() {
    let large = 66 * MIB;
    let site = Site::builder().reply("/", reply(200, &[HTML], vec![b' '; large])).start().await.unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |draft| {
        draft.fetch.body_bytes_max = 70 * MIB;
        draft.fetch.decoded_bytes_max = 70 << 20;
    }))
    .await;
    crawled.assert_outcomes(&[("/", Outcome::FileIngested, "no larger than what the definition allows")]);
    assert_eq!(crawled.row("/").body_bytes, Some(large as u64));
}

#[tokio::test]
async fn what_is_no_http_is_said_to_be_none() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        _ => Act::Send(b"220 mail.example ESMTP\r\n\r\n".into()),
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |_| {})).await;
    crawled.assert_outcomes(&[("/", Outcome::DidNotUnderstandAnswer, "another protocol")]);
    assert!(crawled.row("/").detail.is_some());
}
