//! Bodies that do not come, do not end, or are not what their server says.

use std::time::Duration;

use dragline_domain::outcome::Outcome::{
    ConnectionFailed, ErrorReadingResponse, FileIngested, FileOfUnknownType, RequestTimeout,
};
use dragline_testkit::hostile::{Step, head, html, reply};

use crate::support::{case, cut, judge};

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
    assert!(largest <= Some(1 << 20), "no body beyond its limit is kept: {largest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_break_are_tried_again_and_told() {
    let broken = |steps: &[Step]| [steps, &[Step::Reset]].concat();
    let cases = vec![
        case("a reset at once", ConnectionFailed, broken(&[])),
        case("a reset within the header", ConnectionFailed, broken(&[Step::send("HTTP/1.1 200 OK\r\nx: ")])),
        case("hung up without a word", ConnectionFailed, vec![]),
        cut(
            "a reset within the body",
            ErrorReadingResponse,
            "disconnect",
            broken(&[page_head("content-length: 999"), Step::send("<p>so far")]),
        ),
    ];
    let crawled = judge(cases, |_| {}).await;
    let tries = crawled.log.iter().filter(|row| row.url.ends_with("/nasty") && row.r#final).map(|row| row.tries);
    assert_eq!(tries.collect::<Vec<_>>(), [3; 4], "three tries each, and no more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_is_what_it_is_whatever_its_server_says() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let cases = vec![
        case("nothing", FileIngested, html("")),
        case("nothing, of no type", FileOfUnknownType, reply(200, &[], "")),
        case(
            "a page called an image",
            FileOfUnknownType,
            reply(200, &["content-type: image/png"], "<a href=/lured>x</a>"),
        ),
        case("an image called a page", FileIngested, reply(200, &[HTML], png)),
        case(
            "a type that is none, and no page",
            FileOfUnknownType,
            reply(200, &["content-type: \u{e9};;;=\"/"], "text <a href=/lured>x</a>"),
        ),
        cut("10 MB, the limit being 1 MiB", FileIngested, "length", html("<p>page ".repeat(1_250_000))),
    ];
    let crawled = judge(cases, |_| {}).await;
    assert!(!crawled.log.iter().any(|row| row.url.contains("lured")), "what is no page has no links");
}
