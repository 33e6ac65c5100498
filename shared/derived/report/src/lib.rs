//! Reports about a crawl: how an iteration stands or ended, in numbers, and why it fetched nothing if that is so; and what differs between two.
//!
//! [`summary`] and [`diff`] derive all of it from a [`Reader`](dragline_ports::reader::Reader), so the figures are the same on every store. Presentation is left to
//! the caller.

mod causes;
mod chunks;
pub mod diff;
mod feeds;
mod figures;
mod items;
#[cfg(test)]
mod samples;
mod summary;
mod tally;

pub use causes::{Cause, CauseCount, Causes};
pub use chunks::{Chunk, ChunkLength, chunks};
pub use feeds::FeedRow;
pub use figures::{CanonicalsDoubted, Figures, NotCrawled, OutcomeCount, Scripted, Slow};
pub use items::ItemRow;
pub use summary::{IterationHead, Summary, summary, summary_of};
pub use tally::Tally;
