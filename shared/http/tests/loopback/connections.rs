//! How many connections stay open.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dragline_domain::address::AddressPolicy;
use dragline_http::{HttpConfig, HttpFetcher};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{Names, config, fetch, response};

/// A server that keeps every connection, and counts those that are open.
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
        assert_eq!(response.body.as_ref(), b"hi");
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
    assert_eq!((names.asked(), open.load(Ordering::SeqCst)), (1, 1));
}
