//! The AWS adapters and the command for a stack against an emulator, in one binary: what it
//! compiles of the SDK is compiled once.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod commands;
mod conformance;
