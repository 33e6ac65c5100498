//! Exports a crawl's archive as files that other programs replay: WACZ 1.1.1
//! (<https://specs.webrecorder.net/wacz/1.1.1/>), and merged WARC files.
//!
//! The records of all segments are copied as stored, one after the other. A body that is already in
//! the archive becomes a `revisit` record that refers to it. Forgotten URLs are left out. The index
//! is sorted in a temporary file, so memory does not grow with the crawl.

mod captures;
mod cdx;
mod error;
mod folder;
mod index;
mod merge;
mod names;
mod package;
mod revisit;
mod selection;
mod surt;

pub use error::ArchiveError;
pub use folder::write_warc;
pub use index::write_index;
pub use merge::{CopyTotals, Plan};
pub use package::{About, write_wacz};
pub use selection::Selection;
pub use surt::surt;
