//! How an iteration stands or ended: what `crawl` ends with and `status` shows.

mod text;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dragline_domain::frontier::{IterationStatus, LeftoverReason};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::{Outcome, OutcomeClass};
use dragline_local::{LocalStore, query};
use jiff::Timestamp;
use serde::Serialize;

pub(crate) use text::text;

use crate::error::{CliError, while_doing};
use crate::stored::stored_crawl;

/// How an iteration stands or ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// The crawl's name.
    pub(crate) crawl: String,
    /// The iteration's number, from 1.
    pub(crate) iteration: u32,
    /// Whether it is over.
    pub(crate) status: IterationStatus,
    /// When it began.
    pub(crate) started_at: Timestamp,
    /// When it was over; absent while it is not.
    pub(crate) closed_at: Option<Timestamp>,
    /// The directory that holds everything.
    pub(crate) data: PathBuf,
    /// Requests for pages.
    pub(crate) pages: u64,
    /// URLs that wait to be asked for.
    pub(crate) waiting: u64,
    /// Bodies as received, together.
    pub(crate) body_bytes: u64,
    /// Captures that broke the parser.
    pub(crate) stuck: u64,
    /// Final outcomes, the most frequent first.
    pub(crate) outcomes: Vec<OutcomeCount>,
    /// Why URLs were not asked for, the most frequent reason first.
    pub(crate) not_crawled: Vec<NotCrawled>,
    /// URLs that were left over, by reason.
    pub(crate) leftovers: Vec<LeftOver>,
    /// The URLs that took longest, the longest first.
    pub(crate) slowest: Vec<Slow>,
}

/// How many URLs ended so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct OutcomeCount {
    /// The outcome's number.
    pub(crate) code: i16,
    /// Its name.
    pub(crate) outcome: &'static str,
    /// URLs.
    pub(crate) count: u64,
}

/// Why URLs were not asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct NotCrawled {
    /// The outcome's name.
    pub(crate) outcome: String,
    /// The rule that decided; absent where the outcome says it all.
    pub(crate) detail: Option<String>,
    /// URLs.
    pub(crate) count: u64,
    /// One of them.
    pub(crate) example: String,
}

/// URLs that were left over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LeftOver {
    /// Why.
    pub(crate) reason: LeftoverReason,
    /// URLs.
    pub(crate) count: u64,
}

/// A URL that took long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Slow {
    /// The URL.
    pub(crate) url: String,
    /// From the request's start to its end, in milliseconds.
    pub(crate) elapsed_ms: u64,
}

/// Reads the summary of an iteration. Absent: of the latest one.
///
/// # Errors
/// There is no data directory, no iteration yet, or it cannot be read.
pub(crate) fn read(data: &Path, iteration: Option<Iteration>) -> Result<Summary, CliError> {
    let failed = |source| CliError::Query { data: data.to_owned(), source };
    let not_begun = || CliError::NotBegun { data: data.to_owned() };
    let crawl = stored_crawl(data)?.ok_or_else(not_begun)?;
    let connection = LocalStore::open_read_only(data)?;
    query::summary(&connection, &crawl, iteration)
        .map_err(failed)?
        .map(|found| Summary::of(data, found))
        .ok_or_else(not_begun)
}

/// Prints the summary as one JSON object on one line of standard output.
///
/// # Errors
/// It cannot be written.
pub(crate) fn print_json(summary: &Summary) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, summary)
        .map_err(io::Error::from)
        .and_then(|()| writeln!(out))
        .map_err(while_doing("writing to standard output"))
}

impl Summary {
    fn of(data: &Path, found: query::Summary) -> Self {
        let query::Summary { iteration, pages, waiting, body_bytes, stuck, outcomes, slowest, not_crawled, leftovers } =
            found;
        let counted =
            |(outcome, count): (Outcome, u64)| OutcomeCount { code: outcome.code(), outcome: outcome.name(), count };
        let reason = |why: query::NotCrawled| NotCrawled {
            outcome: why.outcome.name().to_owned(),
            detail: why.detail,
            count: why.count,
            example: why.example,
        };
        Self {
            crawl: iteration.crawl.to_string(),
            iteration: iteration.number.number(),
            status: iteration.status,
            started_at: iteration.started_at,
            closed_at: iteration.closed_at,
            data: data.to_owned(),
            pages,
            waiting,
            body_bytes,
            stuck,
            outcomes: outcomes.into_iter().map(counted).collect(),
            not_crawled: not_crawled.into_iter().map(reason).collect(),
            leftovers: leftovers.into_iter().map(|(reason, count)| LeftOver { reason, count }).collect(),
            slowest: slowest.into_iter().map(|(url, elapsed_ms)| Slow { url, elapsed_ms }).collect(),
        }
    }

    /// Whether nothing failed: no URL, no capture, no origin. Limits that the user set are no failures.
    pub(crate) fn is_all_well(&self) -> bool {
        let has_failed = |counted: &OutcomeCount| {
            Outcome::from_code(counted.code)
                .is_some_and(|outcome| outcome.class() == OutcomeClass::Failed && outcome != Outcome::BudgetExhausted)
        };
        let is_failure = |left: &LeftOver| match left.reason {
            LeftoverReason::OriginGivenUp | LeftoverReason::RobotsUnreadable | LeftoverReason::Stuck => true,
            LeftoverReason::Stopped | LeftoverReason::BudgetExhausted | LeftoverReason::OriginBudgetExhausted => false,
        };
        self.stuck == 0 && !self.outcomes.iter().any(has_failed) && !self.leftovers.iter().any(is_failure)
    }
}
