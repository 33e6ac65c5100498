//! The local adapters and the loop over them: conformance, whole crawls of scripted sites,
//! commands, stored data.
//!
//! A package of its own with one binary, so that the pipeline's generic code is compiled once,
//! without optimisation.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod commands;
mod conformance;
mod data_directory;
mod engine;
mod reader;
mod rules;
mod support;
