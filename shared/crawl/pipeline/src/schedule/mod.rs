//! The first step: commands and schedules become iterations with their seeds.

mod begin;
mod command;
mod named;
mod refusal;
mod tick;

pub use begin::{AddedUrls, SightedUrl, add, go_on, open, start};
pub use command::{CommandResult, Defaults, handle, put, start_once};
pub use named::in_scope;
pub use refusal::Refusal;
pub use tick::{begin_due, tick};
