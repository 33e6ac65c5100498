//! What the model finds: nothing in the protocol, and something in all that lacks a part of it.

#![expect(clippy::print_stdout, reason = "a run says how many states it visited")]

mod configurations;
mod mutations;
