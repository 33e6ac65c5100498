//! The trace of a run.

use std::fmt;
use std::time::Duration;

/// Events in order, with the time since the run began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    lines: Vec<String>,
}

impl Trace {
    pub(crate) fn add(&mut self, now: Duration, what: &impl fmt::Display) {
        self.lines.push(format!("{:>10} ms  {what}", now.as_millis()));
    }

    /// Every line.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The last lines, for people to read.
    #[must_use]
    pub fn end(&self) -> String {
        const LINES: usize = 60;
        self.lines[self.lines.len().saturating_sub(LINES)..].join("\n")
    }
}
