//! Servers on a bad day, which close connections, refuse and restart.

use std::fmt;
use std::time::Duration;

use http::StatusCode;

/// The position of a request among those that a server gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nth {
    /// How many requests came before it.
    pub of_site: usize,
    /// How many of them came on its connection.
    pub of_connection: usize,
}

/// What a server does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Answers.
    Good,
    /// Answers, then closes the connection without having announced it.
    CloseAfter,
    /// Closes the connection instead of answering.
    HangUp,
    /// Answers with this status and a short body, and a Retry-After in seconds.
    Refuse {
        /// The status.
        status: StatusCode,
        /// `None` for an answer without Retry-After.
        retry_after_s: Option<u32>,
    },
    /// Closes every connection, and listens again after this time.
    Restart(Duration),
}

/// Decides what happens to each request.
pub(super) struct Moods(Box<dyn Fn(Nth) -> Mood + Send + Sync>);

impl Moods {
    pub(super) fn new(moods: impl Fn(Nth) -> Mood + Send + Sync + 'static) -> Self {
        Self(Box::new(moods))
    }

    pub(super) fn at(&self, nth: Nth) -> Mood {
        (self.0)(nth)
    }
}

impl Default for Moods {
    fn default() -> Self {
        Self::new(|_| Mood::Good)
    }
}

impl fmt::Debug for Moods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Moods")
    }
}
