//! The store: each operation reads the rows, calls the domain and writes the result atomically, as
//! an adapter does.
//!
//! Mutations are made here: a function of the domain gets something other than the stored row, or
//! its refusal is ignored.

mod beginning;
mod ending;
mod host;
mod parse;
mod turn;

pub(crate) use ending::Settled;
pub(crate) use host::time_steps;
pub(crate) use parse::{Part, entry, path};
pub(crate) use turn::{Committed, SegmentCommit};
