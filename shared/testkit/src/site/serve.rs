//! Connections: accepting them, and what happens to each request on them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::access::{AccessLog, Arrival};
use super::answer::{Coding, answer, text};
use super::builder::Reply;
use super::content::Content;

/// How long to wait when no connection can be accepted, which is when files run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// What all connections of a site share.
pub(super) struct Shared {
    pub(super) content: Box<dyn Content>,
    pub(super) replies: HashMap<String, Reply>,
    pub(super) delay: Duration,
    pub(super) coding: Coding,
    pub(super) log: AccessLog,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("delay", &self.delay).field("coding", &self.coding).finish_non_exhaustive()
    }
}

/// Accepts connections until it is cancelled, which closes them all.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _peer)) => { connections.spawn(talk(stream, Arc::clone(&shared))); }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_ended) = connections.join_next() => {}
        }
    }
}

async fn talk(stream: TcpStream, shared: Arc<Shared>) {
    // Without it, an answer's last packet can wait 40 ms for an acknowledgement. A socket that refuses is only slower.
    let _slower = stream.set_nodelay(true);
    let respond = service_fn(|request| respond(request, &shared));
    // A client that hangs up in the middle is its own affair.
    let _broken = http1::Builder::new().serve_connection(TokioIo::new(stream), respond).await;
}

async fn respond(request: Request<Incoming>, shared: &Shared) -> Result<Response<Full<Bytes>>, Infallible> {
    let arrival = Arrival::now();
    let (request, _body) = request.into_parts();
    let response = decide(&request, shared);
    let body_bytes = response.body().size_hint().exact().unwrap_or_default();
    shared.log.note(arrival, &request, response.status(), usize::try_from(body_bytes).unwrap_or(usize::MAX));
    if !shared.delay.is_zero() {
        tokio::time::sleep(shared.delay).await;
    }
    Ok(response)
}

/// The answer to a request. Files are read here and now: they are small, and in the page cache of a machine that tests.
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
