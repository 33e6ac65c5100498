//! Messages whose length is wrong, or given twice.

use std::time::Duration;

use dragline_domain::outcome::Outcome::{self, DidNotUnderstandAnswer, ErrorReadingResponse, FileIngested};
use dragline_testkit::hostile::{Step, brotli, gzip, head, html};
use dragline_testkit::whole_crawls::Crawled;

use crate::support::{Case, NASTY, case, cut, judge};

fn framed(fields: &[&str], body: impl AsRef<[u8]>) -> Vec<Step> {
    vec![head(200, &[&["content-type: text/html"], fields].concat()), Step::send(body.as_ref().to_vec())]
}

/// A body as one chunk, without the last chunk.
fn chunk(body: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n"].concat()
}

/// Checks what the nasty pages say, and how often each was requested.
#[track_caller]
fn assert_nasty(crawled: &Crawled, text: &str, tries: u8) {
    let nasty = crawled.pages.iter().filter(|page| page.url.ends_with(NASTY));
    for page in nasty {
        assert_eq!(page.text.as_deref().map(str::trim), Some(text), "{}", page.url);
        assert_eq!(crawled.row(&page.url).tries, tries, "{}", page.url);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_breaks_off_in_each_try_is_read_as_far_as_it_came() {
    let broken = |what, fields: &[&str], body| cut(what, FileIngested, "disconnect", framed(fields, body));
    let cases: Vec<Case> = vec![
        broken("a length too long", &["content-length: 999"], "<p>so far"),
        broken("an absurd length", &["content-length: 99999999999999"], "<p>so far"),
        broken(
            "`identity` and a length too long",
            &["transfer-encoding: identity", "content-length: 999"],
            "<p>so far",
        ),
        broken("a chunk cut short", &["transfer-encoding: chunked"], "ff\r\n<p>so far"),
        broken("no last chunk", &["transfer-encoding: chunked"], "9\r\n<p>so far\r\n"),
        broken("no line break behind the last chunk", &["transfer-encoding: chunked"], "9\r\n<p>so far\r\n0\r\n"),
        broken("an invalid chunk size", &["transfer-encoding: chunked"], "9\r\n<p>so far\r\nzz\r\n"),
        broken("a negative chunk size", &["transfer-encoding: chunked"], "9\r\n<p>so far\r\n-1\r\n"),
        broken("a size beyond 64 bits", &["transfer-encoding: chunked"], "9\r\n<p>so far\r\nfffffffffffffffff\r\n"),
        broken("a chunk longer than its size", &["transfer-encoding: chunked"], "9\r\n<p>so farther\r\n0\r\n\r\n"),
    ];
    let crawled = judge(cases, |_| {}).await;
    assert_nasty(&crawled, "so far", 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_whole_is_read_at_once_however_it_is_framed() {
    let page = b"<p>whole";
    let (zipped, brotlied) = (gzip(page), brotli(page));
    let (in_gzip, in_brotli, chunked) =
        ("content-encoding: gzip", "content-encoding: br", "transfer-encoding: chunked");
    let held = |steps: Vec<Step>| [steps, vec![Step::Hold]].concat();
    let identity = ["transfer-encoding: identity", "content-length: 8"];
    let cases = vec![
        case("the length of the page on its gzip", FileIngested, framed(&[in_gzip, "content-length: 400"], &zipped)),
        case("the same on brotli", FileIngested, framed(&[in_brotli, "content-length: 400"], &brotlied)),
        case(
            "the same, while the connection stays open",
            FileIngested,
            held(framed(&[in_gzip, "content-length: 400"], &zipped)),
        ),
        case("gzip without the last chunk", FileIngested, framed(&[in_gzip, chunked], chunk(&zipped))),
        case(
            "gzip, and a reset",
            FileIngested,
            [framed(&[in_gzip, chunked], chunk(&zipped)), vec![Step::send("5\r\n"), Step::Reset]].concat(),
        ),
        case("neither length nor chunks", FileIngested, framed(&[], page)),
        case("HTTP/1.0", FileIngested, vec![Step::send("HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\n<p>whole")]),
        case("`identity`, which is no transfer coding", FileIngested, framed(&identity, page)),
        case("the same, while the connection stays open", FileIngested, held(framed(&identity, page))),
        case("`identity` alone", FileIngested, framed(&["transfer-encoding: identity"], page)),
        case("gzip named twice", FileIngested, framed(&[in_gzip, in_gzip], &zipped)),
        case("two codings named, the first applied", FileIngested, framed(&[in_gzip, in_brotli], &zipped)),
        case("two codings named, the last applied", FileIngested, framed(&[in_gzip, in_brotli], &brotlied)),
    ];
    let crawled = judge(cases, |_| {}).await;
    assert_nasty(&crawled, "whole", 1);
}

/// The client's parser refuses these, and nothing below it may be changed: see
/// `docs/internals/hostile-web.md`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_client_cannot_read_is_told() {
    let headed = |head: &str, body: &str| vec![Step::send(format!("{head}\r\ncontent-type: text/html\r\n{body}"))];
    let chunks = "transfer-encoding: chunked\r\n\r\n5\r\n<p>ok\r\n0\r\n\r\n";
    let cases = vec![
        case("HTTP/1.0 with chunks", DidNotUnderstandAnswer, headed("HTTP/1.0 200 OK", chunks)),
        case("HTTP/1.2", DidNotUnderstandAnswer, headed("HTTP/1.2 200 OK", "content-length: 5\r\n\r\n<p>ok")),
        cut(
            "chunks with bare line feeds",
            ErrorReadingResponse,
            "disconnect",
            headed("HTTP/1.1 200 OK", &chunks.replace("5\r\n<p>ok\r\n0\r\n\r\n", "5\n<p>ok\n0\n\n")),
        ),
    ];
    let crawled = judge(cases, |_| {}).await;
    let told = crawled.log.iter().filter(|row| row.url.ends_with(NASTY) && row.detail.is_some());
    assert_eq!(told.count(), 1 + 1 + 3, "each try");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contradictions_of_length_never_make_one_answer_two() {
    let cases = vec![
        case(
            "a length too short",
            FileIngested,
            framed(&["content-length: 5"], "<p>okHTTP/1.1 200 OK\r\n\r\n<p>smuggled"),
        ),
        case("the same length twice", FileIngested, framed(&["content-length: 5", "content-length: 5"], "<p>ok")),
        case(
            "two lengths",
            DidNotUnderstandAnswer,
            framed(&["content-length: 5", "content-length: 12"], "<p>ok<p>else"),
        ),
        case("a length that is not a number", DidNotUnderstandAnswer, framed(&["content-length: 5x"], "<p>ok")),
        case("a negative length", DidNotUnderstandAnswer, framed(&["content-length: -5"], "<p>ok")),
        case(
            "chunks and a length: the chunks count",
            FileIngested,
            framed(&["content-length: 999", "transfer-encoding: chunked"], "5\r\n<p>ok\r\n0\r\n\r\n"),
        ),
        case(
            "a length and chunks, the other way round",
            FileIngested,
            framed(&["transfer-encoding: chunked", "content-length: 3"], "5\r\n<p>ok\r\n0\r\n\r\n"),
        ),
    ];
    let crawled = judge(cases, |_| {}).await;
    let read = crawled.pages.iter().filter(|page| page.url.ends_with(NASTY));
    for page in read {
        assert_eq!(page.text.as_deref().map(str::trim), Some("ok"), "{}", page.url);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_without_a_body_are_answers() {
    let cases = vec![
        case("204", FileIngested, vec![Step::send("HTTP/1.1 204 No Content\r\ncontent-type: text/html\r\n\r\n")]),
        case(
            "an unrequested 206",
            FileIngested,
            vec![
                head(206, &["content-type: text/html", "content-range: bytes 0-4/99", "content-length: 5"]),
                Step::send("<p>ok"),
            ],
        ),
        case("an unrequested 304", DidNotUnderstandAnswer, vec![head(304, &[])]),
        case("a status without a meaning", DidNotUnderstandAnswer, vec![head(799, &["content-length: 0"])]),
        case(
            "a hundred interim answers and then one",
            FileIngested,
            [vec![Step::send("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100))], html("<p>ok")].concat(),
        ),
        case(
            "interim answers without end",
            Outcome::RequestTimeout,
            // Thousands a second; at full speed an unoptimised parser would exceed the request's
            // time.
            vec![Step::send_every(Duration::from_millis(20), "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100))],
        ),
        case("another protocol", DidNotUnderstandAnswer, vec![Step::send("SSH-2.0-OpenSSH_9.6\r\n\r\n")]),
        case("HTTP/0.9", DidNotUnderstandAnswer, vec![Step::send("<p>no header at all, only a page\r\n\r\n")]),
    ];
    judge(cases, |_| {}).await;
}
