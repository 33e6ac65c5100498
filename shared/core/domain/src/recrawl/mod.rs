//! When a known URL is due again: its policy, and the decision after each visit.
//!
//! [`RecrawlRules`] selects the policy of a URL; [`next_visit`] decides when it is due again.
//! docs/reference/recrawl.md shows the effect over a year.

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

/// The longest that a failing page is left alone if its policy is `always`.
///
/// Users who fetch everything in each iteration want a page back within a day of its server's
/// recovery, and an iteration that begins daily should behave as if there were no back-off. One
/// that begins hourly should not request a broken page 24 times a day.
pub const FAILING_WAIT_MAX: Duration = Duration::from_hours(24);

/// A definition's rules that assign policies to URLs.
#[derive(Clone, Debug, PartialEq)]
pub struct RecrawlRules {
    rules: Vec<(Condition, RecrawlPolicy)>,
    otherwise: RecrawlPolicy,
}

impl RecrawlRules {
    /// Combines the rules of a definition with the values that they leave out.
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

/// When an existing page is due again. `max` is also the longest wait for a page that is gone.
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
    /// Nutch's adaptive rule: the interval is multiplied by 1.4 after an unchanged visit, and by
    /// 0.8 after a changed one.
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
    /// When a URL that is only checked is due again. A link that works mostly still does a month
    /// later; one that breaks should be told within days.
    pub const CHECK: Self = Self::Adaptive {
        interval: Duration::from_hours(24),
        min: Duration::from_hours(24),
        max: Duration::from_hours(30 * 24),
    };

    fn from_level(level: Level<'_>) -> Self {
        let max = level.max();
        match (level.policy(), level.interval()) {
            (RecrawlWord::Fixed, Some(interval)) => Self::Fixed { interval, max },
            (RecrawlWord::Adaptive, Some(interval)) => Self::Adaptive { interval, min: level.min(), max },
            // A checked definition has an interval if its policy needs one.
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

    /// Returns the interval of a page under this policy, given the stored one, perhaps from another
    /// policy.
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

/// Works like `clamp`, but for any bounds: `max` takes precedence.
fn within(time: Duration, min: Duration, max: Duration) -> Duration {
    time.max(min).min(max)
}

/// The ending of a visit, as far as the time of the next one depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VisitEnd {
    /// The page is there, and is new or has changed.
    Changed,
    /// The page is there, unchanged.
    Unchanged,
    /// The server says that it does not exist: 404, 410.
    Gone,
    /// Nothing was learned about the page: the visit failed, or was forbidden for now.
    Failed,
}

impl VisitEnd {
    /// Returns the ending of a visit with this outcome.
    #[must_use]
    pub const fn from_outcome(outcome: Outcome) -> Self {
        match (outcome, outcome.class()) {
            (Outcome::FileDidNotChange, _) | (_, OutcomeClass::Checked) => Self::Unchanged,
            (_, OutcomeClass::Content | OutcomeClass::Redirect | OutcomeClass::Dismissed) => Self::Changed,
            (_, OutcomeClass::Missing) => Self::Gone,
            (_, OutcomeClass::Failed | OutcomeClass::Blocked) => Self::Failed,
        }
    }
}

/// Since when a page has been away. Failures while it is gone add nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// The server said that it does not exist.
    Gone {
        /// When it first said so.
        since: Timestamp,
    },
    /// The page was there, or was never reached, and its visits fail.
    Failing {
        /// When the first of them failed.
        since: Timestamp,
    },
}

impl Absence {
    /// Returns the time since when.
    #[must_use]
    pub const fn since(self) -> Timestamp {
        match self {
            Self::Gone { since } | Self::Failing { since } => since,
        }
    }

    /// Returns its name as stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gone { .. } => "gone",
            Self::Failing { .. } => "failing",
        }
    }

    /// Returns the value with this name and time; `None` if there is no such name.
    #[must_use]
    pub fn from_name(name: &str, since: Timestamp) -> Option<Self> {
        [Self::Gone { since }, Self::Failing { since }].into_iter().find(|away| away.name() == name)
    }
}

/// The known data about a URL's earlier visits. The default is for a URL that was never visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastVisits {
    /// The interval that led to this visit; `None` if no visit found the page, or if it is due in
    /// every iteration.
    pub interval: Option<Duration>,
    /// Since when the page has been away; `None` if the last visit found it.
    pub away: Option<Absence>,
}

/// When a known URL is due again, and the data for that visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextVisit {
    /// The interval, to be stored for the next decision; `None` if there is none, or if it starts
    /// anew.
    pub interval: Option<Duration>,
    /// When it is due; `None`: in every iteration. Never before the visit.
    pub due_at: Option<Timestamp>,
    /// Since when the page has been away, to be stored for the next decision; `None` if it is
    /// there.
    pub away: Option<Absence>,
}

/// How much earlier than due a URL may be visited.
const EARLY_MAX: Duration = Duration::from_hours(1);

impl NextVisit {
    /// Returns the time from which an iteration visits the URL, if the last iteration began at
    /// `began`; `None`: every iteration. It is up to a twentieth of the wait before the due time,
    /// as iterations do not begin on the second: so a daily iteration visits a URL with an interval
    /// of a day every time.
    #[must_use]
    pub fn visited_from(&self, began: Timestamp) -> Option<Timestamp> {
        let wait = between(began, self.due_at?);
        Some(after(began, wait - (wait / 20).min(EARLY_MAX)))
    }
}

/// Decides when a URL is due again after a visit in an iteration that began at the time `at`.
///
/// - A page that exists is due by its policy.
/// - One that is gone is at first due like a new page. From then on the wait is as long as it has
///   been gone, so it doubles, up to the policy's `max`. When it is back, its interval starts anew.
/// - One that fails is due in the next iteration, as most failures pass. If it fails again, the
///   wait is as long as it has been failing, up to its own interval ([`FAILING_WAIT_MAX`] if it has
///   none). The interval itself does not change.
#[must_use]
pub fn next_visit(policy: &RecrawlPolicy, last: &LastVisits, ended: VisitEnd, at: Timestamp) -> NextVisit {
    let interval_before = || last.interval.filter(|_| !matches!(last.away, Some(Absence::Gone { .. })));
    let found = |interval: Option<Duration>| NextVisit {
        interval,
        due_at: interval.map(|interval| after(at, interval)),
        away: None,
    };
    match (ended, last.away) {
        (VisitEnd::Changed, _) => found(policy.after_change(interval_before())),
        (VisitEnd::Unchanged, _) => found(policy.after_no_change(interval_before())),
        (VisitEnd::Gone, None | Some(Absence::Failing { .. })) => NextVisit {
            interval: None,
            due_at: policy.first().map(|interval| after(at, interval)),
            away: Some(Absence::Gone { since: at }),
        },
        (VisitEnd::Gone | VisitEnd::Failed, Some(Absence::Gone { since })) => {
            let wait = within(between(since, at), policy.first().unwrap_or_default(), policy.max());
            NextVisit { interval: None, due_at: Some(after(at, wait)), away: last.away }
        }
        (VisitEnd::Failed, None) => {
            NextVisit { interval: last.interval, due_at: None, away: Some(Absence::Failing { since: at }) }
        }
        (VisitEnd::Failed, Some(Absence::Failing { since })) => {
            let longest = policy.current(last.interval).unwrap_or(FAILING_WAIT_MAX.min(policy.max()));
            let wait = between(since, at).min(longest);
            NextVisit { interval: last.interval, due_at: Some(after(at, wait)), away: last.away }
        }
    }
}
