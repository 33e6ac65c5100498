//! The kinds of objects in the bucket, with their maximum sizes.

use crate::errors::StoreError;

/// A kind of object: its description for other readers, and its maximum size for puts and gets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// Its media type.
    pub(crate) media_type: &'static str,
    /// The version of its format, kept as the object's metadata `dragline-format`.
    pub(crate) format: &'static str,
    /// The maximum size. Larger objects are neither put nor read.
    pub(crate) bytes_max: u64,
}

/// WARC objects as in `docs/reference/format-warc.md`. As large as S3 takes in one request.
pub(crate) const WARC: Kind = Kind { media_type: "application/warc", format: "1", bytes_max: 5 << 30 };

/// Documents of segments. The version is in the metadata, as all lines must be documents for
/// queries.
pub(crate) const DOCUMENTS: Kind = Kind { media_type: "application/gzip", format: "1", bytes_max: 128 << 20 };

/// Items: all lines must be items for queries.
pub(crate) const ITEMS: Kind = Kind { media_type: "application/gzip", format: "1", bytes_max: 128 << 20 };

/// Reports of iterations, as pages.
pub(crate) const REPORT: Kind = Kind { media_type: "text/html; charset=utf-8", format: "1", bytes_max: 128 << 20 };

/// A large robots.txt.
pub(crate) const ROBOTS: Kind = Kind { media_type: "application/octet-stream", format: "1", bytes_max: 16 << 20 };

/// Files of a word index, in the format of the index library, which has versions of its own. They
/// are read in parts.
pub(crate) const INDEX_FILE: Kind = Kind { media_type: "application/octet-stream", format: "1", bytes_max: 5 << 30 };

/// Editions of a word index: each names the files of the index, some dozens.
pub(crate) const EDITION: Kind = Kind { media_type: "application/json", format: "1", bytes_max: 4 << 20 };

/// Definitions that people put. Far more than one may have.
pub(crate) const DEFINITION: Kind = Kind { media_type: "application/yaml", format: "1", bytes_max: 4 << 20 };

impl Kind {
    /// Refuses objects that are too large.
    pub(crate) fn check(self, size: u64) -> Result<(), StoreError> {
        StoreError::check_size("the object's bytes", size, self.bytes_max)
    }
}
