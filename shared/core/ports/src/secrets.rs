//! Values that nobody may see: a definition says where they are, and they are read when they are
//! needed.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use dragline_domain::definition::SecretReference;

/// A value that is never shown.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps a value. White space around it is none of it, as editors end files with a line break.
    #[must_use]
    pub fn new(value: &str) -> Self {
        Self(value.trim().into())
    }

    /// Returns the value, for whoever sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([redacted])")
    }
}

/// A value that cannot be read. Nothing of it is in the message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SecretError {
    /// Where it should be.
    pub reference: SecretReference,
    /// Why it cannot be read.
    pub why: String,
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.reference, self.why)
    }
}

impl Error for SecretError {}

/// The future of a value.
pub type SecretFuture<'a> = Pin<Box<dyn Future<Output = Result<Secret, SecretError>> + Send + 'a>>;

/// Reads values by where they are.
pub trait Secrets: Send + Sync + 'static {
    /// Reads a value, as it is now.
    fn read<'a>(&'a self, reference: &'a SecretReference) -> SecretFuture<'a>;
}

/// A place without any values.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSecrets;

impl Secrets for NoSecrets {
    fn read<'a>(&'a self, reference: &'a SecretReference) -> SecretFuture<'a> {
        Box::pin(async { Err(SecretError { reference: reference.clone(), why: "cannot be read here".to_owned() }) })
    }
}
