//! An iteration in numbers.

use dragline_domain::frontier::LeftoverReason;
use dragline_domain::outcome::{Outcome, OutcomeClass};
use serde::{Serialize, Serializer};

use crate::causes::CauseCount;

/// An iteration in numbers. The names of the fields are those of the JSON that `status --json` prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// URLs that wait to be asked for.
    pub waiting: u64,
    /// Captures that broke the parser.
    pub stuck: u64,
    /// Why nothing was got, the commonest cause first; empty where something was, or the iteration is not over.
    pub causes: Vec<CauseCount>,
    /// Final outcomes by count, the most frequent first.
    pub outcomes: Vec<OutcomeCount>,
    /// Requests that were logged, those that were tried again included.
    pub requests: u64,
    /// URLs that ended with an answer.
    pub pages: u64,
    /// Bytes of all bodies as received.
    pub body_bytes: u64,
    /// The requests that took longest.
    pub slowest: Vec<Slow>,
    /// Why URLs that were found were not asked for, the most frequent reason first.
    pub not_crawled: Vec<NotCrawled>,
    /// URLs that were queued and never had their turn, by reason, the most first.
    #[serde(serialize_with = "as_objects")]
    pub leftovers: Vec<(LeftoverReason, u64)>,
    /// Links that were left alone, as more waited than the budget of pages lets the iteration ask for.
    pub links_beyond_budget: u64,
    /// URLs that were found with parameters that were taken out.
    pub urls_stripped: u64,
}

/// How many URLs ended so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutcomeCount {
    /// The outcome's number.
    pub outcome: i16,
    /// Its name.
    pub name: String,
    /// Its class: `content`, `redirect`, `missing`, `failed`, `blocked` or `dismissed`.
    pub class: String,
    /// How many.
    pub urls: u64,
}

/// A request that took long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slow {
    /// The URL.
    pub url: String,
    /// From the request's start to its end.
    pub duration_ms: u64,
}

/// URLs that were not asked for, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotCrawled {
    /// The outcome's number.
    pub outcome: i16,
    /// Its name.
    pub name: String,
    /// The rule that decided; absent where the outcome says it all.
    pub detail: Option<String>,
    /// How many.
    pub urls: u64,
    /// One of them.
    pub example: String,
}

impl Figures {
    /// Whether nothing failed: no URL, no capture, no origin. Limits that the user set are no failures.
    #[must_use]
    pub fn is_all_well(&self) -> bool {
        let has_failed = |counted: &OutcomeCount| {
            Outcome::from_code(counted.outcome)
                .is_some_and(|outcome| outcome.class() == OutcomeClass::Failed && outcome != Outcome::BudgetExhausted)
        };
        let is_failure = |(reason, _): &(LeftoverReason, u64)| match reason {
            LeftoverReason::OriginGivenUp
            | LeftoverReason::RobotsUnreadable
            | LeftoverReason::Stuck
            | LeftoverReason::SegmentUnreadable => true,
            LeftoverReason::Stopped | LeftoverReason::BudgetExhausted | LeftoverReason::OriginBudgetExhausted => false,
        };
        self.stuck == 0 && !self.outcomes.iter().any(has_failed) && !self.leftovers.iter().any(is_failure)
    }

    /// Whether anything was got, or is known to be as it was.
    #[must_use]
    pub fn has_content(&self) -> bool {
        let is_content = |counted: &OutcomeCount| {
            Outcome::from_code(counted.outcome).is_some_and(|outcome| outcome.class() == OutcomeClass::Content)
        };
        self.outcomes.iter().any(is_content)
    }
}

/// Leftovers as objects with names, as everything else of a summary is.
fn as_objects<S: Serializer>(leftovers: &[(LeftoverReason, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Leftover {
        reason: &'static str,
        urls: u64,
    }
    serializer.collect_seq(leftovers.iter().map(|(reason, urls)| Leftover { reason: reason.name(), urls: *urls }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_well_unless_something_failed() {
        let ended = |outcome: Outcome| {
            let (name, class) = (outcome.name().to_owned(), outcome.class().name().to_owned());
            let outcomes = vec![OutcomeCount { outcome: outcome.code(), name, class, urls: 1 }];
            Figures { outcomes, ..Figures::default() }
        };
        let left = |reason| Figures { leftovers: vec![(reason, 1)], ..Figures::default() };
        for (figures, expected, why) in [
            (Figures::default(), true, "nothing happened"),
            (ended(Outcome::FileIngested), true, "a page"),
            (ended(Outcome::FileNotFound), true, "the site says that there is nothing"),
            (ended(Outcome::BlockedByRobotsTxt), true, "the site does not want it"),
            (ended(Outcome::ServerInternalError), false, "the site failed"),
            (ended(Outcome::RequestTimeout), false, "it did not answer"),
            (ended(Outcome::BudgetExhausted), true, "as the user wished"),
            (left(LeftoverReason::BudgetExhausted), true, "as the user wished"),
            (left(LeftoverReason::OriginBudgetExhausted), true, "as the user wished"),
            (left(LeftoverReason::Stopped), true, "as the user wished"),
            (left(LeftoverReason::OriginGivenUp), false, "the site failed too often"),
            (left(LeftoverReason::RobotsUnreadable), false, "its robots.txt cannot be read"),
            (left(LeftoverReason::Stuck), false, "a defect"),
            (left(LeftoverReason::SegmentUnreadable), false, "its captures are lost"),
            (Figures { stuck: 1, ..Figures::default() }, false, "a page that broke the parser"),
        ] {
            assert_eq!(figures.is_all_well(), expected, "{why}");
        }
    }
}
