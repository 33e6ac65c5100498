//! A stack in an emulator as the command sees it, but without functions: this process runs whole crawls over its tables and bucket.

#![expect(clippy::unwrap_used, reason = "these are helpers of tests")]

mod command;
mod stack;
mod world;

pub use command::{Ran, dragline};
pub use stack::EmulatedStack;
