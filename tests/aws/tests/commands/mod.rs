//! The command against a stack, and how it reads one.

mod past;
mod reading;
mod results;
mod second;
mod sending;
