//! What a decision over rows comes to.

/// What becomes of an operation, decided by the rows as they were read. An adapter that writes what was decided on, under the condition that
/// the rows stand as they were, answers with the outcome; where they no longer stand so, it reads and decides again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided<T> {
    /// The rows are to be written. Then this is the outcome.
    Write(T),
    /// Nothing is to be written: this is the outcome.
    Leave(T),
}

impl<T> Decided<T> {
    /// The outcome, whatever is to be written for it.
    pub fn outcome(self) -> T {
        match self {
            Self::Write(outcome) | Self::Leave(outcome) => outcome,
        }
    }
}
