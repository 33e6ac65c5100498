//! The result of a decision over rows.

/// What to do for an operation, decided from the rows as they were read. An adapter writes what was decided on condition that the rows have not
/// changed, and returns the outcome; if they have changed, it reads and decides again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided<T> {
    /// Write the rows. Then this is the outcome.
    Write(T),
    /// Write nothing: this is the outcome.
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
