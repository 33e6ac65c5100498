//! Requests that are repeated as their answer was lost: `Idempotency-Key`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use dragline_domain::ids::TriggerId;
use sha2::{Digest as _, Sha256};

use crate::backend::Backend;
use crate::extract::read_body;
use crate::problem::Problem;

/// The field.
const FIELD: &str = "idempotency-key";

/// The longest key, in bytes.
const KEY_BYTES_MAX: usize = 200;

/// The bytes of a digest in a trigger.
const DIGEST_BYTES: usize = 8;

/// The trigger of a request with a key.
#[derive(Clone)]
struct Keyed(TriggerId);

/// The trigger of a command: the same one for a request that is repeated with its key.
pub(crate) struct Trigger(pub(crate) TriggerId);

impl FromRequestParts<Arc<dyn Backend>> for Trigger {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, backend: &Arc<dyn Backend>) -> Result<Self, Problem> {
        let keyed = parts.extensions.get::<Keyed>();
        Ok(Self(keyed.map_or_else(|| backend.fresh_trigger(), |Keyed(trigger)| trigger.clone())))
    }
}

/// Finds the trigger of a request with a key. One that differs in anything is another request,
/// whatever its key, so none is taken for one that was answered before.
pub(crate) async fn read_key(request: Request, next: Next) -> Response {
    let key = match key(request.headers()) {
        Ok(None) => return next.run(request).await,
        Ok(Some(key)) => key,
        Err(problem) => return problem.into_response(),
    };
    let (mut parts, body) = request.into_parts();
    let bytes = match read_body(body).await {
        Ok(bytes) => bytes,
        Err(problem) => return problem.into_response(),
    };
    let mut digest = Sha256::new();
    for part in [parts.method.as_str().as_bytes(), parts.uri.path().as_bytes(), &bytes] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    let digest = HEXLOWER.encode(&digest.finalize()[..DIGEST_BYTES]);
    parts.extensions.insert(Keyed(TriggerId(format!("key-{key}-{digest}"))));
    next.run(Request::from_parts(parts, Body::from(bytes))).await
}

/// Returns the key of a request; `None` if it has none.
fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut fields = headers.get_all(FIELD).iter();
    let Some(field) = fields.next() else { return Ok(None) };
    let key = field.to_str().unwrap_or_default();
    if fields.next().is_some() || key.is_empty() || key.len() > KEY_BYTES_MAX {
        let detail = format!("the idempotency key is not one of up to {KEY_BYTES_MAX} characters of ASCII");
        return Err(Problem::bad_request(detail));
    }
    Ok(Some(key.to_owned()))
}
