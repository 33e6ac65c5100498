//! The number of open connections.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragline_domain::address::AddressPolicy;
use dragline_http::{HttpConfig, HttpFetcher};
use dragline_ports::fetcher::{
    ConnectionChoice, ConnectionWatch, FetchFailureKind, FetchLimits, FetchRequest, Fetcher, UnprocessedReason,
};
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{Names, config, fetch, fetcher, kept_body, request, response};

/// A server that keeps every connection open, and counts the open ones.
async fn keeper() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, open) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&open);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let open = Arc::clone(&counted);
            open.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut head = [0; 4096];
                while stream.read(&mut head).await.is_ok_and(|bytes| bytes > 0) {
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await.unwrap();
                }
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    (port, open)
}

#[tokio::test]
async fn idle_connections_have_a_bound_over_all_hosts() {
    let (port, open) = keeper().await;
    let config = HttpConfig { idle_connections_max: 5, ..config(AddressPolicy::AllowPrivate) };
    let fetcher = HttpFetcher::with_lookup(&config, Arc::new(Names::loopback())).unwrap();
    for host in 0..60 {
        let response = response(fetch(&fetcher, &format!("http://host-{host}.test:{port}/")).await);
        assert_eq!(&kept_body(&response)[..], b"hi");
    }
    let closed = async {
        while open.load(Ordering::SeqCst) > 5 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let closed = tokio::time::timeout(Duration::from_secs(10), closed).await;
    assert!(closed.is_ok(), "{} connections stay open", open.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_request() {
    let (port, open) = keeper().await;
    let names = Arc::new(Names::loopback());
    let config = HttpConfig { idle_connections_max: 5, ..config(AddressPolicy::AllowPrivate) };
    let fetcher = HttpFetcher::with_lookup(&config, Arc::<Names>::clone(&names)).unwrap();
    for _ in 0..20 {
        response(fetch(&fetcher, &format!("http://one.test:{port}/")).await);
    }
    assert_eq!((names.lookups(), open.load(Ordering::SeqCst)), (1, 1));
}

/// The observer's events about connections.
#[derive(Debug, Default)]
struct ConnectionEvents(Mutex<Vec<&'static str>>);

impl ConnectionWatch for ConnectionEvents {
    fn connecting(&self) {
        self.0.lock().unwrap().push("connecting");
    }

    fn connected(&self) {
        self.0.lock().unwrap().push("connected");
    }
}

/// Returns the observer's events for one request, and whether the request was answered.
async fn observe_connection(fetcher: &HttpFetcher, request: FetchRequest) -> (Vec<&'static str>, bool) {
    let told = Arc::new(ConnectionEvents::default());
    let watch: Arc<dyn ConnectionWatch> = told.clone();
    let fetched = fetcher.fetch(FetchRequest { watch: Some(watch), ..request }).await;
    let told = told.0.lock().unwrap().clone();
    (told, fetched.result.is_ok())
}

#[tokio::test]
async fn an_observer_learns_when_a_request_on_a_new_connection_leaves() {
    let (port, _) = keeper().await;
    let fetcher = fetcher();
    for (expected, why) in [(vec!["connecting", "connected"], "a new connection"), (vec![], "it was kept")] {
        assert_eq!(
            observe_connection(&fetcher, request(&format!("http://one.test:{port}/"))).await,
            (expected, true),
            "{why}"
        );
    }
}

#[tokio::test]
async fn an_observer_learns_that_connecting_ended_however_it_ended() {
    // Nobody accepts from the listener's queue: TCP connects, and TLS never begins.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent_port = silent.local_addr().unwrap().port();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed_port = closed.local_addr().unwrap().port();
    drop(closed);
    let short = |request: FetchRequest, connect_ms, total_ms| {
        let limits = FetchLimits {
            connect_timeout: Duration::from_millis(connect_ms),
            total_timeout: Duration::from_millis(total_ms),
            ..request.limits
        };
        FetchRequest { limits, ..request }
    };
    let fetcher = fetcher();
    for (request, why) in [
        (request(&format!("http://one.test:{closed_port}/")), "it was refused"),
        (request("http://nobody.invalid/"), "the name leads nowhere"),
        (short(request(&format!("https://one.test:{silent_port}/")), 50, 60_000), "it took too long"),
        (short(request(&format!("https://one.test:{silent_port}/")), 60_000, 50), "the request took too long"),
    ] {
        for _ in 0..20 {
            let (told, is_answered) = observe_connection(&fetcher, request.clone()).await;
            // An event that begins and ends at once may go unnoticed.
            assert!(matches!(told[..], [] | ["connecting", "connected"]), "{why}: {told:?}");
            assert!(!is_answered, "{why}");
        }
    }
    let told = Arc::new(ConnectionEvents::default());
    let watch: Arc<dyn ConnectionWatch> = told.clone();
    let url = format!("https://one.test:{silent_port}/");
    let given_up = fetcher.fetch(FetchRequest { watch: Some(watch), ..request(&url) });
    assert!(tokio::time::timeout(Duration::from_millis(50), given_up).await.is_err());
    assert_eq!(*told.0.lock().unwrap(), ["connecting", "connected"], "nobody waits for it any more");
}

/// A server's action on a connection after its answer.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// Closes it a moment later, without announcing it.
    Closes,
    /// Reads the next request, and closes it.
    HangsUp,
    /// Reads the next request, and resets it.
    Resets,
    /// Reads the next request, and answers that it came too late.
    TimesOut,
}

/// A server that answers once on each connection, except that it never answers on the first
/// `silent` ones. Counts the requests that it read.
async fn moody(then: Then, silent: usize) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, requests) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&requests);
    tokio::spawn(async move {
        let mut connections = 0;
        while let Ok((mut stream, _)) = listener.accept().await {
            connections += 1;
            let (requests, answers) = (Arc::clone(&counted), connections > silent);
            tokio::spawn(async move {
                let mut head = [0; 4096];
                let _read = stream.read(&mut head).await;
                requests.fetch_add(1, Ordering::SeqCst);
                if !answers {
                    return;
                }
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await.unwrap();
                match then {
                    Then::Closes => tokio::time::sleep(Duration::from_millis(1)).await,
                    Then::HangsUp | Then::Resets | Then::TimesOut => {
                        let next = stream.read(&mut head).await;
                        requests.fetch_add(usize::from(next.is_ok_and(|bytes| bytes > 0)), Ordering::SeqCst);
                    }
                }
                if matches!(then, Then::TimesOut) {
                    let late = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
                    stream.write_all(late).await.unwrap();
                }
                if matches!(then, Then::Resets) {
                    stream.set_zero_linger().unwrap();
                }
            });
        }
    });
    (port, requests)
}

