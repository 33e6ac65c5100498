//! The Lambda functions, each a module with its handler and a binary that serves it.

mod addresses;
pub mod crawler;
mod defaults;
mod folder;
pub mod parser;
pub mod publisher;
pub mod scheduler;
pub mod searcher;
pub mod sweeper;
#[cfg(test)]
mod testing;
