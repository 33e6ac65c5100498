//! The store: reads the rows, asks the domain, and writes what it says, each operation at once, as an adapter does.
//!
//! This is where mutations are made: a function of the domain is handed something else than the row that stands there, or what it
//! refuses is done all the same.

mod beginning;
mod ending;
mod host;
mod parse;
mod turn;

pub(crate) use ending::Settled;
pub(crate) use host::time_steps;
pub(crate) use parse::{Part, entry, path};
pub(crate) use turn::{Committed, SegmentCommit};
