//! Reports about a crawl: the state or result of an iteration in numbers, why it fetched nothing if
//! that is so, and the differences between two iterations.
//!
//! [`summary`] and [`diff`] derive everything from a [`Reader`](dragline_ports::reader::Reader), so
//! the figures are the same on every store. Presentation is left to the caller.

mod chunks;
pub mod diff;
mod feeds;
mod items;
#[cfg(test)]
mod samples;
pub mod site;
mod summary;
pub mod visits;

pub use chunks::{Chunk, ChunkLength, chunks};
pub use feeds::FeedRow;
pub use items::ItemRow;
pub use summary::{
    CanonicalsDoubted, Cause, CauseCount, Causes, Figures, IterationHead, NotCrawled, OutcomeCount, ScriptedPages,
    Slow, Summary, Tally, summary, summary_from_tally,
};
