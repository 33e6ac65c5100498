//! Archives by other programs: WARC files, and WACZ packages of them.
//!
//! [`Archives`] finds the files, [`Index`] reads them once and locates each answer, and
//! [`ArchiveFetcher`] returns the answers to a crawl whose iteration has the task `import`. So an
//! archive becomes a crawl by the usual steps: captures are written to segments, committed and
//! parsed. Bodies are in memory one at a time.

mod answer;
mod archives;
mod fetcher;
mod index;
mod left_out;
mod revisits;
#[cfg(test)]
mod tests;

pub use archives::{Archives, ImportError};
pub use fetcher::ArchiveFetcher;
pub use index::{Capture, Index};
pub use left_out::SkipReason;
