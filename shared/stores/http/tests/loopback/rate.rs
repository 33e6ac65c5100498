//! Bodies that are read no faster than they may be.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::address::AddressPolicy;
use dragline_http::{ByteRate, HttpConfig, HttpFetcher};
use dragline_ports::clock::Clock as _;
use dragline_ports::fetcher::{FetchFailureKind, FetchLimits, FetchRequest, Fetcher};
use dragline_ports::system::SystemClock;

use crate::support::{Names, ROOMY, RawServer, config, failure_kind, fetch, kept_body, request, response};

fn limited(change: impl FnOnce(&mut HttpConfig)) -> HttpFetcher {
    let mut config = config(AddressPolicy::AllowPrivate);
    change(&mut config);
    HttpFetcher::with_lookup(&config, Arc::new(Names::loopback())).unwrap()
}

fn answer(body_bytes: usize) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {body_bytes}\r\n\r\n{}", "x".repeat(body_bytes))
}

#[tokio::test]
async fn a_body_takes_as_long_as_the_rate_says_and_that_is_not_the_servers_time() {
    for (why, fetcher) in [
        ("the origin's rate", limited(|config| config.body_bytes_per_second = Some(100_000))),
        ("that of the process", limited(|config| config.rate = Some(ByteRate::new(100_000)))),
    ] {
        let server = RawServer::answering(answer(50_000)).await;
        let clock = SystemClock::new();
        let fetched = fetch(&fetcher, &server.url("/")).await;
        let took = clock.monotonic();
        assert!(took >= Duration::from_millis(500), "{why}: {took:?}");
        assert!(fetched.elapsed < took, "{why}: {:?} of {took:?}", fetched.elapsed);
        assert_eq!(kept_body(&response(fetched)).len(), 50_000, "{why}");
    }
}

#[tokio::test]
async fn what_comes_beyond_a_rate_is_kept_and_nothing_more_is_requested_for_now() {
    let server = RawServer::answering(answer(50_000)).await;
    let fetcher = limited(|config| config.rate = Some(ByteRate::new(1_000)));
    let limits = FetchLimits { total_timeout: Duration::from_millis(500), ..ROOMY };
    let fetched = fetcher.fetch(FetchRequest { limits, ..request(&server.url("/")) }).await;
    let response = response(fetched);
    assert_eq!((kept_body(&response).len(), response.truncated), (50_000, None), "the server is not to blame");
    let next = fetch(&fetcher, &server.url("/next")).await;
    assert_eq!(failure_kind(&next), Some(FetchFailureKind::NoRoom));
    assert_eq!(server.requests().len(), 1);
}
