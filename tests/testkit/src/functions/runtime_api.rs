//! A double of the Runtime API: it hands out events one after another, and records the function's
//! answers.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::{Method, Request, Response};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, Notify};

use super::loopback::{json, serve};

/// When invocations are ended, in milliseconds since 1970: in the year 2100, so never.
const DEADLINE_MS: &str = "4102444800000";

/// A function's answer to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Its reply.
    Reply(Value),
    /// The invocation failed, with this error.
    Failure(Value),
    /// It could not be set up, or requested something unknown.
    Strange(String),
}

/// The double.
pub(super) struct RuntimeApi {
    pub(super) address: SocketAddr,
    polled: Arc<Notify>,
    events: UnboundedSender<Value>,
    answers: UnboundedReceiver<Answer>,
}

/// What its connections share.
struct Shared {
    polled: Arc<Notify>,
    events: Mutex<UnboundedReceiver<Value>>,
    answers: UnboundedSender<Answer>,
}

impl RuntimeApi {
    pub(super) async fn start() -> Self {
        let ((events, pending), (answered, answers)) = (unbounded_channel(), unbounded_channel());
        let polled = Arc::new(Notify::new());
        let shared = Arc::new(Shared { polled: Arc::clone(&polled), events: Mutex::new(pending), answers: answered });
        let address = serve(move |request| respond(Arc::clone(&shared), request)).await;
        Self { address, polled, events, answers }
    }

    /// Returns once the function has asked for its first event.
    pub(super) async fn first_poll(&self) {
        self.polled.notified().await;
    }

    /// Hands out an event, and waits for the answer.
    pub(super) async fn invoke(&mut self, event: Value) -> Answer {
        self.events.send(event).unwrap();
        self.answers.recv().await.unwrap()
    }
}

async fn respond(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    if request.method() == Method::GET && path == "/2018-06-01/runtime/invocation/next" {
        shared.polled.notify_one();
        let Some(event) = shared.events.lock().await.recv().await else { return json(410, "{}") };
        let mut next = json(200, event.to_string());
        for (name, value) in [
            ("lambda-runtime-aws-request-id", "00000000-0000-4000-8000-000000000000"),
            ("lambda-runtime-deadline-ms", DEADLINE_MS),
            ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:us-east-1:123456789012:function:test"),
        ] {
            next.headers_mut().insert(name, value.parse().unwrap());
        }
        return next;
    }
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let said = || serde_json::from_slice(&body).unwrap();
    let answer = match path.rsplit('/').next() {
        Some("response") => Answer::Reply(said()),
        Some("error") if path.contains("/invocation/") => Answer::Failure(said()),
        _ => Answer::Strange(format!("{path}: {}", String::from_utf8_lossy(&body))),
    };
    // The test may be over.
    _ = shared.answers.send(answer);
    json(202, "{}")
}
