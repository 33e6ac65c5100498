//! Servers that are slow, endless, wrong or down.

use std::io::Write;
use std::sync::Arc;

use dragline_domain::address::AddressPolicy;
use dragline_http::{HttpConfig, HttpFetcher};
use dragline_ports::fetcher::FetchFailureKind::{self, Connect, Protocol, Timeout};
use dragline_ports::fetcher::Truncation::{self, Disconnect, Length, Time};
use dragline_ports::fetcher::{FetchLimits, Fetcher};
use dragline_testkit::hostile::Step;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::future::join_all;

use crate::support::{
    ENOUGH_TO_BEGIN, Names, ROOMY, RawServer, SHORT, config, failure_kind, fetcher, request, response,
};

#[tokio::test]
async fn bodies_that_are_cut_are_kept() {
    let timed = FetchLimits { total_timeout: ENOUGH_TO_BEGIN, ..ROOMY };
    let small = FetchLimits { body_bytes_max: 5, ..ROOMY };
    let decoded_small = FetchLimits { decoded_bytes_max: 3, ..ROOMY };
    let head = |fields: &str| Step::send(format!("HTTP/1.1 200 OK\r\n{fields}\r\n"));
    type Case = (Vec<Step>, FetchLimits, &'static str, Option<Truncation>, &'static str);
    let cases: [Case; 11] = [
        (vec![head("Content-Length: 5\r\n"), Step::send("abcde")], small, "abcde", None, "exactly at the limit"),
        (vec![head("Content-Length: 6\r\n"), Step::send("abcdef")], small, "abcde", Some(Length), "one byte over it"),
        (vec![head(""), Step::send_forever(&b"abcdefghij"[..])], small, "abcde", Some(Length), "a body without an end"),
        (vec![head("Content-Length: 3\r\n"), Step::send("abc")], decoded_small, "abc", None, "decoded, at the limit"),
        (
            vec![head("Content-Length: 9\r\n"), Step::send("abc"), Step::Hold],
            timed,
            "abc",
            Some(Time),
            "the rest never comes",
        ),
        (vec![head(""), Step::Hold], timed, "", Some(Time), "nothing comes at all"),
        (
            vec![head("Content-Length: 9\r\n"), Step::send("abc")],
            ROOMY,
            "abc",
            Some(Disconnect),
            "shorter than it said",
        ),
        (
            vec![head("Transfer-Encoding: chunked\r\n"), Step::send("3\r\nabc\r\n9\r\nde")],
            ROOMY,
            "abcde",
            Some(Disconnect),
            "in the middle of a chunk",
        ),
        (
            vec![head("Transfer-Encoding: chunked\r\n"), Step::send("3\r\nabc\r\n")],
            ROOMY,
            "abc",
            Some(Disconnect),
            "without the last chunk",
        ),
        (
            vec![head("Transfer-Encoding: chunked\r\n"), Step::send("3\r\nabc\r\nxyz\r\n")],
            ROOMY,
            "abc",
            Some(Disconnect),
            "a chunk without a size",
        ),
        (
            vec![head("Content-Length: 99999999999\r\n"), Step::send("abc")],
            ROOMY,
            "abc",
            Some(Disconnect),
            "a length that does not fit in memory",
        ),
    ];
    for (steps, limits, body, truncated, why) in cases {
        let server = RawServer::start(steps).await;
        let mut request = request(&server.url("/"));
        request.limits = limits;
        let response = response(fetcher().fetch(request).await);
        assert_eq!((response.body.as_ref(), response.truncated), (body.as_bytes(), truncated), "{why}");
        assert_eq!(response.decoded_bytes, body.len() as u64, "{why}");
    }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_compressed_body_is_kept_as_received_and_a_bomb_is_cut() {
    let zeros = vec![0; 64 << 20];
    let decoded_bytes_max = ROOMY.decoded_bytes_max;
    let cases = [
        (gzip(b"a page"), 6, None, "decoded only to be measured"),
        (gzip(&zeros), decoded_bytes_max, Some(Length), "64 MiB in 64 KiB"),
        (b"a page".to_vec(), 6, None, "a coding that was named but not applied"),
    ];
    for (body, decoded_bytes, truncated, why) in cases {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
        let server = RawServer::start([Step::send(head), Step::send(body.clone())]).await;
        let response = response(fetcher().fetch(request(&server.url("/"))).await);
        assert_eq!((response.decoded_bytes, response.truncated), (decoded_bytes, truncated), "{why}");
        assert!(body.starts_with(&response.body), "{why}");
        assert!(truncated.is_some() || response.body.len() == body.len(), "{why}");
    }
}

#[tokio::test]
async fn what_came_before_a_reset_is_kept() {
    let steps = [Step::send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), Step::Reset];
    let server = RawServer::start(steps).await;
    let response = response(fetcher().fetch(request(&server.url("/"))).await);
    assert_eq!((response.body.as_ref(), response.truncated), (b"abc".as_slice(), Some(Disconnect)));
}

