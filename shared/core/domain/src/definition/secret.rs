//! Where secrets are: a definition names them, and contains none.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::stored_form::stored_as_text;

/// The place of a secret, which no definition contains.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SecretReference {
    /// An environment variable, by its name.
    Variable(String),
    /// A file, by its path.
    File(String),
    /// A secret of AWS Secrets Manager, by its name: only a stack reads it.
    Managed(String),
    /// A value on the command line, by the flag that has it: it is asked for again each time.
    Flag(String),
}

/// A text that names no place of a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a secret is named, not written: `env:NAME` or `file:PATH`")]
pub struct SecretReferenceError;

impl FromStr for SecretReference {
    type Err = SecretReferenceError;

    fn from_str(text: &str) -> Result<Self, SecretReferenceError> {
        match text.split_once(':') {
            Some(("env", name)) if !name.is_empty() => Ok(Self::Variable(name.to_owned())),
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.to_owned())),
            Some(("secret", name)) if is_secret_name(name) => Ok(Self::Managed(name.to_owned())),
            Some(("flag", name)) if !name.is_empty() => Ok(Self::Flag(name.to_owned())),
            _ => Err(SecretReferenceError),
        }
    }
}

stored_as_text!(SecretReference);

impl fmt::Display for SecretReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{path}"),
            Self::Managed(name) => write!(f, "secret:{name}"),
            Self::Flag(name) => write!(f, "flag:{name}"),
        }
    }
}

/// Whether AWS takes a name for a secret:
/// <https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html>.
fn is_secret_name(name: &str) -> bool {
    const BYTES_MAX: usize = 512;
    let is_ok = |b: u8| b.is_ascii_alphanumeric() || b"/_+=.@-".contains(&b);
    (1..=BYTES_MAX).contains(&name.len()) && name.bytes().all(is_ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_named_and_not_written() {
        for text in ["env:HOOK", "file:/run/secret", "secret:dragline/members"] {
            assert_eq!(text.parse::<SecretReference>().unwrap().to_string(), text);
        }
        for text in ["whsec_abc", "env:", "file:", "secret:", "secret:correct horse", ""] {
            assert!(text.parse::<SecretReference>().is_err(), "{text:?}");
        }
    }
}
