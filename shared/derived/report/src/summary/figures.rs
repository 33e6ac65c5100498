//! The figures of an iteration.

use std::collections::BTreeMap;

use dragline_domain::change::ChangeKind;
use dragline_domain::doubt::Doubt;
use dragline_domain::frontier::LeftoverReason;
use dragline_domain::outcome::{Outcome, OutcomeClass};
use dragline_domain::refusal::Refusal;
use serde::{Deserialize, Serialize, Serializer};

use crate::summary::causes::CauseCount;

/// The figures of an iteration. The field names are those of `status --json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// URLs that wait to be requested.
    pub waiting: u64,
    /// Captures that broke the parser. This and the optional counts below come from the origins'
    /// rows, which only cover the latest iteration: they are `None` for an earlier one.
    pub stuck: Option<u64>,
    /// Pages that lost or gained fields of items together with others of their kind; `None` as
    /// above.
    pub drifted: Option<u64>,
    /// Why nothing was fetched, the most common cause first; empty if something was, or if the
    /// iteration is not over.
    pub causes: Vec<CauseCount>,
    /// Final outcomes, the most frequent first.
    pub outcomes: Vec<OutcomeCount>,
    /// How those refused that count as `blocked_at_request_of_remote`.
    #[serde(serialize_with = "every_refusal")]
    pub refusals: BTreeMap<Refusal, u64>,
    /// Requests in the log, retries included.
    pub requests: u64,
    /// URLs that ended with an answer.
    pub pages: u64,
    /// The number of URLs by the kind of change to the current state of the site.
    #[serde(serialize_with = "every_kind")]
    pub changes: BTreeMap<ChangeKind, u64>,
    /// Documents that were rebuilt from stored data, without a visit.
    pub remade: u64,
    /// Known URLs that were never visited, if any were left over; the next iteration will visit
    /// them. `None` unless the latest iteration is over and left something.
    pub unvisited: Option<u64>,
    /// The size of all bodies as received, in bytes.
    pub body_bytes: u64,
    /// Bodies that were cut, as they exceed a limit.
    pub bodies_cut: u64,
    /// The slowest requests.
    pub slowest: Vec<Slow>,
    /// Why discovered URLs were not requested, the most frequent reason first.
    pub not_crawled: Vec<NotCrawled>,
    /// URLs that were queued but never had their turn, by reason, the most frequent first.
    #[serde(serialize_with = "as_objects")]
    pub leftovers: Vec<(LeftoverReason, u64)>,
    /// Whether an origin was given up as it did not let the crawl in, although the definition says
    /// who it is.
    #[serde(skip)]
    pub is_kept_out: bool,
    /// Pages with an implausible canonical URL, by reason, the most frequent first.
    pub canonicals_doubted: Vec<CanonicalsDoubted>,
    /// Pages that are nearly empty without JavaScript, among those parsed in this iteration:
    /// unchanged pages are not counted.
    pub scripted: ScriptedPages,
    /// Links that were not followed, because more URLs were waiting than the page budget can cover;
    /// `None` as above.
    pub links_beyond_budget: Option<u64>,
    /// Links that were not followed, because of nofollow; `None` as above.
    pub links_nofollow: Option<u64>,
    /// URLs that were discovered with query parameters that were stripped; `None` as above.
    pub urls_stripped: Option<u64>,
}

/// The number of URLs with one outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutcomeCount {
    /// The outcome's number.
    pub outcome: i16,
    /// The outcome's name.
    pub name: String,
    /// The outcome's class: `content`, `redirect`, `missing`, `failed`, `blocked`, `dismissed` or
    /// `checked`.
    pub class: String,
    /// The number of URLs.
    pub urls: u64,
}

/// A slow request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slow {
    /// The URL.
    pub url: String,
    /// The duration of the request, in milliseconds.
    pub duration_ms: u64,
}

/// URLs that were not requested for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotCrawled {
    /// The outcome's number.
    pub outcome: i16,
    /// The outcome's name.
    pub name: String,
    /// The deciding rule; `None` if the outcome is enough.
    pub detail: Option<String>,
    /// The number of URLs.
    pub urls: u64,
    /// One of the URLs.
    pub example: String,
}

/// Pages whose text and links are made by scripts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptedPages {
    /// The number of pages.
    pub pages: u64,
    /// The alphabetically first URLs, three at most.
    pub examples: Vec<String>,
}

impl ScriptedPages {
    /// The maximum number of examples.
    const EXAMPLES_MAX: usize = 3;

    /// Counts a page.
    pub(crate) fn add(&mut self, url: &str) {
        self.pages += 1;
        let place = self.examples.partition_point(|known| known.as_str() < url);
        if place < Self::EXAMPLES_MAX {
            self.examples.insert(place, url.to_owned());
            self.examples.truncate(Self::EXAMPLES_MAX);
        }
    }
}

/// Pages with an implausible canonical URL, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CanonicalsDoubted {
    /// The reason.
    #[serde(serialize_with = "by_name")]
    pub why: Doubt,
    /// The number of pages.
    pub pages: u64,
    /// The most frequent canonical URL among them.
    pub canonical: String,
    /// The number of pages that name it.
    pub named_by: u64,
}

fn by_name<S: Serializer>(doubt: &Doubt, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(doubt.name())
}

impl Figures {
    /// Returns the figures without those that are only known for the latest iteration. Nothing
    /// waits in an earlier one, as it is over.
    pub(crate) fn for_earlier_iteration(mut self) -> Self {
        self.leftovers.retain(|(reason, _)| *reason != LeftoverReason::SegmentUnreadable);
        let (stuck, drifted, urls_stripped) = (None, None, None);
        Self { waiting: 0, stuck, drifted, links_beyond_budget: None, links_nofollow: None, urls_stripped, ..self }
    }

