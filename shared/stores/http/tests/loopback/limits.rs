//! Servers that are slow, endless, wrong or down.

use std::io::Write;
use std::pin::pin;
use std::sync::Arc;

use dragline_domain::address::AddressPolicy;
use dragline_formats::blob::Spool;
use dragline_formats::warc::Sha1Digest;
use dragline_http::{HttpConfig, HttpFetcher};
use dragline_ports::fetcher::FetchFailureKind::{self, Connect, Protocol, Timeout};
use dragline_ports::fetcher::Truncation::{self, Disconnect, Length, Time};
use dragline_ports::fetcher::{BodyLimit, FetchLimits, FetchRequest, Fetcher};
use dragline_testkit::hostile::Step;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::future::join_all;

use crate::support::{
    ENOUGH_TO_BEGIN, Names, ROOMY, RawServer, SHORT, config, failure_kind, fetcher, kept_body, request, response,
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
        assert_eq!((&kept_body(&response)[..], response.truncated), (body.as_bytes(), truncated), "{why}");
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
        assert!(body.starts_with(&kept_body(&response)), "{why}");
        assert!(truncated.is_some() || response.body.len_bytes() == body.len() as u64, "{why}");
    }
}

#[tokio::test]
async fn the_part_before_a_reset_is_kept() {
    let steps = [Step::send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), Step::Reset];
    let server = RawServer::start(steps).await;
    let response = response(fetcher().fetch(request(&server.url("/"))).await);
    assert_eq!((&kept_body(&response)[..], response.truncated), (b"abc".as_slice(), Some(Disconnect)));
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
        assert_eq!((response.body.len_bytes(), response.truncated), (BYTES as u64, None));
    }
}

#[tokio::test]
async fn a_slow_large_body_does_not_delay_others() {
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
            assert_eq!((response.body.len_bytes(), response.truncated), (BYTES as u64, None));
        }
    }
}

