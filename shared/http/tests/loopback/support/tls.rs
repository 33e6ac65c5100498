//! A server that shows certificates of our own.

use std::convert::Infallible;
use std::net::SocketAddr;

use dragline_testkit::hostile::{Authority, Flaw, TlsAcceptor, Version};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

/// Answers every request with its HTTP version as the text, and with a field as long as the path's number says.
pub(crate) struct TlsServer {
    address: SocketAddr,
}

impl TlsServer {
    /// A server for `site.test` with a certificate of this authority.
    pub(crate) async fn start(authority: &Authority, flaw: Flaw, version: Version) -> Self {
        Self::showing(authority.acceptor("site.test", flaw, version), version).await
    }

    /// A server that shows what this makes it show.
    pub(crate) async fn showing(acceptor: TlsAcceptor, version: Version) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // A client that does not like the certificate hangs up here.
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let stream = TokioIo::new(stream);
                    let _ = match version {
                        Version::Http11 => http1::Builder::new().serve_connection(stream, service_fn(answer)).await,
                        Version::Http2 => {
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
