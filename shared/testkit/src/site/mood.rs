//! Servers as they are on a bad day: they close connections, refuse, restart.

use std::fmt;
use std::time::Duration;

use http::StatusCode;

/// Which request it is that a server is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nth {
    /// How many came before it.
    pub of_site: usize,
    /// How many of them on its connection.
    pub of_connection: usize,
}

/// What a server does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It answers.
    Good,
    /// It answers, and then closes the connection without having said so.
    CloseAfter,
    /// It closes the connection instead of answering.
    HangUp,
    /// It answers with this status and an empty body; and with a Retry-After of so many seconds.
    Refuse {
        /// The status.
        status: StatusCode,
        /// Absent: it does not say when to come again.
        retry_after_s: Option<u32>,
    },
    /// It closes every connection, and listens again after so long.
    Restart(Duration),
}

/// What becomes of each request.
pub(super) struct Moods(Box<dyn Fn(Nth) -> Mood + Send + Sync>);

impl Moods {
    pub(super) fn new(moods: impl Fn(Nth) -> Mood + Send + Sync + 'static) -> Self {
        Self(Box::new(moods))
    }

    pub(super) fn of(&self, nth: Nth) -> Mood {
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
