//! Entity tags (RFC 9110, section 8.8.3): an answer that a client has already is not sent again.

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// The largest answer that gets a tag, in bytes. Longer ones are streams.
const TAGGED_BYTES_MAX: u64 = 1 << 20;

/// The bytes of a digest in a tag.
const DIGEST_BYTES: usize = 16;

/// Gives an answer a tag, or leaves out its body if the client has it.
pub(crate) async fn tag(request: Request, next: Next) -> Response {
    if request.method() != Method::GET {
        return next.run(request).await;
    }
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let response = next.run(request).await;
    let is_short = response.body().size_hint().exact().is_some_and(|length| length <= TAGGED_BYTES_MAX);
    if response.status() != StatusCode::OK || !is_short {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let digest = Sha256::digest(&bytes);
    let tag = format!("\"{}\"", HEXLOWER.encode(&digest[..DIGEST_BYTES]));
    let is_known = known.is_some_and(|known| matches(&known, &tag));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        parts.headers.insert(header::ETAG, tag);
    }
    if is_known {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(header::CONTENT_LENGTH);
        return Response::from_parts(parts, Body::empty());
    }
    Response::from_parts(parts, Body::from(bytes))
}

/// Whether one of the tags that a client has is this one. They are compared weakly.
fn matches(known: &HeaderValue, tag: &str) -> bool {
    let known = known.to_str().unwrap_or_default();
    known.split(',').map(str::trim).any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_compared_weakly() {
        for (known, expected) in [
            ("\"a\"", true),
            ("W/\"a\"", true),
            ("\"b\", \"a\"", true),
            ("*", true),
            ("\"b\"", false),
            ("a", false),
            ("", false),
        ] {
            assert_eq!(matches(&HeaderValue::from_str(known).unwrap(), "\"a\""), expected, "{known}");
        }
    }
}
