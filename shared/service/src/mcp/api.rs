//! Calls of tools to the HTTP API.

use std::fmt::Display;
use std::pin::Pin;

use axum::body::{Body, to_bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Request, Response, StatusCode, header};
use futures_util::StreamExt as _;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rmcp::model::Extensions;
use serde_json::{Value, json};

use super::answer::ToolError;
use crate::rows::LINES;

/// The limit on an answer of the API, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// The limit on one row, in bytes.
const LINE_BYTES_MAX: usize = 4 << 20;

/// A future of an answer of the API.
pub type ApiResponse<'a> = Pin<Box<dyn Future<Output = Result<Response<Body>, ApiError>> + Send + 'a>>;

/// The HTTP API, wherever it is.
pub trait Api: Send + Sync + 'static {
    /// Sends a request, whose target is a path of the API, on behalf of a caller.
    ///
    /// # Errors
    /// Nobody answers. A problem is an answer.
    fn send<'a>(&'a self, request: Request<Body>, caller: &'a Caller) -> ApiResponse<'a>;
}

/// The API does not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct ApiError {
    /// What happened.
    pub detail: String,
    /// What to do about it, the most likely first.
    pub hints: Vec<String>,
}

/// Who calls a tool: the header of its request. It is empty over standard input.
#[derive(Clone, Debug, Default)]
pub struct Caller(HeaderMap);

impl Caller {
    /// Returns the caller of a tool.
    pub(super) fn from_request(extensions: &Extensions) -> Self {
        Self(extensions.get::<Parts>().map(|parts| parts.headers.clone()).unwrap_or_default())
    }

    /// Copies what says who calls into a request: its token, and the name by which it calls the
    /// server.
    pub fn authorise(&self, request: &mut Request<Body>) {
        for name in [header::AUTHORIZATION, header::HOST] {
            if let Some(value) = self.0.get(&name) {
                request.headers_mut().insert(name, value.clone());
            }
        }
    }
}

/// A path of the API with its query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target(String);

impl Target {
    /// Returns a path. What it is made of needs no encoding.
    pub(super) fn new(path: impl Into<String>) -> Self {
        Self(path.into())
    }

    /// Adds a parameter; nothing if there is no value.
    pub(super) fn with(mut self, name: &str, value: Option<impl Display>) -> Self {
        if let Some(value) = value {
            let value = value.to_string();
            self.0.push(if self.0.contains('?') { '&' } else { '?' });
            self.0 += name;
            self.0.push('=');
            self.0.extend(utf8_percent_encode(&value, NON_ALPHANUMERIC));
        }
        self
    }
}

/// Some of a list of rows.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) rows: Vec<Value>,
    /// The offset at which the list goes on; `None` at its end.
    pub(super) next: Option<usize>,
}

/// Calls on behalf of one caller.
#[derive(Clone, Copy)]
pub(super) struct Calls<'a> {
    api: &'a dyn Api,
    caller: &'a Caller,
}

impl<'a> Calls<'a> {
    pub(super) fn new(api: &'a dyn Api, caller: &'a Caller) -> Self {
        Self { api, caller }
    }

    /// Reads JSON.
    ///
    /// # Errors
    /// The API does not answer, or with a problem.
    pub(super) async fn read(self, target: Target) -> Result<Value, ToolError> {
        let text = self.read_text(target).await?;
        serde_json::from_str(&text).map_err(|error| ToolError::new(format!("the answer is not JSON: {error}")))
    }

    /// Reads a text.
    ///
    /// # Errors
    /// The API does not answer, or with a problem, or with more than 16 MiB.
    pub(super) async fn read_text(self, target: Target) -> Result<String, ToolError> {
        whole(self.send(request(Method::GET, &target)?).await?).await
    }

    /// Reads rows after the first `offset`, and no more of the list than it must.
    ///
    /// # Errors
    /// The API does not answer, or with a problem, or breaks off.
    pub(super) async fn read_lines(self, target: Target, offset: usize, limit: usize) -> Result<Lines, ToolError> {
        let mut request = request(Method::GET, &target)?;
        request.headers_mut().insert(header::ACCEPT, header::HeaderValue::from_static(LINES));
        let mut body = self.send(request).await?.into_body().into_data_stream();
        let (mut lines, mut seen, mut buffer) = (Lines::default(), 0, Vec::new());
        while let Some(chunk) = body.next().await {
            buffer.extend_from_slice(&chunk.map_err(|error| ToolError::new(format!("the list broke off: {error}")))?);
            while let Some(end) = buffer.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = buffer.drain(..=end).collect();
                if seen >= offset + limit {
                    // Dropping the body ends what writes it.
                    lines.next = Some(seen);
                    return Ok(lines);
                }
                if seen >= offset {
                    let row = serde_json::from_slice(&line);
                    lines.rows.push(row.map_err(|error| ToolError::new(format!("a row is not JSON: {error}")))?);
                }
                seen += 1;
            }
            if buffer.len() > LINE_BYTES_MAX {
                return Err(ToolError::new("a row is too long"));
            }
        }
        Ok(lines)
    }

    /// Changes something, and returns what the API answers.
    ///
    /// # Errors
    /// The API does not answer, or with a problem: the caller may not do that, for example.
    pub(super) async fn post(self, target: Target, body: &Value) -> Result<Value, ToolError> {
        let mut request = request(Method::POST, &target)?;
        request.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
        *request.body_mut() = Body::from(body.to_string());
        let text = whole(self.send(request).await?).await?;
        Ok(serde_json::from_str(&text).unwrap_or_else(|_| json!({})))
    }

    async fn send(self, request: Request<Body>) -> Result<Response<Body>, ToolError> {
        let response = self.api.send(request, self.caller).await.map_err(ToolError::from)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = whole(response).await.unwrap_or_default();
        Err(problem(status, &serde_json::from_str(&text).unwrap_or_default()))
    }
}

fn request(method: Method, target: &Target) -> Result<Request<Body>, ToolError> {
    let request = Request::builder().method(method).uri(target.0.as_str()).body(Body::empty());
    request.map_err(|error| ToolError::new(format!("that cannot be asked for: {error}")))
}

async fn whole(response: Response<Body>) -> Result<String, ToolError> {
    let bytes = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await;
    let bytes = bytes.map_err(|error| ToolError::new(format!("the answer cannot be read: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns a problem of the API as the error of a tool.
fn problem(status: StatusCode, problem: &Value) -> ToolError {
    let text = |key: &str| problem[key].as_str().map(str::to_owned);
    let detail = text("detail").unwrap_or_else(|| format!("the API answered with status {status}"));
    let error = ToolError::new(detail).with_status(status.as_u16());
    match text("hint") {
        // Agents have a tool for that call.
        Some(hint) => error.with_hint(hint.replace("GET /crawls lists", "`list_crawls` lists")),
        None => error,
    }
}

impl From<ApiError> for ToolError {
    fn from(ApiError { detail, hints }: ApiError) -> Self {
        hints.into_iter().fold(Self::new(detail), Self::with_hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_cannot_add_others() {
        let target = Target::new("/crawls/docs/history").with("url", Some("https://a.example/?x=1&limit=2#é"));
        assert_eq!(target.0, "/crawls/docs/history?url=https%3A%2F%2Fa%2Eexample%2F%3Fx%3D1%26limit%3D2%23%C3%A9");
        assert_eq!(target.clone().with("iteration", None::<u32>), target);
        assert!(target.with("limit", Some(3)).0.ends_with("&limit=3"));
    }
}