#[tokio::test]
async fn the_bytes_of_a_body_under_way_are_counted() {
    for content_type in ["text/html", "image/png"] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: 9000000\r\n\r\n");
        let server = RawServer::start([Step::send(head), Step::send(vec![b'x'; 300_000]), Step::Hold]).await;
        let config = config(AddressPolicy::AllowPrivate);
        let fetcher = HttpFetcher::with_lookup(&config, Arc::new(Names::loopback())).unwrap();
        let limits = FetchLimits { file_bytes_max: Some(16 << 20), ..ROOMY };
        let mut fetching = pin!(fetcher.fetch(FetchRequest { limits, ..request(&server.url("/")) }));
        let counted = async {
            while config.arriving.get() < 300_000 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = &mut fetching => panic!("it has no end"),
            () = counted => assert_eq!(config.arriving.get(), 300_000, "{content_type}"),
        }
    }
    let server = RawServer::start([Step::send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")]).await;
    let config = config(AddressPolicy::AllowPrivate);
    let fetcher = HttpFetcher::with_lookup(&config, Arc::new(Names::loopback())).unwrap();
    assert_eq!(response(fetcher.fetch(request(&server.url("/"))).await).body.len_bytes(), 3);
    assert_eq!(config.arriving.get(), 0, "it has arrived");
}

/// The repeated part of bodies: its length is not a power of two.
const PART: &[u8] = b"a part of thirty-seven bytes, no less";

/// A type, the size of a body sent with it, and the result: the bytes kept, whether in memory, and
/// why it is cut.
type Sized = (&'static str, usize, u64, bool, Option<Truncation>, &'static str);

#[tokio::test]
async fn a_body_that_is_not_read_has_a_limit_of_its_own_and_waits_on_disk() {
    const KIB: usize = 1 << 10;
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::new(folder.path(), u64::MAX);
    let limits = FetchLimits {
        body_bytes_max: 1_200 * KIB,
        file_bytes_max: Some(2_000 << 10),
        decoded_bytes_max: 1_500 << 10,
        ..ROOMY
    };
    let config = HttpConfig { spool, ..config(AddressPolicy::AllowPrivate) };
    let fetcher = HttpFetcher::with_lookup(&config, Arc::new(Names::loopback())).unwrap();
    let cases: [Sized; 7] = [
        ("text/html", 1_200 * KIB, 1_200 << 10, true, None, "a page: in memory, just at its limit"),
        ("text/html", 1_200 * KIB + 1, 1_200 << 10, true, Some(Length), "a page a byte over it"),
        ("image/png", 1_024 * KIB, 1 << 20, true, None, "a short picture"),
        ("image/png", 1_200 * KIB + 1, (1_200 << 10) + 1, false, None, "a picture as long as no page may be"),
        ("image/png", 2_000 * KIB, 2_000 << 10, false, None, "at its limit, beyond that of what is decompressed"),
        ("image/png", 2_000 * KIB + 1, 2_000 << 10, false, Some(Length), "a byte over it"),
        ("application/zip", 4_000 * KIB, 2_000 << 10, false, Some(Length), "far over it"),
    ];
    for (content_type, bytes, kept, is_in_memory, truncated, why) in cases {
        let body = PART.repeat(bytes / PART.len() + 1)[..bytes].to_vec();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {bytes}\r\n\r\n");
        let server = RawServer::start([Step::send(head), Step::send(body.clone())]).await;
        let request = FetchRequest { limits, ..request(&server.url("/")) };
        let response = response(fetcher.fetch(request).await);
        assert_eq!((response.body.len_bytes(), response.truncated), (kept, truncated), "{why}");
        assert_eq!(response.body.in_memory().is_some(), is_in_memory, "{why}");
        let sent = &body[..usize::try_from(kept).unwrap()];
        assert!(kept_body(&response) == sent, "{why}");
        assert_eq!((response.decoded_bytes, response.decoded_sha1), (kept, sha1(sent)), "{why}");
        let limit = match (truncated, content_type) {
            (None, _) => None,
            (Some(_), "text/html") => Some(BodyLimit::Received),
            (Some(_), _) => Some(BodyLimit::File),
        };
        assert_eq!(limits.cutting_limit(&response), limit, "{why}");
    }
}

#[tokio::test]
async fn a_body_that_is_not_read_is_measured_without_its_coding_if_it_has_that() {
    let plain: Vec<u8> =
        (0_u32..).flat_map(|n| (n.wrapping_mul(0x9E37_79B9)).to_be_bytes()).take(1_500 << 10).collect();
    let limits = FetchLimits { file_bytes_max: Some(16 << 20), ..ROOMY };
    for (body, decoded, why) in [
        (gzip(&plain), &plain, "a script that is compressed"),
        (plain.clone(), &plain, "a coding that was named and not applied"),
    ] {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n";
        let server = RawServer::start([Step::send(head), Step::send(body.clone())]).await;
        let request = FetchRequest { limits, ..request(&server.url("/")) };
        let response = response(fetcher().fetch(request).await);
        assert!(response.body.in_memory().is_none() && kept_body(&response) == body, "{why}: as it was received");
        assert_eq!((response.decoded_bytes, response.decoded_sha1), (decoded.len() as u64, sha1(decoded)), "{why}");
    }
}

#[tokio::test]
async fn without_room_on_disk_a_body_is_cut_where_it_ends_and_others_are_not() {
    let spool = Spool::new(std::env::temp_dir(), 2 << 20);
    let config = HttpConfig { spool, ..config(AddressPolicy::AllowPrivate) };
    let fetcher = HttpFetcher::with_lookup(&config, Arc::new(Names::loopback())).unwrap();
    for (content_type, bytes, limit, why) in [
        ("video/mp4", 8 << 20, Some(BodyLimit::Disk), "no room for all of it"),
        ("text/html", 3 << 20, None, "a page needs none"),
        ("video/mp4", 1 << 20, None, "a short video needs none"),
        ("video/mp4", 2 << 20, None, "the room of the first one came back"),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {bytes}\r\n\r\n");
        let server = RawServer::start([Step::send(head), Step::send(vec![7; bytes])]).await;
        // It waits for room as long as it may take.
        let total_timeout = if limit.is_some() { 4 * ENOUGH_TO_BEGIN } else { ROOMY.total_timeout };
        let limits = FetchLimits { file_bytes_max: Some(16 << 20), total_timeout, ..ROOMY };
        let response = response(fetcher.fetch(FetchRequest { limits, ..request(&server.url("/")) }).await);
        assert_eq!(limits.cutting_limit(&response), limit, "{why}: {:?}", response.truncated);
        let is_whole = response.body.len_bytes() == bytes as u64;
        assert!(is_whole == limit.is_none() && response.body.len_bytes() >= 1 << 20, "{why}: {:?}", response.body);
    }
}

fn sha1(bytes: &[u8]) -> [u8; 20] {
    *Sha1Digest::compute(bytes).as_bytes()
}
