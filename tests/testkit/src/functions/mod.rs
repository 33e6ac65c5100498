//! The contents of the stack's template, and a function's process with doubles of the Runtime API
//! and of AWS around it.

#![expect(clippy::unwrap_used, reason = "these are helpers of tests")]

mod deployed;
mod loopback;
mod runtime_api;
mod stack;
mod template;

pub use self::deployed::{Deployed, batch, failed_from};
pub use self::runtime_api::Answer;
pub use self::template::{Function, Template, WorkQueue};
