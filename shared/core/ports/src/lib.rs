//! The ports: interfaces of the steps to the outside world. Narrow and coarse: each operation is a
//! whole commit point.
//!
//! Expected races and failures are values; an error is unexpected. The current time is always
//! passed in.

pub mod archive;
pub mod clock;
pub mod documents;
pub mod editions;
pub mod error;
pub mod fetcher;
pub mod frontier;
pub mod notifier;
pub mod observer;
pub mod publications;
pub mod queue;
pub mod reader;
pub mod remaking;
pub mod renderer;
pub mod retention;
pub mod row;
pub mod secrets;
pub mod system;
