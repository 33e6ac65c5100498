//! The result of a decision over rows.

/// An operation's decision, made from the rows as read. An adapter writes it on condition that the
/// rows have not changed, and returns the outcome; if they have changed, it reads and decides
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided<T> {
    /// Write the rows, with this outcome.
    Write(T),
    /// Write nothing, with this outcome.
    Leave(T),
}

impl<T> Decided<T> {
    /// Returns the outcome, whether or not rows are written for it.
    pub fn outcome(self) -> T {
        match self {
            Self::Write(outcome) | Self::Leave(outcome) => outcome,
        }
    }
}
