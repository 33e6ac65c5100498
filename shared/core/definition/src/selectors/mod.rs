//! The languages for places in a page: CSS selectors, JSON paths, and paths like XPath's.
//!
//! The reader of definitions checks their texts with the code that later runs them, so that both
//! agree. Selectors that could take disproportionately long are refused here, or have a cost that
//! their user can take into account.

mod css;
mod json_path;
mod path;
mod scan;

pub use css::{Cost, Css};
pub use json_path::JsonPath;
pub use path::{Axis, NodeTest, Operand, Path, PathValue, Predicate, Step};

/// The limit on a selector or a path, in bytes.
pub const BYTES_MAX: usize = 1_000;

/// The reason why a text is not a supported selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectorError {
    /// The mistake, on one line.
    pub message: String,
    /// The remedy.
    pub hint: &'static str,
}

impl SelectorError {
    fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Self { message: message.into(), hint }
    }
}

/// Refuses texts longer than any selector needs to be, before parsing.
fn check_length(text: &str) -> Result<(), SelectorError> {
    if text.len() > BYTES_MAX {
        let message = format!("a selector of {} bytes, but at most {BYTES_MAX} are allowed", text.len());
        return Err(SelectorError::new(message, "select by fewer parts: the last ones are often enough"));
    }
    Ok(())
}
