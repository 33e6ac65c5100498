//! The command against a stack, and how it reads one.

mod past;
mod reading;
mod second;
mod sending;
