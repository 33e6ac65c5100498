//! The Lambda functions, each a module with its handler and a binary that serves it.

pub mod crawler;
mod defaults;
mod folder;
mod network;
pub mod parser;
pub mod publisher;
pub mod scheduler;
pub mod searcher;
pub mod sweeper;
#[cfg(test)]
mod testing;
