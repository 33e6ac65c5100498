//! Errors of archives.

use std::io;
use std::path::PathBuf;

use dragline_formats::warc::WarcError;
use dragline_ports::error::PortError;
use zip::result::ZipError;

/// The archive could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The crawl could not be read.
    #[error(transparent)]
    Port(#[from] PortError),
    /// An object of a committed segment is missing.
    #[error("the WARC object {0} is missing")]
    Missing(String),
    /// An object is damaged.
    #[error("the WARC object {object}: {source}")]
    Damaged {
        /// The object.
        object: String,
        /// The damage.
        source: WarcError,
    },
    /// A file cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The ZIP file cannot be written.
    #[error("the ZIP file: {0}")]
    Zip(#[from] ZipError),
    /// The temporary index cannot be used.
    #[error("the temporary index: {0}")]
    Index(#[from] rusqlite::Error),
    /// Something cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A text cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}
