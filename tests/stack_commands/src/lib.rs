//! A stack as the command sees it, in an emulator, with no functions: whole crawls are run by this process over its tables and bucket.

#![expect(clippy::unwrap_used, reason = "these are helpers of tests")]

mod command;
mod stack;
mod world;

pub use command::{Ran, dragline};
pub use stack::EmulatedStack;
