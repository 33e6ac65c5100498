//! Unexpected errors of a port.

use std::error::Error;
use std::fmt;

/// An unexpected failure of a store or queue. Expected races are values, never this.
#[derive(Debug)]
pub struct PortError {
    /// The kind of error.
    pub kind: PortErrorKind,
    /// The operation, as the port names it.
    pub operation: &'static str,
    /// The subject: a key, URL or path.
    pub subject: String,
    /// The underlying error.
    pub source: Box<dyn Error + Send + Sync>,
}

/// The kind of an error, for deciding what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortErrorKind {
    /// The store is busy or unreachable; a retry may succeed.
    Unavailable,
    /// The store cannot be used as it is: missing permissions, or a table or disk that is missing
    /// or broken. An operator has to repair it.
    Refused,
    /// No space is left.
    Full,
    /// The data read differs from the data written.
    Corrupt,
    /// The data requested is larger than the limit.
    TooLarge,
    /// Anything else.
    Other,
}

impl PortErrorKind {
    /// Whether the same operation with the same values will always fail, whatever the state of the
    /// store.
    #[must_use]
    pub const fn is_lasting(self) -> bool {
        match self {
            Self::Corrupt | Self::TooLarge | Self::Other => true,
            Self::Unavailable | Self::Refused | Self::Full => false,
        }
    }
}

impl PortError {
    /// Creates an error of this kind.
    pub fn new(
        kind: PortErrorKind,
        operation: &'static str,
        subject: impl fmt::Display,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { kind, operation, subject: subject.to_string(), source: source.into() }
    }
}

impl fmt::Display for PortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            PortErrorKind::Unavailable => "the store did not answer",
            PortErrorKind::Refused => "the store refused",
            PortErrorKind::Full => "no space left",
            PortErrorKind::Corrupt => "stored data is damaged",
            PortErrorKind::TooLarge => "too large",
            PortErrorKind::Other => "failed",
        };
        write!(f, "{} of {}: {kind}: {}", self.operation, self.subject, self.source)
    }
}

impl Error for PortError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.source.as_ref())
    }
}

/// The result of a port's operation.
pub type PortResult<T> = Result<T, PortError>;
