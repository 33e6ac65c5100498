//! The local adapters and the loop over them: conformance, whole runs on scripted sites, commands, what is stored.
//!
//! A package of its own, and one binary: what it compiles of the pipeline is compiled once, and not optimised.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod commands;
mod conformance;
mod data_directory;
mod engine;
mod reader;
mod rules;
mod support;
