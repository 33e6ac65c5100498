//! Connections: accepting them, and what happens to each request on them.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::GracefulConnection;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::access::{AccessLog, Arrival};
use super::answer::{Coding, answer, text};
use super::builder::Reply;
use super::content::Content;
use super::mood::{Mood, Moods, Nth};

/// How long to wait when no connection can be accepted because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// How long after a request its connection is closed where a mood closes it unannounced.
const CLOSE_AFTER: Duration = Duration::from_millis(1);

/// What all connections of a site share.
pub(super) struct Shared {
    pub(super) content: Box<dyn Content>,
    pub(super) replies: HashMap<String, Reply>,
    pub(super) delay: Duration,
    pub(super) coding: Coding,
    pub(super) log: AccessLog,
    pub(super) moods: Moods,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) requests: AtomicUsize,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("delay", &self.delay).field("coding", &self.coding).finish_non_exhaustive()
    }
}

/// Accepts connections until cancelled, which closes them all.
pub(super) async fn serve(mut listener: TcpListener, address: SocketAddr, shared: Arc<Shared>) {
    let (restart, mut restarts) = mpsc::unbounded_channel();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _peer)) => { connections.spawn(talk(stream, Arc::clone(&shared), restart.clone())); }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_ended) = connections.join_next() => {}
            Some(away) = restarts.recv() => {
                drop(listener);
                connections.shutdown().await;
                while restarts.try_recv().is_ok() {}
                tokio::time::sleep(away).await;
                listener = listen(address).await;
            }
        }
    }
}

/// Binds the port again, waiting while it is taken.
async fn listen(address: SocketAddr) -> TcpListener {
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// The error that closes a connection instead of answering.
#[derive(Debug)]
struct HungUp;

impl fmt::Display for HungUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server hung up")
    }
}

impl std::error::Error for HungUp {}

/// The versions of HTTP that are spoken here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Http11,
    Http2,
}

async fn talk(stream: TcpStream, shared: Arc<Shared>, restart: UnboundedSender<Duration>) {
    // Without it an answer's last packet can wait 40 ms for an acknowledgement. If it fails the
    // socket is only slower.
    let _slower = stream.set_nodelay(true);
    let Some(acceptor) = &shared.tls else { return talk_in(Version::Http11, stream, &shared, &restart).await };
    // A client that does not accept the certificate hangs up here.
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let agreed = stream.get_ref().1.alpn_protocol();
    let version = if agreed == Some(b"h2") { Version::Http2 } else { Version::Http11 };
    talk_in(version, stream, &shared, &restart).await;
}

async fn talk_in<S>(version: Version, stream: S, shared: &Arc<Shared>, restart: &UnboundedSender<Duration>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (closing, requests) = (Notify::new(), AtomicUsize::new(0));
    let service = service_fn(|request| {
        let nth = Nth {
            of_site: shared.requests.fetch_add(1, Ordering::Relaxed),
            of_connection: requests.fetch_add(1, Ordering::Relaxed),
        };
        let mood = shared.moods.at(nth);
        match mood {
            Mood::CloseAfter => closing.notify_one(),
            // Nobody receives it once the site is stopped.
            Mood::Restart(away) => drop(restart.send(away)),
            Mood::Good | Mood::HangUp | Mood::Refuse { .. } => {}
        }
        respond(request, mood, Arc::clone(shared))
    });
    let stream = TokioIo::new(stream);
    match version {
        Version::Http11 => until_closed(http1::Builder::new().serve_connection(stream, service), &closing).await,
        Version::Http2 => {
            until_closed(http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service), &closing).await;
        }
    }
}

/// Serves a connection until it ends, or until a moment after a request after which it is to be
/// closed.
async fn until_closed(connection: impl GracefulConnection, closing: &Notify) {
    let mut connection = pin!(connection);
    let close = async {
        closing.notified().await;
        tokio::time::sleep(CLOSE_AFTER).await;
    };
    tokio::select! {
        // A client may hang up in the middle.
        _broken = &mut connection => return,
        () = close => connection.as_mut().graceful_shutdown(),
    }
    let _broken = connection.await;
}

async fn respond(request: Request<Incoming>, mood: Mood, shared: Arc<Shared>) -> Result<Response<Full<Bytes>>, HungUp> {
    let arrival = Arrival::now();
    let (request, _body) = request.into_parts();
    let response = match mood {
        Mood::Good | Mood::CloseAfter => decide(&request, &shared),
        Mood::Refuse { status, retry_after_s } => refusal(status, retry_after_s),
        Mood::HangUp | Mood::Restart(_) => return Err(HungUp),
    };
    let body_bytes = response.body().size_hint().exact().unwrap_or_default();
    shared.log.note(arrival, &request, response.status(), usize::try_from(body_bytes).unwrap_or(usize::MAX));
    if !shared.delay.is_zero() {
        tokio::time::sleep(shared.delay).await;
    }
    Ok(response)
}

fn refusal(status: StatusCode, retry_after_s: Option<u32>) -> Response<Full<Bytes>> {
    let mut response = text(status, "not now\n");
    if let Some(seconds) = retry_after_s {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Answers a request. Files are read synchronously: they are small, and in the page cache during
/// tests.
fn decide(request: &http::request::Parts, shared: &Shared) -> Response<Full<Bytes>> {
    let path = request.uri.path();
    let target = request.uri.path_and_query().map_or(path, http::uri::PathAndQuery::as_str);
    if let Some(reply) = shared.replies.get(target).or_else(|| shared.replies.get(path)) {
        return reply.response();
    }
    if request.method != Method::GET {
        return text(StatusCode::METHOD_NOT_ALLOWED, "only GET\n");
    }
    match shared.content.find(path) {
        Ok(found) => answer(found, path, &request.headers, shared.coding),
        Err(_unreadable) => text(StatusCode::INTERNAL_SERVER_ERROR, "cannot be read\n"),
    }
}
