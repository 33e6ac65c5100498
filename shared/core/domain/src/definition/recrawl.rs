//! When a known URL is fetched again, as written by the user.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::validate::problem;
use super::{Condition, Key, KeyPlace, Mistake, Problem, Quantity};

/// When a known URL is fetched again: one policy for all URLs, and rules for some of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recrawl {
    /// [`Key::RecrawlPolicy`]. `None`: adaptive with an interval, always without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<RecrawlWord>,
    /// [`Key::RecrawlInterval`].
    pub interval: Option<Duration>,
    /// [`Key::RecrawlMin`].
    pub min: Duration,
    /// [`Key::RecrawlMax`].
    pub max: Duration,
    /// [`Key::RecrawlRules`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RecrawlRule>,
}

impl Default for Recrawl {
    fn default() -> Self {
        Self {
            policy: None,
            interval: None,
            min: Duration::from_hours(1),
            max: Duration::from_hours(90 * 24),
            rules: Vec::new(),
        }
    }
}

/// The user's word for a policy. Together with its times it becomes a
/// [`RecrawlPolicy`](crate::recrawl::RecrawlPolicy).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecrawlWord {
    /// In every iteration.
    Always,
    /// After the same interval each time.
    Fixed,
    /// After an interval that grows while a page is unchanged, and shrinks when it changes.
    Adaptive,
}

impl fmt::Display for RecrawlWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Always => "always",
            Self::Fixed => "fixed",
            Self::Adaptive => "adaptive",
        })
    }
}

/// Another policy for some URLs. `None` stands for the value that applies to all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecrawlRule {
    /// The condition for its URLs, unless an earlier rule covers them.
    pub when: Condition,
    /// Replaces [`Recrawl::policy`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<RecrawlWord>,
    /// Replaces [`Recrawl::interval`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Replaces [`Recrawl::min`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Duration>,
    /// Replaces [`Recrawl::max`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Duration>,
}

impl RecrawlRule {
    fn time(&self, key: Key) -> Option<Duration> {
        match key {
            Key::RecrawlInterval => self.interval,
            Key::RecrawlMin => self.min,
            Key::RecrawlMax => self.max,
            _ => None,
        }
    }
}

impl Recrawl {
    /// Whether a policy uses this time from here, rather than from its rule; otherwise the time has
    /// no effect.
    #[must_use]
    pub fn uses(&self, key: Key) -> bool {
        self.levels().any(|level| level.needs(key) && level.rule_time(key).is_none())
    }

    /// Returns the values that apply to all URLs.
    pub(crate) fn for_all(&self) -> Level<'_> {
        Level { recrawl: self, rule: None }
    }

    /// Returns the values that result from each rule.
    pub(crate) fn for_rules(&self) -> impl Iterator<Item = Level<'_>> {
        self.rules.iter().enumerate().map(|rule| Level { recrawl: self, rule: Some(rule) })
    }

    fn levels(&self) -> impl Iterator<Item = Level<'_>> {
        std::iter::once(self.for_all()).chain(self.for_rules())
    }
}

/// The values of a policy, combined from a rule and from those that apply to all URLs.
#[derive(Clone, Copy)]
pub(crate) struct Level<'r> {
    recrawl: &'r Recrawl,
    /// The rule and its position; `None`: the values that apply to all URLs.
    pub(crate) rule: Option<(usize, &'r RecrawlRule)>,
}