    /// Returns whether known URLs may never have been visited: some were left over, or a limit
    /// ended the iteration.
    pub(crate) fn has_left_something(&self) -> bool {
        let is_limit = |counted: &OutcomeCount| counted.outcome == Outcome::BudgetExhausted.code();
        !self.leftovers.is_empty() || self.links_beyond_budget.unwrap_or(0) > 0 || self.outcomes.iter().any(is_limit)
    }

    /// Returns whether pages are stuck, or have items with other fields than before. Not known for
    /// an earlier iteration.
    #[must_use]
    pub fn have_pages_changed(&self) -> bool {
        self.stuck.unwrap_or(0) > 0 || self.drifted.unwrap_or(0) > 0
    }

    /// Returns whether nothing failed: no URL, no capture, no origin. Reaching a limit that the
    /// user set is not a failure.
    #[must_use]
    pub fn is_all_well(&self) -> bool {
        let has_failed = |counted: &OutcomeCount| {
            Outcome::from_code(counted.outcome).is_some_and(|outcome| match outcome {
                Outcome::BudgetExhausted => false,
                Outcome::LoggedOut => true,
                outcome => outcome.class() == OutcomeClass::Failed,
            })
        };
        let is_failure = |(reason, _): &(LeftoverReason, u64)| match reason {
            LeftoverReason::OriginGivenUp
            | LeftoverReason::RobotsUnreadable
            | LeftoverReason::LoggedOut
            | LeftoverReason::Stuck
            | LeftoverReason::SegmentUnreadable => true,
            LeftoverReason::Stopped | LeftoverReason::BudgetExhausted | LeftoverReason::OriginBudgetExhausted => false,
        };
        self.stuck.unwrap_or(0) == 0 && !self.outcomes.iter().any(has_failed) && !self.leftovers.iter().any(is_failure)
    }

    /// Returns whether an origin did not let the crawl in, although the definition says who it is:
    /// it was given up, or nothing else came of it.
    #[must_use]
    pub fn was_kept_out(&self) -> bool {
        let is_logged_out = |counted: &OutcomeCount| counted.outcome == Outcome::LoggedOut.code();
        self.is_kept_out || self.outcomes.iter().any(is_logged_out) && !self.has_content()
    }

    /// Returns whether any content was fetched, or is known to be unchanged.
    #[must_use]
    pub fn has_content(&self) -> bool {
        let is_content = |counted: &OutcomeCount| {
            Outcome::from_code(counted.outcome).is_some_and(|outcome| outcome.class() == OutcomeClass::Content)
        };
        self.outcomes.iter().any(is_content)
    }
}

/// Serialises the changes as an object with every kind, including those without any.
fn every_kind<S: Serializer>(changes: &BTreeMap<ChangeKind, u64>, serializer: S) -> Result<S::Ok, S::Error> {
    let of = |kind: ChangeKind| (kind.name(), changes.get(&kind).copied().unwrap_or(0));
    serializer.collect_map(ChangeKind::ALL.map(of))
}

/// Serialises the refusals as an object with every kind, including those without any.
fn every_refusal<S: Serializer>(refusals: &BTreeMap<Refusal, u64>, serializer: S) -> Result<S::Ok, S::Error> {
    let of = |refusal: Refusal| (refusal.name(), refusals.get(&refusal).copied().unwrap_or(0));
    serializer.collect_map(Refusal::ALL.map(of))
}

/// Serialises leftovers as objects, like the other lists of a summary.
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
    fn the_first_scripted_pages_are_named_in_any_order() {
        let counted = |urls: &[&str]| {
            let mut scripted = ScriptedPages::default();
            urls.iter().for_each(|url| scripted.add(url));
            (scripted.pages, scripted.examples)
        };
        let expected = (5, ["a", "b", "c"].map(str::to_owned).to_vec());
        assert_eq!(counted(&["a", "b", "c", "d", "e"]), expected);
        assert_eq!(counted(&["e", "c", "d", "b", "a"]), expected);
    }

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
            (ended(Outcome::FileNotFound), true, "the site says that there is no such page"),
            (ended(Outcome::BlockedByRobotsTxt), true, "the site does not want it"),
            (ended(Outcome::ServerInternalError), false, "the site failed"),
            (ended(Outcome::RequestTimeout), false, "it did not answer"),
            (ended(Outcome::LoggedOut), false, "it asks who we are, and we said so"),
            (left(LeftoverReason::LoggedOut), false, "the same of a whole origin"),
            (ended(Outcome::BudgetExhausted), true, "a limit set by the user"),
            (left(LeftoverReason::BudgetExhausted), true, "a limit set by the user"),
            (left(LeftoverReason::OriginBudgetExhausted), true, "a limit set by the user"),
            (left(LeftoverReason::Stopped), true, "the user stopped it"),
            (left(LeftoverReason::OriginGivenUp), false, "the site failed too often"),
            (left(LeftoverReason::RobotsUnreadable), false, "its robots.txt cannot be read"),
            (left(LeftoverReason::Stuck), false, "a defect"),
            (left(LeftoverReason::SegmentUnreadable), false, "its captures are lost"),
            (Figures { stuck: Some(1), ..Figures::default() }, false, "a page that broke the parser"),
        ] {
            assert_eq!(figures.is_all_well(), expected, "{why}");
        }
    }
}
