//! Bodies that do not arrive, do not end, or are not what their server claims.

use std::time::Duration;

use dragline_domain::outcome::Outcome::{
    ConnectionFailed, ErrorReadingResponse, FileIngested, RequestTimeout, StoredNotRead,
};
use dragline_formats::warc::Truncation;
use dragline_testkit::hostile::{HostileSite, Step, brotli, gzip, head, html, reply};
use dragline_testkit::whole_crawls::{Crawled, definition};

use crate::support::{NASTY, case, cut, judge, tight};

const HTML: &str = "content-type: text/html";

fn page_head(field: &str) -> Step {
    head(200, &[HTML, field])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_and_endless_answers_end_with_the_limits() {
    let drip = Step::Drip { bytes: vec![b'x'; 1_000].into(), every: Duration::from_millis(50) };
    let slow_head = Step::Drip { bytes: vec![b'x'; 1_000].into(), every: Duration::from_millis(50) };
    let cases = vec![
        cut("a body that drips", FileIngested, "time", vec![page_head("x: y"), drip]),
        cut("a body that stops", FileIngested, "time", vec![page_head("x: y"), Step::send("<p>so far"), Step::Hold]),
        cut(
            "a body without an end",
            FileIngested,
            "length",
            vec![page_head("x: y"), Step::send_forever("<p>more\n".repeat(512))],
        ),
        cut(
            "chunks without an end",
            FileIngested,
            "length",
            vec![
                page_head("transfer-encoding: chunked"),
                Step::send_forever(format!("100\r\n{}\r\n", "<p>more\n".repeat(32)).repeat(16)),
            ],
        ),
        case("no first byte", RequestTimeout, vec![Step::Hold]),
        case("a header that drips", RequestTimeout, vec![Step::send("HTTP/1.1 200 OK\r\nx: "), slow_head]),
        case("half a header", RequestTimeout, vec![Step::send("HTTP/1.1 200 OK\r\nx: y\r\n"), Step::Hold]),
    ];
    let crawled = judge(cases, |_| {}).await;
    let largest = crawled.log.iter().filter_map(|row| row.body_bytes).max();
    assert!(largest <= Some(1 << 20), "no body beyond its limit is stored: {largest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_break_are_tried_again_and_told() {
    let broken = |steps: &[Step]| [steps, &[Step::Reset]].concat();
    let cases = vec![
        case("a reset at once", ConnectionFailed, broken(&[])),
        case("a reset within the header", ConnectionFailed, broken(&[Step::send("HTTP/1.1 200 OK\r\nx: ")])),
        case("hung up without an answer", ConnectionFailed, vec![]),
        cut(
            "a reset within the body: what came is kept",
            FileIngested,
            "disconnect",
            broken(&[page_head("content-length: 999"), Step::send("<p>so far")]),
        ),
        cut("a reset before the body", ErrorReadingResponse, "disconnect", broken(&[page_head("content-length: 999")])),
    ];
    let crawled = judge(cases, |_| {}).await;
    let tries = crawled.log.iter().filter(|row| row.url.ends_with("/nasty") && row.r#final).map(|row| row.tries);
    assert_eq!(tries.collect::<Vec<_>>(), [3; 5], "three tries each, and no more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_coding_that_cannot_be_undone_to_its_end_is_told() {
    let page = format!("<title>T</title><p>{}", "so far ".repeat(400));
    let (zipped, packed) = (gzip(&page), brotli(&page));
    let coded = |name: &str, body: &[u8]| reply(200, &[HTML, &format!("content-encoding: {name}")], body);
    let damaged = |mut body: Vec<u8>| {
        let at = body.len() - 5;
        body[at] ^= 0xff;
        body
    };
    let cases = vec![
        cut("half a gzip", FileIngested, "unspecified", coded("gzip", &zipped[..zipped.len() / 2])),
        cut("half a brotli", FileIngested, "unspecified", coded("br", &packed[..packed.len() / 2])),
        cut("gzip with a wrong checksum", FileIngested, "unspecified", coded("gzip", &damaged(zipped.clone()))),
        cut("brotli that is called gzip", FileIngested, "unspecified", coded("gzip", &packed)),
        cut("gzip that is called brotli", FileIngested, "unspecified", coded("br", &zipped)),
        cut("gzip that is called zstd, in another gzip", FileIngested, "unspecified", coded("zstd", &gzip(&zipped))),
        case("plain text that is called gzip", FileIngested, coded("gzip", page.as_bytes())),
        case(
            "an image that is called gzip",
            StoredNotRead,
            reply(200, &["content-type: image/png", "content-encoding: gzip"], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ),
    ];
    let crawled = judge(cases, |_| {}).await;
    let is_nasty = |url: &str| url.ends_with(NASTY);
    for row in crawled.log.iter().filter(|row| is_nasty(&row.url)) {
        assert_eq!(row.tries, 1, "another try would get the same");
        let told = row.detail.as_deref().is_some_and(|detail| detail.contains("content coding"));
        assert_eq!(told, row.truncated.is_some(), "{:?}", row.detail);
    }
    for page in crawled.pages.iter().filter(|page| is_nasty(&page.url)) {
        let text = page.text.as_deref().unwrap_or_default();
        assert!(text.split_whitespace().all(|word| "T so far".contains(word)), "no garbage: {text:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_is_what_it_is_whatever_its_server_says() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let cases = vec![
        case("nothing", FileIngested, html("")),
        case("nothing, of no type", StoredNotRead, reply(200, &[], "")),
        case("a page called an image", StoredNotRead, reply(200, &["content-type: image/png"], "<a href=/lured>x</a>")),
        case("an image called a page", FileIngested, reply(200, &[HTML], png)),
        case(
            "an invalid type, and not a page",
            StoredNotRead,
            reply(200, &["content-type: \u{e9};;;=\"/"], "text <a href=/lured>x</a>"),
        ),
        cut("10 MB, the limit being 1 MiB", FileIngested, "length", html("<p>page ".repeat(1_250_000))),
    ];
    let crawled = judge(cases, |_| {}).await;
    assert!(!crawled.log.iter().any(|row| row.url.contains("lured")), "only pages have links");
}

/// Sites with slow large bodies hold only the received part in memory, so that others get theirs at
/// once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sites_that_drip_large_bodies_do_not_starve_a_quick_ones_large_pages() {
    const MIB: usize = 1 << 20;
    let announced = |length: usize| page_head(&format!("content-length: {length}"));
    let drip = Step::Drip { bytes: vec![b'x'; 1_000].into(), every: Duration::from_millis(50) };
    let slow = || vec![announced(5 * MIB), Step::send(vec![b'x'; 4 * MIB]), drip.clone()];
    let mut dripping = Vec::new();
    for _ in 0..10 {
        dripping.push(HostileSite::beside_good_pages(vec![(NASTY.to_owned(), slow())]).await);
    }
    let large = |page: usize| (format!("/large/{page}"), vec![announced(MIB), Step::send(vec![b'y'; MIB])]);
    let quick = HostileSite::beside_good_pages((0..20).map(large).collect()).await;
    // URLs of the first seed's site are given by their paths.
    let seeds: Vec<String> = [&quick].into_iter().chain(&dripping).map(|site| site.url("/")).collect();
    let crawled = Crawled::once(&definition(&seeds, |draft| {
        tight(draft);
        draft.fetch.timeout = Duration::from_secs(8);
        draft.fetch.body_bytes_max = 5 * MIB;
        draft.fetch.decoded_bytes_max = 5 << 20;
    }))
    .await;
    for page in 0..20 {
        let row = crawled.row(&format!("/large/{page}"));
        assert_eq!((row.outcome, row.truncated), (FileIngested, None), "{page}");
        assert_eq!(row.body_bytes, Some(MIB as u64));
    }
    for site in &dripping {
        let row = crawled.row(&site.url(NASTY));
        assert_eq!(row.truncated, Some(Truncation::Time), "{:?}", row.detail);
    }
    let large = crawled.log.iter().filter(|row| row.url.starts_with("/large/"));
    let last = large.map(|row| row.at).max().unwrap();
    let cut = crawled.log.iter().filter(|row| row.truncated.is_some());
    let first_cut = cut.map(|row| row.at + Duration::from_millis(row.duration_ms.unwrap())).min().unwrap();
    assert!(last < first_cut, "large pages waited for the drip to end: {last}, {first_cut}");
}