impl Level<'_> {
    pub(crate) fn policy(self) -> RecrawlWord {
        let written = self.rule.and_then(|(_, rule)| rule.policy).or(self.recrawl.policy);
        let by_interval = || self.interval().map_or(RecrawlWord::Always, |_| RecrawlWord::Adaptive);
        written.unwrap_or_else(by_interval)
    }

    pub(crate) fn interval(self) -> Option<Duration> {
        self.rule_time(Key::RecrawlInterval).or(self.recrawl.interval)
    }

    pub(crate) fn min(self) -> Duration {
        self.rule_time(Key::RecrawlMin).unwrap_or(self.recrawl.min)
    }

    pub(crate) fn max(self) -> Duration {
        self.rule_time(Key::RecrawlMax).unwrap_or(self.recrawl.max)
    }

    /// Returns a time that applies, with its place; `None` if there is none.
    fn time(self, key: Key) -> Option<(KeyPlace, Duration)> {
        let time = match key {
            Key::RecrawlInterval => self.interval(),
            Key::RecrawlMin => Some(self.min()),
            Key::RecrawlMax => Some(self.max()),
            _ => None,
        };
        Some((self.place(key, self.rule_time(key).is_some()), time?))
    }

    fn rule_time(self, key: Key) -> Option<Duration> {
        self.rule.and_then(|(_, rule)| rule.time(key))
    }

    /// Whether its policy uses this time. Every policy uses a longest wait, for pages that are
    /// gone.
    fn needs(self, key: Key) -> bool {
        match key {
            Key::RecrawlInterval => self.policy() != RecrawlWord::Always,
            Key::RecrawlMin => self.policy() == RecrawlWord::Adaptive,
            _ => true,
        }
    }

    /// Returns the place of a key: in its rule, or at the top.
    fn place(self, key: Key, is_in_rule: bool) -> KeyPlace {
        match self.rule {
            Some((entry, _)) if is_in_rule => KeyPlace::part(Key::RecrawlRules, entry, key),
            _ => key.into(),
        }
    }
}

const TIMES: [Key; 3] = [Key::RecrawlInterval, Key::RecrawlMin, Key::RecrawlMax];

/// Returns the problems beyond the bounds of single keys and the form of conditions.
pub(super) fn problems(recrawl: &Recrawl) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    for level in recrawl.levels() {
        let found = level.rule.map(|(entry, rule)| in_rule(level, entry, rule));
        let found = found.into_iter().flatten().chain(no_interval(level)).chain(crossed(level));
        for problem in found {
            // A value is reported once, even if several others bound it.
            if problems.iter().all(|told| told.place != problem.place) {
                problems.push(problem);
            }
        }
    }
    problems
}

/// Returns the problems within a single rule.
fn in_rule(level: Level<'_>, entry: usize, rule: &RecrawlRule) -> Vec<Problem> {
    let times = || TIMES.into_iter().filter_map(|key| Some((key, rule.time(key)?)));
    if rule.policy.is_none() && times().next().is_none() {
        return vec![problem(KeyPlace::entry(Key::RecrawlRules, entry), Mistake::EmptyRule)];
    }
    let mistake = |key: Key, time: Duration| {
        let out_of_range = key.kind().mistake(Quantity::Time(time));
        out_of_range.or_else(|| (!level.needs(key)).then(|| Mistake::NoEffect(level.policy())))
    };
    times().filter_map(|(key, time)| Some(problem(level.place(key, true), mistake(key, time)?))).collect()
}

fn no_interval(level: Level<'_>) -> Option<Problem> {
    let is_in_rule = level.rule.is_some_and(|(_, rule)| rule.policy.is_some());
    // A value that a rule leaves out is reported where it applies to all.
    let is_reported = level.rule.is_none() || is_in_rule;
    let lacks = level.needs(Key::RecrawlInterval) && level.interval().is_none();
    (lacks && is_reported)
        .then(|| problem(level.place(Key::RecrawlPolicy, is_in_rule), Mistake::NoInterval(level.policy())))
}

/// Returns the contradictions between times, as far as the policy uses both.
fn crossed(level: Level<'_>) -> Vec<Problem> {
    const PAIRS: [(Key, Key); 3] = [
        (Key::RecrawlMin, Key::RecrawlMax),
        (Key::RecrawlMin, Key::RecrawlInterval),
        (Key::RecrawlInterval, Key::RecrawlMax),
    ];
    let needed = PAIRS.into_iter().filter(|(low, high)| level.needs(*low) && level.needs(*high));
    let crossed = |(low, high)| {
        let ((low, less), (high, more)) = (level.time(low)?, level.time(high)?);
        let (less_told, more_told) = (Quantity::Time(less), Quantity::Time(more));
        let is_rule_above = low.entry.is_none() && high.entry.is_some();
        (less > more).then(|| {
            if is_rule_above {
                // The mistake is the rule's.
                problem(high, Mistake::LessThan { value: more_told, other: low, bound: less_told })
            } else {
                problem(low, Mistake::MoreThan { value: less_told, other: high, bound: more_told })
            }
        })
    };
    needed.filter_map(crossed).collect()
}
