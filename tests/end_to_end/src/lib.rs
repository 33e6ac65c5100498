//! The parts of the end-to-end tests: real sites, the built `dragline` command, and witnesses that
//! share no code with it.

pub mod archive;
pub mod checkout;
pub mod crawl_log;
pub mod debian;
pub mod differences;
pub mod dragline;
pub mod schedule;
pub mod seed;
pub mod walk;
