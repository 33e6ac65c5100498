//! What the model finds: no violation in the protocol, but one in each version that lacks a
//! condition.

#![expect(clippy::print_stdout, reason = "a run prints how many states it visited")]

mod configurations;
mod mutations;
