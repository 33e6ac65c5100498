//! Header fields that are too many, too long or malformed.

use dragline_domain::outcome::Outcome::{DidNotUnderstandAnswer, FileIngested};
use dragline_testkit::hostile::{HostileSite, Step, head, html, reply};
use dragline_testkit::whole_crawls::{Crawled, definition};

use crate::support::{case, judge, tight};

const PAGE: &str = "content-type: text/html\r\ncontent-length: 5\r\nconnection: close\r\n\r\n<p>ok";

fn with_fields(fields: &[u8]) -> Vec<Step> {
    vec![Step::send([b"HTTP/1.1 200 OK\r\n", fields, PAGE.as_bytes()].concat())]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fields_without_end_are_no_answer_and_odd_ones_are_left_out() {
    let cases = vec![
        case(
            "fields without end",
            DidNotUnderstandAnswer,
            vec![Step::send("HTTP/1.1 200 OK\r\n"), Step::send_forever("a: b\r\n".repeat(512))],
        ),
        case(
            "a field without end",
            DidNotUnderstandAnswer,
            vec![Step::send("HTTP/1.1 200 OK\r\na: "), Step::send_forever("bbbb".repeat(512))],
        ),
        case(
            "20 KB of fields, the limit being 16 KiB",
            DidNotUnderstandAnswer,
            with_fields(&b"a: 5678\r\n".repeat(2_000)),
        ),
        case("1,500 fields within the limit of bytes", FileIngested, with_fields(&b"a: b\r\n".repeat(1_500))),
        case("a value that is not text", FileIngested, with_fields(b"x-odd: \xff\xfe\x80\r\n")),
        case("a control character in a value", FileIngested, with_fields(b"x-odd: a\x01\x1b[2Jb\r\n")),
        case("a name with a space in it", FileIngested, with_fields(b"x odd: a\r\n")),
        case("a field without a name", FileIngested, with_fields(b": a\r\n")),
        case("a line without a colon", FileIngested, with_fields(b"nonsense\r\n")),
        case("a folded line", FileIngested, with_fields(b"x-folded: a\r\n b\r\n")),
        case("a NUL in a value", DidNotUnderstandAnswer, with_fields(b"x-odd: a\0b\r\n")),
    ];
    judge(cases, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reason_of_any_length_is_cut_and_the_largest_header_is_read_back() {
    let status = |reason: &[u8]| [b"HTTP/1.1 200 ", reason, b"\r\n", PAGE.as_bytes()].concat();
    let cases = vec![
        case("a reason of 300,000 letters", FileIngested, vec![Step::send(status(&b"x".repeat(300_000)))]),
        case("a reason that is not text", FileIngested, vec![Step::send(status(&b"\xff".repeat(100_000)))]),
        case(
            "380 KB of fields",
            FileIngested,
            with_fields(&[b"a: ", &b"x".repeat(4_000)[..], b"\r\n"].concat().repeat(95)),
        ),
    ];
    judge(cases, |draft| draft.fetch.header_bytes_max = 1 << 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cookies_and_credentials_are_never_sent() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &["set-cookie: robots=1"], ""),
        "/" => {
            let port = asked.field("host").and_then(|host| host.rsplit_once(':')).unwrap().1.to_owned();
            // Not in the text of links, as the text of a page is stored unchanged.
            let with_credentials = format!("http://user:secret@127.0.0.1:{port}/linked");
            let body = format!("<a href='{with_credentials}'>1</a> <a href=/moved>2</a> <a href=/login>3</a>");
            reply(200, &["content-type: text/html", "set-cookie: session=secret; Path=/"], body)
        }
        "/moved" => vec![head(302, &["location: /target", "set-cookie: moved=1"])],
        "/login" => vec![head(401, &["www-authenticate: Basic realm=\"x\"", "content-length: 0"])],
        _ => html("ok"),
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.url("/")], tight)).await;
    let log = site.log();
    assert!(log.iter().any(|asked| asked.target == "/target"), "the redirect was followed: {:?}", site.targets());
    for asked in &log {
        for field in ["cookie", "authorization", "referer"] {
            assert_eq!(asked.field(field), None, "{field} of {}", asked.target);
        }
    }
    let stored: Vec<String> = crawled
        .log
        .iter()
        .flat_map(|row| [Some(row.url.clone()), row.via.clone(), row.detail.clone()])
        .flatten()
        .collect();
    let links = crawled.links.iter().map(|link| link.to_url.clone());
    for text in stored.into_iter().chain(links) {
        assert!(!text.contains("secret"), "credentials are not stored: {text}");
    }
    assert_credentials_are_nowhere_in_the_database(&crawled);
}

#[track_caller]
fn assert_credentials_are_nowhere_in_the_database(crawled: &Crawled) {
    for entry in std::fs::read_dir(crawled.data()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(11).any(|window| window == b"user:secret"), "{} holds credentials", path.display());
        }
    }
}
