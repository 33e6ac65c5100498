//! Errors of the graph.

use std::io;
use std::path::PathBuf;

use dragline_ports::error::PortError;
use rusqlite::ErrorCode;

/// The graph could not be built or read.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// The crawl could not be read.
    #[error(transparent)]
    Reader(#[from] PortError),
    /// Nothing was crawled yet.
    #[error("the crawl has not begun")]
    NotBegun,
    /// The file of the graph cannot be used.
    #[error("the link graph in {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: FileError,
    },
}

impl GraphError {
    /// Returns whether the site is too large for a graph or for the disk.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        match self {
            Self::File { source: FileError::TooManyUrls(_), .. } => true,
            Self::File { source: FileError::Sqlite(error), .. } => {
                error.sqlite_error_code() == Some(ErrorCode::DiskFull)
            }
            Self::File { source: FileError::Io(_), .. } | Self::Reader(_) | Self::NotBegun => false,
        }
    }
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// SQLite's error.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// The file system's error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There are more URLs than fit.
    #[error("more than {0} URLs are linked")]
    TooManyUrls(u32),
}
