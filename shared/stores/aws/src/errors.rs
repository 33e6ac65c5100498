//! Errors of AWS that no port expects.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};

use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_runtime_api::http::Response;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};

/// Error codes of a service that is too busy to answer. The SDK has retried already.
const BUSY: [&str; 11] = [
    "InternalServerError",
    "LimitExceededException",
    "ProvisionedThroughputExceeded",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ServiceUnavailable",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TransactionConflictException",
    "TransactionInProgressException",
];

/// Error codes of a service that cannot be used: wrong credentials or permissions, or a missing
/// table, bucket or queue.
const REFUSED: [&str; 16] = [
    "AccessDenied",
    "AccessDeniedException",
    "AWS.SimpleQueueService.NonExistentQueue",
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignature",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "InvalidToken",
    "MissingAuthenticationToken",
    "NoSuchBucket",
    "QueueDoesNotExist",
    "ResourceNotFoundException",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
];

/// An error of a store, before its port operation is known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// AWS refused a request, or did not answer it.
    #[error("{request}: {detail}")]
    Request {
        kind: PortErrorKind,
        /// The request's name in AWS.
        request: &'static str,
        detail: String,
        source: Box<dyn Error + Send + Sync>,
    },
    /// Stored data cannot be read back.
    #[error("{0}")]
    Damaged(String),
    /// Other writers were faster every time.
    #[error("the rows changed before each of {0} attempts to write them")]
    Contended(u32),
    /// Part of a batch was postponed each time.
    #[error("{request} postponed {left} items of a batch at every attempt")]
    PutOff { request: &'static str, left: usize },
    /// A size is over a limit of the port or of AWS.
    #[error("{what}: {size}, over the limit of {size_max}")]
    TooLarge { what: &'static str, size: u64, size_max: u64 },
    /// A file of this machine cannot be read or written.
    #[error("{path}: {source}")]
    File { path: PathBuf, source: io::Error },
    /// A row cannot be written as JSON, or stored data is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Runs an operation of a port, and adds the operation's name and subject to its errors.
pub(crate) fn at<'w, T>(
    operation: &'static str,
    subject: impl fmt::Display + Send + 'w,
    work: impl Future<Output = Result<T, StoreError>> + Send + 'w,
) -> impl Future<Output = PortResult<T>> + Send + 'w {
    // The future of an SDK request takes some ten kilobytes.
    let work = Box::pin(work);
    async move { work.await.map_err(|error| error.at(operation, subject)) }
}

impl StoreError {
    /// Returns the error of a request that AWS refused or did not answer.
    pub(crate) fn request<E>(request: &'static str, error: SdkError<E, Response>) -> Self
    where
        E: Error + ProvideErrorMetadata + Send + Sync + 'static,
    {
        Self::Request { kind: error_kind(&error), request, detail: chain(&error), source: error.into() }
    }

    /// Returns the error of a request that failed only because of concurrent ones.
    pub(crate) fn in_the_way<E>(request: &'static str, error: SdkError<E, Response>) -> Self
    where
        E: Error + Send + Sync + 'static,
    {
        Self::Request { kind: PortErrorKind::Unavailable, request, detail: chain(&error), source: error.into() }
    }

    /// Returns the error of an answer that broke off.
    pub(crate) fn broken_off(request: &'static str, error: impl Error + Send + Sync + 'static) -> Self {
        Self::Request { kind: PortErrorKind::Unavailable, request, detail: chain(&error), source: error.into() }
    }

    /// Returns the error of a file of this machine.
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }

    /// Checks a size, in whatever unit, against a limit.
    ///
    /// # Errors
    /// Returns [`Self::TooLarge`] if it is over the limit.
    pub(crate) fn check_size(
        what: &'static str,
        size: impl TryInto<u64>,
        size_max: impl TryInto<u64>,
    ) -> Result<(), Self> {
        let [size, size_max] = [size.try_into().unwrap_or(u64::MAX), size_max.try_into().unwrap_or(u64::MAX)];
        if size > size_max { Err(Self::TooLarge { what, size, size_max }) } else { Ok(()) }
    }

    /// Adds the operation of the port and its subject to an error.
    pub(crate) fn at(self, operation: &'static str, subject: impl fmt::Display) -> PortError {
        PortError::new(self.kind(), operation, subject, self)
    }

    pub(crate) const fn kind(&self) -> PortErrorKind {
        match self {
            Self::Request { kind, .. } => *kind,
            Self::Damaged(_) | Self::Json(_) => PortErrorKind::Corrupt,
            Self::Contended(_) | Self::PutOff { .. } | Self::File { .. } => PortErrorKind::Unavailable,
            Self::TooLarge { .. } => PortErrorKind::TooLarge,
        }
    }
}

/// Returns an error and its causes on one line: the SDK's own errors say little by themselves.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

fn error_kind<E: ProvideErrorMetadata>(error: &SdkError<E, Response>) -> PortErrorKind {
    match error {
        SdkError::TimeoutError(_) | SdkError::DispatchFailure(_) | SdkError::ResponseError(_) => {
            PortErrorKind::Unavailable
        }
        SdkError::ServiceError(service) => {
            let code = service.err().code().unwrap_or_default();
            if service.raw().status().is_server_error() || BUSY.contains(&code) {
                PortErrorKind::Unavailable
            } else if REFUSED.contains(&code) {
                PortErrorKind::Refused
            } else {
                PortErrorKind::Other
            }
        }
        _ => PortErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_kind() {
        for (error, kind, why) in [
            (StoreError::Damaged("a row".into()), PortErrorKind::Corrupt, "what was read is not what was written"),
            (StoreError::Contended(9), PortErrorKind::Unavailable, "worth another try"),
            (StoreError::PutOff { request: "BatchGetItem", left: 2 }, PortErrorKind::Unavailable, "throttled"),
            (StoreError::TooLarge { what: "chunks", size: 33, size_max: 32 }, PortErrorKind::TooLarge, "over a cap"),
        ] {
            let port = error.at("take lease", "docs#https://a.example");
            assert_eq!((port.kind, port.operation), (kind, "take lease"), "{why}");
            assert!(port.to_string().contains("docs#https://a.example"), "it says of what: {port}");
        }
    }
}
