//! When a known URL is due again: the policy for it, and the decision after each visit.
//!
//! [`RecrawlRules`] says which policy covers a URL; [`next_visit`] decides how it goes on. docs/recrawl.md shows what that means over a year.

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::definition::{Condition, Definition, Level, RecrawlWord};
use crate::outcome::{Outcome, OutcomeClass};
use crate::time::{after, between};
use crate::url::CrawlUrl;

/// How long a page that fails is left alone at most if its policy is `always`.
///
/// Whoever fetches everything in each iteration wants a page back within a day of its server's recovery, and an iteration that begins daily should
/// behave as if there were no back-off. One that begins hourly should not ask a broken page 24 times a day.
pub const FAILING_WAIT_MAX: Duration = Duration::from_hours(24);

/// The rules of a definition by which URLs get their policies.
#[derive(Clone, Debug, PartialEq)]
pub struct RecrawlRules {
    rules: Vec<(Condition, RecrawlPolicy)>,
    otherwise: RecrawlPolicy,
}

impl RecrawlRules {
    /// Puts the rules of a definition together with what they leave out.
    #[must_use]
    pub fn new(definition: &Definition) -> Self {
        let recrawl = &definition.recrawl;
        let rules = recrawl.for_rules().filter_map(|level| {
            let (_, rule) = level.rule?;
            Some((rule.when.clone(), RecrawlPolicy::from_level(level)))
        });
        Self { rules: rules.collect(), otherwise: RecrawlPolicy::from_level(recrawl.for_all()) }
    }

    /// Returns the policy of the first rule that covers the URL, or the one for all others.
    #[must_use]
    pub fn policy_for(&self, url: &CrawlUrl) -> RecrawlPolicy {
        let rule = self.rules.iter().find(|(when, _)| when.matches(url));
        rule.map_or(self.otherwise, |(_, policy)| *policy)
    }
}

/// When a page that is there is due again. The `max` of each is also the longest wait for a page that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecrawlPolicy {
    /// In every iteration.
    Always {
        /// The longest wait.
        max: Duration,
    },
    /// After the same interval each time.
    Fixed {
        /// The interval.
        interval: Duration,
        /// The longest wait.
        max: Duration,
    },
    /// Nutch's adaptive rule: the interval is multiplied by 1.4 after an unchanged visit, and by 0.8 after a changed one.
    Adaptive {
        /// The first interval.
        interval: Duration,
        /// The shortest one.
        min: Duration,
        /// The longest one, and the longest wait.
        max: Duration,
    },
}

impl RecrawlPolicy {
    fn from_level(level: Level<'_>) -> Self {
        let max = level.max();
        match (level.policy(), level.interval()) {
            (RecrawlWord::Fixed, Some(interval)) => Self::Fixed { interval, max },
            (RecrawlWord::Adaptive, Some(interval)) => Self::Adaptive { interval, min: level.min(), max },
            // A checked definition has an interval where its policy needs one.
            (RecrawlWord::Always, _) | (_, None) => Self::Always { max },
        }
    }

    /// Returns the longest wait.
    #[must_use]
    pub const fn max(self) -> Duration {
        match self {
            Self::Always { max } | Self::Fixed { max, .. } | Self::Adaptive { max, .. } => max,
        }
    }

    /// Returns the interval after the first visit; `None`: every iteration.
    #[must_use]
    pub const fn first(self) -> Option<Duration> {
        match self {
            Self::Always { .. } => None,
            Self::Fixed { interval, .. } | Self::Adaptive { interval, .. } => Some(interval),
        }
    }

    /// Returns the interval that a page has by this policy, given the one that was stored, perhaps under another policy.
    fn current(self, stored: Option<Duration>) -> Option<Duration> {
        match (self, stored) {
            (Self::Adaptive { min, max, .. }, Some(stored)) => Some(within(stored, min, max)),
            _ => self.first(),
        }
    }

    fn after_change(self, stored: Option<Duration>) -> Option<Duration> {
        self.adapted(stored, |interval| interval / 5 * 4)
    }

    fn after_no_change(self, stored: Option<Duration>) -> Option<Duration> {
        self.adapted(stored, |interval| interval.saturating_add(interval / 5 * 2))
    }

    fn adapted(self, stored: Option<Duration>, adapt: fn(Duration) -> Duration) -> Option<Duration> {
        match (self, stored) {
            (Self::Adaptive { min, max, .. }, Some(stored)) => Some(within(adapt(stored), min, max)),
            _ => self.first(),
        }
    }
}

/// As `clamp`, but for any bounds: `max` takes precedence.
fn within(time: Duration, min: Duration, max: Duration) -> Duration {
    time.max(min).min(max)
}

/// How a visit ended, as far as the time of the next one depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// The page is there, and is new or has changed.
    Changed,
    /// The page is there as it was.
    Unchanged,
    /// The server says that it is not there: 404, 410.
    Gone,
    /// Nothing was learned about the page: a failure, or somebody forbade it for now.
    Failed,
}

