//! Messages whose length is wrong, or given twice.

use std::time::Duration;

use dragline_domain::outcome::Outcome::{self, DidNotUnderstandAnswer, ErrorReadingResponse, FileIngested};
use dragline_testkit::hostile::{Step, head, html};

use crate::support::{Case, NASTY, case, cut, judge};

fn framed(fields: &[&str], body: &'static str) -> Vec<Step> {
    vec![head(200, &[&["content-type: text/html"], fields].concat()), Step::send(body)]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_breaks_off_is_told_from_what_is_whole() {
    let broken = |what, fields: &[&str], body| cut(what, ErrorReadingResponse, "disconnect", framed(fields, body));
    let cases: Vec<Case> = vec![
        broken("a length too long", &["content-length: 999"], "<p>short"),
        broken("an absurd length", &["content-length: 99999999999999"], "<p>short"),
        broken("a chunk cut short", &["transfer-encoding: chunked"], "ff\r\n<p>short"),
        broken("no last chunk", &["transfer-encoding: chunked"], "4\r\n<p>x\r\n"),
        broken("an invalid chunk size", &["transfer-encoding: chunked"], "4\r\n<p>x\r\nzz\r\n"),
        broken("a negative chunk size", &["transfer-encoding: chunked"], "4\r\n<p>x\r\n-1\r\n"),
        broken("a chunk size beyond 64 bits", &["transfer-encoding: chunked"], "4\r\n<p>x\r\nfffffffffffffffff\r\n"),
        broken("a chunk longer than its size", &["transfer-encoding: chunked"], "2\r\n<p>long\r\n0\r\n\r\n"),
    ];
    judge(cases, |_| {}).await;
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
            // Thousands a second; at full speed an unoptimised parser would exceed the request's time.
            vec![Step::send_every(Duration::from_millis(20), "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100))],
        ),
        case("another protocol", DidNotUnderstandAnswer, vec![Step::send("SSH-2.0-OpenSSH_9.6\r\n\r\n")]),
        case("HTTP/0.9", DidNotUnderstandAnswer, vec![Step::send("<p>no header at all, only a page\r\n\r\n")]),
    ];
    judge(cases, |_| {}).await;
}
