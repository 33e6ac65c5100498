//! Refuses requests that a page of another site made a browser send.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// The names by which the server is known.
///
/// A page whose own name resolves to this machine (DNS rebinding) would otherwise read everything:
/// its browser takes it for the same site. And a page may send a form anywhere: such requests have
/// a foreign `Origin`.
#[derive(Clone, Debug, Default)]
pub struct HostCheck {
    names: Names,
}

#[derive(Clone, Debug)]
enum Names {
    /// These, besides `localhost` and addresses.
    Listed(Vec<String>),
    /// Whatever a request was routed by.
    Routed,
}

impl Default for Names {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl HostCheck {
    /// Returns a check that takes these names, besides `localhost` and addresses.
    #[must_use]
    pub fn new(names: Vec<String>) -> Self {
        Self { names: Names::Listed(names) }
    }

    /// Returns a check that takes every name: that of a server on no network that a page could
    /// reach by a name of its own, as what is before it finds it by its name alone.
    #[must_use]
    pub const fn routed() -> Self {
        Self { names: Names::Routed }
    }

    fn is_known(&self, host: &str) -> bool {
        let Names::Listed(names) = &self.names else { return true };
        let name = without_port(host);
        let is_address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>().is_ok();
        is_address
            || name.eq_ignore_ascii_case("localhost")
            || names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Returns the problem of a request that is not answered.
    fn refuse(&self, method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        // Whoever reads the other one would come to another conclusion (RFC 9112, section 3.2).
        for name in [header::HOST, header::ORIGIN] {
            if headers.get_all(&name).iter().count() > 1 {
                return Err(Problem::bad_request(format!("the request has several fields `{name}`")));
            }
        }
        let host = text(header::HOST).unwrap_or_default();
        if !self.is_known(host) {
            let problem = Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
                "unknown host",
                format!("`{host}` is no name of this server"),
            );
            return Err(problem.with_hint("name it with `dragline serve --host NAME`"));
        }
        let is_read = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
        let is_foreign = text(header::ORIGIN)
            .is_some_and(|origin| origin.split_once("://").is_none_or(|(_, name)| !name.eq_ignore_ascii_case(host)));
        // Browsers send it even where they leave out the origin.
        let is_cross_site = text(HeaderName::from_static("sec-fetch-site")).is_some_and(|from| from == "cross-site");
        if !is_read && (is_foreign || is_cross_site) {
            return Err(Problem::new(StatusCode::FORBIDDEN, "foreign origin", "a page of another site sent this"));
        }
        Ok(())
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

/// Checks a request, and adds the header fields that each answer has.
pub(crate) async fn guard(State(check): State<Arc<HostCheck>>, request: Request, next: Next) -> Response {
    let mut response = match check.refuse(request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let fields = response.headers_mut();
    for (name, value) in [
        (
            "content-security-policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
        ("x-content-type-options", "nosniff"),
        // Not `no-referrer`, with which the forms of the page itself would have the origin `null`.
        ("referrer-policy", "same-origin"),
        ("cache-control", "private, no-cache"),
    ] {
        fields.entry(HeaderName::from_static(name)).or_insert(HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_to_a_known_name_are_answered() {
        let check = HostCheck::new(vec!["crawls.example".to_owned()]);
        let site = |host: &'static str, origin: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static(host));
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
            }
            headers
        };
        for (method, host, origin, expected, why) in [
            (Method::GET, "127.0.0.1:7878", None, None, "an address"),
            (Method::GET, "[::1]:7878", None, None, "of the sixth version"),
            (Method::GET, "localhost:7878", None, None, "this machine"),
            (Method::GET, "CRAWLS.example", None, None, "a given name, in any case"),
            (Method::GET, "evil.example:7878", None, Some(421), "a name that resolves to this machine"),
            (Method::GET, "", None, Some(421), "no name"),
            (Method::GET, "localhost.evil.example", None, Some(421), "another one"),
            (Method::POST, "localhost:7878", Some("http://localhost:7878"), None, "the page itself"),
            (Method::POST, "localhost:7878", None, None, "a program"),
            (Method::POST, "localhost:7878", Some("https://evil.example"), Some(403), "a form of another site"),
            (Method::POST, "localhost:7878", Some("http://localhost:80"), Some(403), "another port"),
            (Method::POST, "localhost:7878", Some("null"), Some(403), "a sandboxed frame"),
            (
                Method::GET,
                "localhost:7878",
                Some("https://evil.example"),
                None,
                "the browser keeps the answer to itself",
            ),
        ] {
            let status = check.refuse(&method, &site(host, origin)).err().map(|problem| problem.status);
            assert_eq!(status, expected, "{method} {host} from {origin:?}: {why}");
        }
        let routed = |origin| {
            let headers = site("named.by.aws.example", origin);
            HostCheck::routed().refuse(&Method::POST, &headers).err().map(|problem| problem.status)
        };
        assert_eq!(routed(None), None, "what is before the server chose it by the name");
        assert_eq!(routed(Some("https://evil.example")), Some(403), "and a form of another site is one, too");
        for (name, value, expected, why) in [
            ("host", "evil.example", Some(400), "a second name"),
            ("origin", "https://evil.example", Some(400), "a second origin"),
            ("sec-fetch-site", "cross-site", Some(403), "a page of another site"),
            ("sec-fetch-site", "same-origin", None, "the page itself"),
        ] {
            let mut headers = site("localhost", Some("http://localhost"));
            headers.append(name, HeaderValue::from_static(value));
            let status = check.refuse(&Method::POST, &headers).err().map(|problem| problem.status);
            assert_eq!(status, expected, "{name}: {value}: {why}");
        }
    }
}
