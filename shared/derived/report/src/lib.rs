//! Reports about a crawl: how an iteration stands or ended, in numbers, and why it fetched nothing if that is so; and what differs between two.
//!
//! [`summary`] and [`diff`] derive all of it from a [`Reader`](dragline_ports::reader::Reader), so the figures are the same on every store. Presentation is left to
//! the caller.

mod chunks;
pub mod diff;
mod feeds;
mod items;
#[cfg(test)]
mod samples;
pub mod site;
mod summary;

pub use chunks::{Chunk, ChunkLength, chunks};
pub use feeds::FeedRow;
pub use items::ItemRow;
pub use summary::{
    CanonicalsDoubted, Cause, CauseCount, Causes, Figures, IterationHead, NotCrawled, OutcomeCount, Scripted, Slow,
    Summary, Tally, summary, summary_of,
};