impl Ended {
    /// Returns how a visit with this outcome ended.
    #[must_use]
    pub const fn from_outcome(outcome: Outcome) -> Self {
        match (outcome, outcome.class()) {
            (Outcome::FileDidNotChange, _) => Self::Unchanged,
            (_, OutcomeClass::Content | OutcomeClass::Redirect | OutcomeClass::Dismissed) => Self::Changed,
            (_, OutcomeClass::Missing) => Self::Gone,
            (_, OutcomeClass::Failed | OutcomeClass::Blocked) => Self::Failed,
        }
    }
}

/// Since when a page has been away. Failures while it is gone say nothing new about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Away {
    /// The server said that it is not there.
    Gone {
        /// When it said so first.
        since: Timestamp,
    },
    /// The page was there, or was never reached, and its visits fail.
    Failing {
        /// When the first of them failed.
        since: Timestamp,
    },
}

impl Away {
    /// Returns since when.
    #[must_use]
    pub const fn since(self) -> Timestamp {
        match self {
            Self::Gone { since } | Self::Failing { since } => since,
        }
    }

    /// What it is, as it is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gone { .. } => "gone",
            Self::Failing { .. } => "failing",
        }
    }

    /// Returns what has this name and has lasted since then; `None` if there is no such name.
    #[must_use]
    pub fn named(name: &str, since: Timestamp) -> Option<Self> {
        [Self::Gone { since }, Self::Failing { since }].into_iter().find(|away| away.name() == name)
    }
}

/// What is known of a URL's earlier visits. The default is for a URL that was never visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastVisits {
    /// The interval that led to this visit; `None` if there was no visit that found the page, or if it was to be visited in every iteration.
    pub interval: Option<Duration>,
    /// Since when the page has been away; `None` if the last visit found it.
    pub away: Option<Away>,
}

/// When a known URL is due again, and what is to be known then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextVisit {
    /// The interval, to be stored for the next decision; `None` if there is none, or if it starts anew.
    pub interval: Option<Duration>,
    /// When it is due; `None`: in every iteration. Never before the visit.
    pub due_at: Option<Timestamp>,
    /// Since when the page has been away, to be stored for the next decision; `None` if it is there.
    pub away: Option<Away>,
}

/// The most that a URL is due before its interval is over.
const EARLY_MAX: Duration = Duration::from_hours(1);

impl NextVisit {
    /// Returns from when on an iteration visits the URL, if the last one began at this time; `None`: every iteration. That is a twentieth of the wait
    /// before it is due, as iterations do not begin on the second: one that begins daily thus visits daily what has an interval of a day.
    #[must_use]
    pub fn visited_from(&self, began: Timestamp) -> Option<Timestamp> {
        let wait = between(began, self.due_at?);
        Some(after(began, wait - (wait / 20).min(EARLY_MAX)))
    }
}

/// Decides when a URL is due again after a visit in an iteration that began at the time `at`.
///
/// - A page that is there is due as its policy says.
/// - One that is gone is due like a new page at first. From then on the wait is as long as it has been gone, so it doubles, up to the policy's `max`.
///   When it is back, its interval starts anew.
/// - One that fails is due in the next iteration, as most failures pass. If it fails again, the wait is as long as it has been failing, up to its own
///   interval ([`FAILING_WAIT_MAX`] if it has none). The interval itself stays as it was.
#[must_use]
pub fn next_visit(policy: &RecrawlPolicy, last: &LastVisits, ended: Ended, at: Timestamp) -> NextVisit {
    let interval_before = || last.interval.filter(|_| !matches!(last.away, Some(Away::Gone { .. })));
    let found = |interval: Option<Duration>| NextVisit {
        interval,
        due_at: interval.map(|interval| after(at, interval)),
        away: None,
    };
    match (ended, last.away) {
        (Ended::Changed, _) => found(policy.after_change(interval_before())),
        (Ended::Unchanged, _) => found(policy.after_no_change(interval_before())),
        (Ended::Gone, None | Some(Away::Failing { .. })) => NextVisit {
            interval: None,
            due_at: policy.first().map(|interval| after(at, interval)),
            away: Some(Away::Gone { since: at }),
        },
        (Ended::Gone | Ended::Failed, Some(Away::Gone { since })) => {
            let wait = within(between(since, at), policy.first().unwrap_or_default(), policy.max());
            NextVisit { interval: None, due_at: Some(after(at, wait)), away: last.away }
        }
        (Ended::Failed, None) => {
            NextVisit { interval: last.interval, due_at: None, away: Some(Away::Failing { since: at }) }
        }
        (Ended::Failed, Some(Away::Failing { since })) => {
            let longest = policy.current(last.interval).unwrap_or(FAILING_WAIT_MAX.min(policy.max()));
            let wait = between(since, at).min(longest);
            NextVisit { interval: last.interval, due_at: Some(after(at, wait)), away: last.away }
        }
    }
}
