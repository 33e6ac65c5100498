//! Whole crawls over HTTP in one process, and their results.
//!
//! The fetcher, the four steps and the local adapters are those of production; only name resolution
//! and trusted roots are the test's.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod crawled;
mod run;

pub use crawled::{Crawled, every_row};
pub use run::{
    Loopback, Network, Silent, command, command_in, crawl, crawl_at_once, crawl_by, crawl_in, crawl_over, crawl_with,
    definition, store,
};
