//! The first step: commands and schedules become iterations with their seeds.

mod begin;
mod command;
mod refusal;

mod tick;
mod url;

pub use begin::start;
pub use command::{Defaults, Handled, handle};
pub use refusal::Refusal;
pub use tick::tick;
