//! Answers requests to the function's URL by the API.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse as _;
use dragline_lambda::{DynamoFrontier, Event, HttpReply, REPLY_BYTES_MAX, RunError};
use dragline_service::{Backend, PeerAddress, Problem, SentWhole};
use tower_service::Service as _;

use super::links::refresh_all;

/// The API of a stack.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) router: Router,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) frontier: DynamoFrontier,
    /// How rows are printed without a limit, for a hint.
    pub(crate) export_hint: String,
}

impl Api {
    /// Answers a request. A reply that Lambda would not send is replaced by a problem. At a tick,
    /// definitions that are files are read again, and nobody reads the reply.
    ///
    /// # Errors
    /// It is neither, or the tick does not know which definitions are files.
    pub(crate) async fn handle(self, event: Event) -> Result<HttpReply, RunError> {
        let request = match event {
            Event::Request(request) => request,
            Event::Tick => {
                refresh_all(&*self.backend, &self.frontier).await?;
                return Ok(HttpReply::from_http(Response::default())?);
            }
            Event::Messages(_) => return Err("messages of a queue are none for this function".into()),
        };
        let sender = request.sender();
        let response = match request.into_http() {
            Ok(request) => {
                let mut request = request.map(Body::from);
                request.extensions_mut().insert(SentWhole);
                if let Some(sender) = sender {
                    request.extensions_mut().insert(PeerAddress(sender));
                }
                let mut router = self.router.clone();
                match router.call(request).await {
                    Ok(response) => response,
                    Err(never) => match never {},
                }
            }
            Err(error) => Problem::bad_request(error.to_string()).into_response(),
        };
        match reply(response).await {
            Some(reply) => Ok(reply),
            None => {
                let too_large = reply(self.too_large().into_response()).await;
                too_large.ok_or_else(|| "a problem is too large".into())
            }
        }
    }

    fn too_large(&self) -> Problem {
        let detail = "the answer is longer than the 6 MB that the URL of a function can send, or broke off";
        let problem = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "answer too large", detail);
        problem.with_hint(format!("ask for less, such as with `limit` and `cursor`; {}", self.export_hint))
    }
}

/// Returns a response as a reply; `None` if it is too large, or breaks off.
async fn reply(response: Response<Body>) -> Option<HttpReply> {
    let (parts, body) = response.into_parts();
    // No more is read than could be sent.
    let body = to_bytes(body, REPLY_BYTES_MAX).await.ok()?;
    HttpReply::from_http(Response::from_parts(parts, body)).ok()
}
