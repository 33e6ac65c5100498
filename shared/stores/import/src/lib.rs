//! Archives that other programs wrote: WARC files, and WACZ packages of them.
//!
//! [`Archives`] finds the files, [`Index`] reads them once and knows each answer's place, and
//! [`ArchiveFetcher`] gives the answers to a crawl whose iteration has the task `import`. So an
//! archive becomes a crawl by the steps of any other: what is captured is written to segments,
//! committed and parsed. Bodies are in memory one at a time.

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
pub use left_out::LeftOut;
