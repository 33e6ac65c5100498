//! An HTTP server on the loopback interface.

use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// Answers requests until the test's runtime ends; returns its address.
pub(super) async fn serve<F>(answer: impl Fn(Request<Incoming>) -> F + Send + Sync + 'static) -> SocketAddr
where
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            let respond = service_fn(move |request| {
                let answered = answer(request);
                async move { Ok::<_, Infallible>(answered.await) }
            });
            // A process that ends hangs up; that is not a failure of the server.
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), respond));
        }
    });
    address
}

/// Returns a JSON answer.
pub(super) fn json(status: u16, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let answer = Response::builder().status(status).header("content-type", "application/json");
    answer.body(Full::new(text.into())).unwrap()
}
