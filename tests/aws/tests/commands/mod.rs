//! The command against a deployed stack, and what it reads of one.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod commands;
mod past;
mod reading;
mod second;
