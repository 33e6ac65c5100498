//! How an iteration stands or ended: what `crawl` ends with and `status` shows.

mod causes;
mod read;
#[cfg(test)]
mod tests;
mod text;

use std::io;

use dragline_domain::frontier::{IterationStatus, LeftoverReason};
use dragline_domain::outcome::{Outcome, OutcomeClass};
use dragline_local::query;
use jiff::Timestamp;
use serde::Serialize;

use crate::place::Place;
use crate::terminal::write_json;

pub(crate) use causes::{CauseCount, Causes, WhyNothing};
pub(crate) use read::read;
#[cfg(test)]
pub(crate) use tests::visit;
pub(crate) use text::text;

/// How an iteration stands or ended. The names of the fields are those of the JSON that `--json` prints.
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
    /// Where everything is.
    #[serde(flatten)]
    pub(crate) place: Place,
    /// Whether certificates were checked.
    pub(crate) certificates: Certificates,
    /// URLs that wait to be asked for.
    pub(crate) waiting: u64,
    /// Captures that broke the parser.
    pub(crate) stuck: u64,
    /// Why nothing was got, the commonest cause first; empty where something was, or the iteration is not over.
    pub(crate) causes: Vec<CauseCount>,
    /// What the log says.
    #[serde(flatten)]
    pub(crate) log: query::Summary,
}

/// Whether servers had to prove who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Certificates {
    /// They had.
    Checked,
    /// They had not: the crawl was given `--insecure`.
    NotChecked,
}

impl Summary {
    /// Whether nothing failed: no URL, no capture, no origin. Limits that the user set are no failures.
    pub(crate) fn is_all_well(&self) -> bool {
        let has_failed = |counted: &query::OutcomeCount| {
            Outcome::from_code(counted.outcome)
                .is_some_and(|outcome| outcome.class() == OutcomeClass::Failed && outcome != Outcome::BudgetExhausted)
        };
        let is_failure = |(reason, _): &(String, u64)| match LeftoverReason::from_name(reason) {
            Some(
                LeftoverReason::OriginGivenUp
                | LeftoverReason::RobotsUnreadable
                | LeftoverReason::Stuck
                | LeftoverReason::SegmentUnreadable,
            ) => true,
            Some(LeftoverReason::Stopped | LeftoverReason::BudgetExhausted | LeftoverReason::OriginBudgetExhausted)
            | None => false,
        };
        self.stuck == 0 && !self.log.outcomes.iter().any(has_failed) && !self.log.leftovers.iter().any(is_failure)
    }

    /// Whether anything was got, or is known to be as it was.
    pub(crate) fn has_got_something(&self) -> bool {
        has_content(&self.log)
    }

    /// Why nothing was got; absent if something was, or the iteration is not over.
    pub(crate) fn why_nothing(&self) -> Option<WhyNothing<'_>> {
        let is_over = self.status == IterationStatus::Closed;
        (is_over && !self.has_got_something()).then_some(WhyNothing(&self.causes))
    }

    /// Prints it as one JSON object on one line of standard output.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn print_json(&self) -> io::Result<()> {
        write_json(io::stdout().lock(), self)
    }
}

/// Whether an iteration's log has anything that was got, or is known to be as it was.
pub(crate) fn has_content(log: &query::Summary) -> bool {
    let is_content = |counted: &query::OutcomeCount| {
        Outcome::from_code(counted.outcome).is_some_and(|outcome| outcome.class() == OutcomeClass::Content)
    };
    log.outcomes.iter().any(is_content)
}