#[tokio::test]
async fn without_a_header_there_is_no_response() {
    let impatient = FetchLimits { first_byte_timeout: SHORT, ..ROOMY };
    let timed = FetchLimits { total_timeout: ENOUGH_TO_BEGIN, ..ROOMY };
    let strict = FetchLimits { header_bytes_max: 40, ..ROOMY };
    // The first field is 19 bytes with its line break, the second 21 and 22.
    let fits = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: 4567890123456789\r\n\r\n";
    let too_much = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: 45678901234567890\r\n\r\n";
    type Case = (Vec<Step>, FetchLimits, Option<FetchFailureKind>, &'static str);
    let cases: [Case; 11] = [
        (vec![Step::Hold], impatient, Some(Timeout), "no byte at all"),
        (vec![Step::send("HTTP/1.1 200 OK\r\nA: b\r\n"), Step::Hold], impatient, Some(Timeout), "half a header"),
        (
            vec![Step::send("HTTP/1.1 103 Early Hints\r\n\r\n"), Step::Hold],
            impatient,
            Some(Timeout),
            "an interim response is not a response",
        ),
        (
            vec![Step::send_forever(&b"HTTP/1.1 103 Early Hints\r\n\r\n"[..])],
            timed,
            Some(Timeout),
            "interim responses without end",
        ),
        (vec![Step::Hold], timed, Some(Timeout), "the total time runs here too"),
        (
            vec![Step::send("HTTP/1.1 200 OK\r\n"), Step::send_forever(&b"A: b\r\n"[..])],
            ROOMY,
            Some(Protocol),
            "fields without end",
        ),
        (
            vec![Step::send("HTTP/1.1 200 OK\r\nA: "), Step::send_forever(&b"bbbbbbbb"[..])],
            ROOMY,
            Some(Protocol),
            "a field without end",
        ),
        (vec![Step::send(fits)], strict, None, "within the limit"),
        (vec![Step::send(too_much)], strict, Some(Protocol), "over the limit"),
        (vec![Step::send("SSH-2.0-OpenSSH_9.6\r\n")], ROOMY, Some(Protocol), "not HTTP"),
        (vec![], ROOMY, Some(Connect), "hung up"),
    ];
    for (steps, limits, expected, why) in cases {
        let server = RawServer::start(steps).await;
        let mut request = request(&server.url("/"));
        request.limits = limits;
        let fetched = fetcher().fetch(request).await;
        assert_eq!(failure_kind(&fetched), expected, "{why}: {:?}", fetched.result);
        assert_eq!(fetched.remote, Some(server.address()), "{why}");
        assert!(!fetched.request_headers.is_empty(), "{why}: the request was sent");
    }
}

#[tokio::test]
async fn nobody_there() {
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let fetched = fetcher().fetch(request(&format!("http://site.test:{}/", gone.port()))).await;
    assert_eq!(failure_kind(&fetched), Some(Connect), "{:?}", fetched.result);
    assert_eq!((fetched.remote, fetched.first_byte), (None, None));
    assert!(fetched.request_headers.is_empty(), "nothing was sent");
}

#[tokio::test]
async fn a_handshake_that_never_ends_falls_under_the_time_to_connect() {
    let server = RawServer::start([Step::Hold]).await;
    let mut request = request(&server.url("/").replace("http://", "https://"));
    // A first-byte limit that has passed by then must not count: it begins with the request.
    request.limits = FetchLimits { connect_timeout: 2 * SHORT, first_byte_timeout: SHORT, ..ROOMY };
    let fetched = fetcher().fetch(request).await;
    let failure = fetched.result.unwrap_err();
    assert_eq!(failure.kind, Timeout);
    assert!(failure.detail.contains("no connection after 100ms"), "{}", failure.detail);
    assert!(fetched.request_headers.is_empty(), "nothing was sent");
}

#[tokio::test]
async fn large_bodies_take_turns_where_there_is_little_room() {
    const BYTES: usize = 700_000;
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + BYTES, b'x');
    let server = RawServer::answering(answer).await;
    let config = HttpConfig { in_flight_bytes_max: 1 << 20, ..config(AddressPolicy::AllowPrivate) };
    let fetcher = HttpFetcher::with_lookup(&config, Arc::new(Names::loopback())).unwrap();
    let fetches = (0..8).map(|_| fetcher.fetch(request(&server.url("/"))));
    for fetched in join_all(fetches).await {
        let response = response(fetched);
        assert_eq!((response.body.len(), response.truncated), (BYTES, None));
    }
}

#[tokio::test]
async fn a_large_body_that_drips_keeps_nobody_waiting() {
    const BYTES: usize = 400_000;
    let head = |bytes: usize| Step::send(format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n"));
    let drips = RawServer::start([head(1 << 20), Step::send(vec![b'x'; 300_000]), Step::Hold]).await;
    let quick = RawServer::start([head(BYTES), Step::send(vec![b'y'; BYTES])]).await;
    let config = HttpConfig { in_flight_bytes_max: 2 << 20, ..config(AddressPolicy::AllowPrivate) };
    let fetcher = HttpFetcher::with_lookup(&config, Arc::new(Names::loopback())).unwrap();
    let url = drips.url("/");
    let mut dripping = Box::pin(fetcher.fetch(request(&url)));
    let mut one = request(&quick.url("/"));
    one.limits = FetchLimits { total_timeout: 10 * ENOUGH_TO_BEGIN, ..ROOMY };
    // Enough time for the first one to have outgrown its share.
    assert!(tokio::time::timeout(ENOUGH_TO_BEGIN, &mut dripping).await.is_err(), "it drips");
    tokio::select! {
        _ = &mut dripping => panic!("it has no end"),
        fetched = fetcher.fetch(one) => {
            let response = response(fetched);
            assert_eq!((response.body.len(), response.truncated), (BYTES, None));
        }
    }
}