#[tokio::test]
async fn a_request_on_a_connection_that_ended_was_not_processed_and_one_on_a_new_one_is_answered() {
    for then in [Then::Closes, Then::HangsUp, Then::Resets, Then::TimesOut] {
        for at_once in [1, 8] {
            let (port, requests) = moody(then, 0).await;
            let config = HttpConfig { idle_connections_per_host_max: 8, ..config(AddressPolicy::AllowPrivate) };
            let fetcher = HttpFetcher::with_lookup(&config, Arc::new(Names::loopback())).unwrap();
            let url = format!("http://one.test:{port}/");
            let mut sent = 0;
            for round in 0..20 {
                let answers = join_all((0..at_once).map(|_| fetch(&fetcher, &url))).await;
                sent += answers.len();
                for fetched in answers {
                    let is_answered = fetched.result.as_ref().is_ok_and(|response| response.status == 200);
                    if is_answered {
                        continue;
                    }
                    let why = format!("{then:?}, {at_once} at once, round {round}: {:?}", fetched.result);
                    assert_eq!(fetched.unprocessed, Some(UnprocessedReason::ConnectionEnded), "{why}");
                    let again = FetchRequest { connection: ConnectionChoice::New, ..request(&url) };
                    assert_eq!(response(fetcher.fetch(again).await).status, 200, "{why}");
                    sent += 1;
                }
            }
            assert!(requests.load(Ordering::SeqCst) <= sent, "{then:?}: no request leaves that was not asked for");
        }
    }
}

#[tokio::test]
async fn a_new_connection_that_is_closed_is_one() {
    let (port, requests) = moody(Then::Closes, 1).await;
    let fetcher = HttpFetcher::with_lookup(&config(AddressPolicy::AllowPrivate), Arc::new(Names::loopback())).unwrap();
    let url = format!("http://one.test:{port}/");
    let failure = fetch(&fetcher, &url).await.result.unwrap_err();
    assert_eq!((failure.kind, requests.load(Ordering::SeqCst)), (FetchFailureKind::Connect, 1), "not asked twice");
    assert!(fetch(&fetcher, &url).await.result.is_ok());
}
