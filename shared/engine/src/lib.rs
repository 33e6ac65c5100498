//! Running crawls in one process, over a data directory.
//!
//! [`local_world`] gives the ports of an open data directory. [`begin`](mod@begin) gets from what it holds to an iteration that can be run:
//! a new one, or one that was interrupted. [`run`](mod@run) is the loop that runs the four steps: until one crawl's iteration is over, or, as
//! a resident process, for all crawls of the directory, their schedules included, until it is stopped.

mod activity;
pub mod begin;
pub mod room;
pub mod run;
mod world;

pub use activity::Activity;
pub use world::{LocalWorld, local_world};
