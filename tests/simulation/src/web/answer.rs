//! What a server says.

use bytes::Bytes;
use dragline_ports::fetcher::{FetchFailureKind, Truncation};

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A response, perhaps cut short.
    Response(Response),
    /// No response.
    Nothing(FetchFailureKind),
}

/// A response as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The header fields, names in lower case.
    pub fields: Vec<(&'static str, String)>,
    /// The body as far as it was sent.
    pub body: Bytes,
    /// Why the body is not whole; absent when it is.
    pub truncated: Option<Truncation>,
}

impl Response {
    /// A whole response without fields.
    #[must_use]
    pub fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, fields: Vec::new(), body: body.into(), truncated: None }
    }

    /// The same with one more field.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// The same, its connection lost after half of the body.
    #[must_use]
    pub fn broken_off(mut self) -> Self {
        self.body.truncate(self.body.len() / 2);
        self.truncated = Some(Truncation::Disconnect);
        self
    }

    /// A field's value; absent if there is none of that name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}
