//! Whoever works on a crawl.

use std::fmt;

/// Whoever calls ports, one at a time or, a crawler, several at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worker {
    /// Works turns. Its visits run beside it.
    Crawler(usize),
    /// Parses segments.
    Parser(usize),
    /// Handles commands.
    Scheduler,
    /// Sweeps, by the clock.
    Sweeper,
    /// Gives orders, by the clock.
    Operator,
}

impl Worker {
    /// Another number for each.
    pub(crate) const fn number(self) -> usize {
        match self {
            Self::Scheduler => 0,
            Self::Sweeper => 1,
            Self::Operator => 2,
            Self::Crawler(n) => 2 * n + 1,
            Self::Parser(n) => 2 * n + 2,
        }
    }

    /// Whether it does one thing after the other. Then it runs, on whatever thread, until it is parked again.
    pub(crate) const fn is_sequential(self) -> bool {
        !matches!(self, Self::Crawler(_))
    }
}

impl fmt::Display for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crawler(n) => write!(f, "crawler {n}"),
            Self::Parser(n) => write!(f, "parser {n}"),
            Self::Scheduler => f.write_str("scheduler"),
            Self::Sweeper => f.write_str("sweeper"),
            Self::Operator => f.write_str("operator"),
        }
    }
}
