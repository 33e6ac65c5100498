//! Unexpected errors of a port.

use std::error::Error;
use std::fmt;

/// A surprise: the store or the queue failed. Expected races are values, never this.
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
    /// The store is busy or unreachable: worth another try.
    Unavailable,
    /// The store may not be used as things are: permissions, a table or a disk that is missing or broken. An operator has to mend it.
    Refused,
    /// No room is left.
    Full,
    /// What was read is not what was written.
    Corrupt,
    /// What was asked for is larger than a limit allows.
    TooLarge,
    /// Anything else.
    Other,
}

impl PortErrorKind {
    /// Whether the same operation with the same values is bound to fail again, whatever becomes of the store.
    #[must_use]
    pub const fn is_lasting(self) -> bool {
        match self {
            Self::Corrupt | Self::TooLarge | Self::Other => true,
            Self::Unavailable | Self::Refused | Self::Full => false,
        }
    }
}

impl PortError {
    /// Returns an error of this kind.
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
