//! The workers of a crawl.

use std::fmt;

/// A caller of ports. The visits of a crawler make calls at any time; others make one after the
/// other, or several together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Worker {
    /// Works turns; its visits run concurrently.
    Crawler(usize),
    /// Parses segments.
    Parser(usize),
    /// Handles commands.
    Scheduler,
    /// Sweeps at intervals.
    Sweeper,
    /// Gives commands at set times.
    Operator,
    /// Calls the server.
    Client(usize),
    /// Looks at schedules.
    Ticker(usize),
}

impl Worker {
    /// A number that differs for each worker.
    pub(crate) const fn number(self) -> usize {
        match self {
            Self::Scheduler => 0,
            Self::Sweeper => 1,
            Self::Operator => 2,
            Self::Crawler(n) => 2 * n + 1,
            Self::Parser(n) => 2 * n + 2,
            Self::Client(n) => 2 * n + 11,
            Self::Ticker(n) => 2 * n + 12,
        }
    }

    /// Whether it does one thing at a time. Such a worker runs, on any thread, until it parks
    /// again: with all calls that it makes together.
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
            Self::Client(n) => write!(f, "client {n}"),
            Self::Ticker(n) => write!(f, "ticker {n}"),
        }
    }
}
