//! What can go wrong with the database, and which kind of port error that is.

use dragline_ports::error::PortErrorKind;
use rusqlite::{Error, ErrorCode};

/// An operation on the database failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// SQLite's own error, or a value that does not have the expected form.
    #[error(transparent)]
    Sqlite(#[from] Error),
    /// What is stored breaks the rules of the format.
    #[error("{0}")]
    Damaged(String),
    /// A row that the caller must have made is missing.
    #[error("there is no {0}")]
    Missing(&'static str),
    /// A number is larger than the format allows.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    /// A value could not be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The transaction that it was part of could not be committed.
    #[error("{cause}")]
    NotCommitted { kind: PortErrorKind, cause: String },
}

impl StoreError {
    pub(crate) fn kind(&self) -> PortErrorKind {
        match self {
            Self::Sqlite(Error::SqliteFailure(failure, _)) => match failure.code {
                ErrorCode::DiskFull => PortErrorKind::Full,
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => PortErrorKind::Corrupt,
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => PortErrorKind::Unavailable,
                ErrorCode::CannotOpen
                | ErrorCode::OutOfMemory
                | ErrorCode::PermissionDenied
                | ErrorCode::ReadOnly
                | ErrorCode::SystemIoFailure => PortErrorKind::Refused,
                ErrorCode::TooBig => PortErrorKind::TooLarge,
                _ => PortErrorKind::Other,
            },
            Self::Sqlite(
                Error::FromSqlConversionFailure(..)
                | Error::IntegralValueOutOfRange(..)
                | Error::InvalidColumnType(..)
                | Error::Utf8Error(..),
            )
            | Self::Damaged(_) => PortErrorKind::Corrupt,
            Self::OutOfRange(_) => PortErrorKind::TooLarge,
            Self::NotCommitted { kind, .. } => *kind,
            Self::Sqlite(_) | Self::Missing(_) | Self::Json(_) => PortErrorKind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn each_code_is_the_kind_of_surprise_that_decides_what_to_do() {
        for (code, kind, why) in [
            (ffi::SQLITE_FULL, PortErrorKind::Full, "the disk is full"),
            (ffi::SQLITE_CORRUPT, PortErrorKind::Corrupt, "a damaged page"),
            (ffi::SQLITE_NOTADB, PortErrorKind::Corrupt, "the header is not SQLite's"),
            (ffi::SQLITE_BUSY, PortErrorKind::Unavailable, "somebody's shell holds a transaction"),
            (ffi::SQLITE_IOERR, PortErrorKind::Refused, "the disk is broken"),
            (ffi::SQLITE_READONLY, PortErrorKind::Refused, "the file may not be written"),
            (ffi::SQLITE_CONSTRAINT, PortErrorKind::Other, "our own mistake"),
        ] {
            let error = StoreError::from(Error::SqliteFailure(ffi::Error::new(code), None));
            assert_eq!(error.kind(), kind, "{why}");
        }
    }
}
