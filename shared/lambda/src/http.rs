//! Requests to a function's URL, and their replies (Lambda's payload format 2.0).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use url::form_urlencoded;

use crate::run::ReplyCounts;

/// A request, reduced to what the functions read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, in upper case.
    pub method: String,
    /// The path, as sent.
    pub path: String,
    /// The decoded names and values of the query.
    query: Vec<(String, String)>,
}

/// A request in Lambda's format.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HttpEvent {
    raw_path: String,
    #[serde(default)]
    raw_query_string: String,
    request_context: Context,
}

#[derive(Deserialize)]
struct Context {
    http: Http,
}

#[derive(Deserialize)]
struct Http {
    method: String,
}

impl From<HttpEvent> for HttpRequest {
    fn from(event: HttpEvent) -> Self {
        let query = form_urlencoded::parse(event.raw_query_string.as_bytes()).into_owned().collect();
        Self { method: event.request_context.http.method, path: event.raw_path, query }
    }
}

impl HttpRequest {
    /// Returns the first value of a query parameter.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpReply {
    status_code: u16,
    headers: BTreeMap<&'static str, &'static str>,
    body: String,
}

impl HttpReply {
    /// Returns a JSON reply that must not be cached or sniffed.
    #[must_use]
    pub fn json(status: u16, body: &impl Serialize) -> Self {
        let headers = [
            ("cache-control", "no-store"),
            ("content-type", "application/json"),
            ("x-content-type-options", "nosniff"),
        ];
        let body = serde_json::to_string(body).unwrap_or_else(|error| {
            tracing::error!(%error, "a reply that is no JSON");
            "null".to_owned()
        });
        Self { status_code: status, headers: headers.into(), body }
    }

    /// Returns its status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status_code
    }

    /// Returns its body.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }
}

/// It has no messages.
impl ReplyCounts for HttpReply {}
