//! Test support: servers that misbehave on purpose, test names, and requests with roomy limits.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use dragline_domain::address::AddressPolicy;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_http::{HttpConfig, HttpFetcher, NameLookup};
use dragline_ports::fetcher::{FetchFailureKind, FetchLimits, FetchOutcome, FetchRequest, FetchedResponse, Fetcher};
use dragline_testkit::hostile::{Authority, Flaw, HostileSite, Step, TlsAcceptor, Version};
use futures_util::future::BoxFuture;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

/// Limits that no well-behaved server exceeds, even on a busy machine.
pub(crate) const ROOMY: FetchLimits = FetchLimits {
    connect_timeout: Duration::from_secs(20),
    first_byte_timeout: Duration::from_secs(20),
    total_timeout: Duration::from_secs(40),
    header_bytes_max: 64 << 10,
    body_bytes_max: 4 << 20,
    file_bytes_max: Some(4 << 20),
    decoded_bytes_max: 4 << 20,
};

/// For events that never happen.
pub(crate) const SHORT: Duration = Duration::from_millis(50);

/// For events that begin even on a busy machine, and never end.
pub(crate) const ENOUGH_TO_BEGIN: Duration = Duration::from_millis(500);

pub(crate) fn config(address_policy: AddressPolicy) -> HttpConfig {
    HttpConfig { address_policy, ..HttpConfig::new("dragline-test/1.0") }
}

/// A fetcher that connects to the loopback interface, and resolves every name under `.test` to it.
pub(crate) fn fetcher() -> HttpFetcher {
    HttpFetcher::with_lookup(&config(AddressPolicy::AllowPrivate), Arc::new(Names::loopback())).unwrap()
}

pub(crate) fn request(url: &str) -> FetchRequest {
    let url = CrawlUrl::parse(url, &UrlRules::default()).unwrap();
    FetchRequest::new(url, ROOMY)
}

pub(crate) async fn fetch(fetcher: &HttpFetcher, url: &str) -> FetchOutcome {
    fetcher.fetch(request(url)).await
}

pub(crate) fn response(fetched: FetchOutcome) -> FetchedResponse {
    fetched.result.expect("a response")
}

/// The body that was kept of a response.
pub(crate) fn kept_body(response: &FetchedResponse) -> Bytes {
    response.body.bytes().unwrap()
}

pub(crate) fn failure_kind(fetched: &FetchOutcome) -> Option<FetchFailureKind> {
    fetched.result.as_ref().err().map(|failure| failure.kind)
}

/// Resolves the configured names, and every one under `.test` to 127.0.0.1; counts the lookups.
pub(crate) struct Names {
    known: HashMap<String, Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl Names {
    pub(crate) fn loopback() -> Self {
        Self::new(&[])
    }

    pub(crate) fn new(known: &[(&str, &[&str])]) -> Self {
        let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let known = known.iter().map(|(name, addresses)| ((*name).to_owned(), parse(addresses))).collect();
        Self { known, asked: AtomicUsize::new(0) }
    }

    pub(crate) fn lookups(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl NameLookup for Names {
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let found = match self.known.get(host) {
            Some(addresses) => Ok(addresses.clone()),
            None if host.ends_with(".test") => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
            None => Err(io::Error::other("no such name")),
        };
        Box::pin(async { found })
    }
}

/// Performs the same steps on each connection and then closes it.
pub(crate) struct RawServer(HostileSite);

impl RawServer {
    pub(crate) async fn start(steps: impl IntoIterator<Item = Step>) -> Self {
        let steps: Vec<Step> = steps.into_iter().collect();
        Self(HostileSite::start(move |_| steps.clone()).await)
    }

    /// A server that answers one request per connection with this text.
    pub(crate) async fn answering(text: impl Into<Bytes>) -> Self {
        Self::start([Step::send(text)]).await
    }

    /// A server that answers two requests per connection, and announces that it then closes it:
    /// otherwise the client might not notice in time.
    pub(crate) async fn answering_twice() -> Self {
        let first = Step::send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        let last = Step::send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
        Self::start([first, Step::NextRequest, last]).await
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.address()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        self.0.named("site.test", path)
    }

    pub(crate) fn connections(&self) -> usize {
        self.0.connections()
    }

    /// The headers of the requests, as received.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.0.log().into_iter().map(|asked| asked.head).collect()
    }
}

/// Answers every request with its HTTP version as the text, and with a field as long as the number
/// in the path.
pub(crate) struct TlsServer {
    address: SocketAddr,
}

impl TlsServer {
    /// A server for `site.test` with a certificate of this authority.
    pub(crate) async fn start(authority: &Authority, flaw: Flaw, version: Version) -> Self {
        Self::showing(authority.acceptor("site.test", flaw, version), version).await
    }

    /// A server that uses this acceptor.
    pub(crate) async fn showing(acceptor: TlsAcceptor, version: Version) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // A client that does not accept the certificate hangs up here.
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let stream = TokioIo::new(stream);
                    let _ = match version {
                        Version::Http11 => http1::Builder::new().serve_connection(stream, service_fn(answer)).await,
                        Version::Http2 | Version::Both => {
                            http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service_fn(answer)).await
                        }
                    };
                });
            }
        });
        Self { address }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://site.test:{}{path}", self.address.port())
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<reqwest::Body>, Infallible> {
    let long = "x".repeat(request.uri().path()[1..].parse().unwrap_or_default());
    let host = format!("{:?}", request.headers().get("host"));
    let fields = Response::builder().header("x-host", host).header("x-long", long);
    Ok(fields.body(format!("{:?}", request.version()).into()).unwrap())
}
