//! What people are shown of a crawl: how an iteration stands or ended, in numbers, and why it got nothing if it did not.
//!
//! All of it is made of what the [`Reader`](dragline_ports::reader::Reader) gives, and so is the same on every store. How it is shown, on a terminal or
//! elsewhere, is not decided here.

mod causes;
mod figures;
#[cfg(test)]
mod samples;
mod summary;
mod tally;

pub use causes::{Cause, CauseCount, Causes};
pub use figures::{Figures, NotCrawled, OutcomeCount, Slow};
pub use summary::{Standing, Summary, summary};
pub use tally::Tally;
