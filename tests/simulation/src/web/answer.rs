//! What servers answer.

use bytes::Bytes;
use dragline_ports::fetcher::{FetchFailureKind, Truncation, UnprocessedReason};

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A response, perhaps truncated.
    Response(Response),
    /// No response.
    Nothing(FetchFailureKind),
    /// No response, as the server did nothing with the request, and says so.
    Unprocessed(UnprocessedReason),
}

/// A response as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The header fields, names in lower case.
    pub fields: Vec<(&'static str, String)>,
    /// The part of the body that was sent.
    pub body: Bytes,
    /// Why the body is truncated; `None` if it is whole.
    pub truncated: Option<Truncation>,
}

impl Response {
    /// A whole response without fields.
    #[must_use]
    pub fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, fields: Vec::new(), body: body.into(), truncated: None }
    }

    /// Adds a header field.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// Loses the connection before the body. What came of one would be a page after the last try.
    #[must_use]
    pub fn broken_off(mut self) -> Self {
        self.body.clear();
        self.truncated = Some(Truncation::Disconnect);
        self
    }

    /// The value of a field; `None` if there is no field of that name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}
