//! The AWS adapters against an emulator, in one binary: what it compiles of the SDK is compiled once.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod conformance;
mod editions;
mod faults;
mod faults_elsewhere;
mod messages;
mod pruning;
mod publications;
mod stored_rows;
mod usage;
