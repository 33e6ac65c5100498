//! The parts of a request. What cannot be read of them is answered with a problem.

use std::time::Duration;

use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;

use crate::problem::Problem;

/// The limit on a request's body, in bytes: that of a definition, and room for what is beside it.
pub(crate) const BODY_BYTES_MAX: usize = dragline_definition::TEXT_BYTES_MAX + (64 << 10);

/// How long a client may take to send a body.
const BODY_TIME_MAX: Duration = Duration::from_secs(30);

const BODY_HINT: &str = "/openapi.json describes the bodies; send `Content-Type: application/json`";

/// What a path names.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let named = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        let axum::extract::Path(named) = named.map_err(|rejection| Problem::not_found(rejection.body_text()))?;
        Ok(Self(named))
    }
}

/// The parameters of a request.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let axum::extract::Query(parameters) =
            axum::extract::Query::<T>::try_from_uri(&parts.uri).map_err(|rejection| {
                let text = rejection.body_text();
                // What is before the reason speaks of axum.
                let (_, reason) = text.split_once(": ").unwrap_or(("", &text));
                Problem::bad_request(format!("the parameters are not valid: {reason}"))
            })?;
        Ok(Self(parameters))
    }
}

/// The body of a request, as JSON. If all its fields may be absent, then so may it.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let text = read_body(body).await?;
        if !text.is_empty() && !is_json(&parts.headers) {
            let (title, detail) = ("unsupported media type", "the body is not sent as JSON");
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, title, detail).with_hint(BODY_HINT));
        }
        let text: &[u8] = if text.is_empty() { b"{}" } else { &text };
        let value: Value = serde_json::from_slice(text)
            .map_err(|error| Problem::bad_request(format!("the body is not valid JSON: {error}")))?;
        let unfit = |why: String| {
            let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "unprocessable content", why);
            problem.with_hint(BODY_HINT)
        };
        // A list would be taken for the fields in their order.
        if !value.is_object() {
            return Err(unfit("the body is no object".to_owned()));
        }
        serde_json::from_value(value).map(Self).map_err(|error| unfit(format!("the body does not fit: {error}")))
    }
}

/// Reads a body within the limits on its size and time.
///
/// # Errors
/// It passes one of them.
pub(crate) async fn read_body(body: axum::body::Body) -> Result<Bytes, Problem> {
    let read = timeout(BODY_TIME_MAX, to_bytes(body, BODY_BYTES_MAX)).await;
    let late = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "request timeout", "the body came too slowly");
    let long = |_| {
        let detail = format!("the body is longer than {BODY_BYTES_MAX} bytes, or was cut off");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "payload too large", detail)
    };
    read.map_err(late)?.map_err(long)
}

fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || essence.starts_with("application/") && essence.ends_with("+json")
}
