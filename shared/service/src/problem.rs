//! Errors as problem details (RFC 9457).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dragline_definition::DefinitionErrors;
use dragline_pipeline::schedule::Refusal;
use dragline_ports::error::{PortError, PortErrorKind};
use serde::Serialize;
use utoipa::ToSchema;

/// An error as the API returns it: problem details, as `application/problem+json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// The status.
    pub status: u16,
    /// The kind of error, which stays the same for each of its kind.
    pub title: &'static str,
    /// What is wrong in this case.
    pub detail: String,
    /// How to mend it; absent if the detail is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The mistakes in a definition, each with its place; absent for other errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<String>,
}

impl Problem {
    /// Returns a problem with this status.
    #[must_use]
    pub fn new(status: StatusCode, title: &'static str, detail: impl Into<String>) -> Self {
        Self { status: status.as_u16(), title, detail: detail.into(), hint: None, mistakes: Vec::new() }
    }

    /// Returns the same problem with a hint.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Returns the problem of something that is not there.
    #[must_use]
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not found", detail)
    }

    /// Returns the problem of a request that says what cannot be.
    #[must_use]
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad request", detail)
    }

    /// Returns the problem of something that went wrong here.
    #[must_use]
    pub fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error", detail)
    }

    /// Returns the problem of a request that does not fit the present state.
    #[must_use]
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", detail)
    }
}

impl From<PortError> for Problem {
    /// The detail names what could not be done, and not where the data is.
    fn from(error: PortError) -> Self {
        tracing::error!(%error, "a request failed");
        let (status, title) = match error.kind {
            PortErrorKind::Unavailable | PortErrorKind::Full => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            PortErrorKind::Refused | PortErrorKind::Corrupt | PortErrorKind::TooLarge | PortErrorKind::Other => {
                (StatusCode::INTERNAL_SERVER_ERROR, "internal error")
            }
        };
        Self::new(status, title, format!("{} failed; the server's log says why", error.operation))
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoSuchCrawl(_) => Self::not_found(refusal.to_string()),
            Refusal::NoUrls | Refusal::Unsound { .. } | Refusal::NotInScope { .. } => {
                Self::bad_request(refusal.to_string())
            }
            Refusal::SwitchedOff(_)
            | Refusal::NotRunning(_)
            | Refusal::DoesNotFit { .. }
            | Refusal::Stopping(_)
            | Refusal::Reparsing(_)
            | Refusal::NotPruned(_) => Self::conflict(refusal.to_string()),
        }
    }
}

impl From<DefinitionErrors> for Problem {
    fn from(errors: DefinitionErrors) -> Self {
        let mistakes = errors.iter().map(ToString::to_string).collect();
        let detail = errors.one_line();
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Self { mistakes, ..Self::new(status, "the definition is not valid", detail) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(&self)).into_response();
        // For the page, which shows it to people.
        response.extensions_mut().insert(self);
        let media_type = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, media_type);
        response
    }
}
