//! The languages in which a definition says where something stands in a page: CSS selectors, JSON paths, and paths like XPath's.
//!
//! Whoever reads a definition checks its texts with the same code that later runs them, so that both agree. What could take time out of all proportion
//! to a page is refused here, or has a cost that whoever runs it can take into account.

mod css;
mod json_path;
mod path;
mod scan;

pub use css::{Cost, Css};
pub use json_path::JsonPath;
pub use path::{Axis, NodeTest, Operand, Path, Predicate, Step, Taken};

/// The longest text of a selector or a path, in bytes.
pub const BYTES_MAX: usize = 1_000;

/// Why a text is not a selector, or not one that is run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectorError {
    /// What is wrong, on one line.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl SelectorError {
    fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Self { message: message.into(), hint }
    }
}

/// Refuses what is longer than any selector needs to be, before anything parses it.
fn check_length(text: &str) -> Result<(), SelectorError> {
    if text.len() > BYTES_MAX {
        let message = format!("a selector of {} bytes, but at most {BYTES_MAX} are allowed", text.len());
        return Err(SelectorError::new(message, "select by fewer parts: the last ones are often enough"));
    }
    Ok(())
}
