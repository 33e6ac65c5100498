//! What a crawl archived, as files that other programs replay: WACZ 1.1.1 (<https://specs.webrecorder.net/wacz/1.1.1/>), and WARC files merged to
//! larger ones.
//!
//! The records of all segments are copied as they are stored, one after the other; a body that was stored before is a `revisit` record that refers to
//! it. What is forgotten is left out. The index is sorted in a temporary file, so nothing in memory grows with the crawl.

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
pub use merge::{Copied, Plan};
pub use package::{About, write_wacz};
pub use selection::Selection;
pub use surt::surt;
