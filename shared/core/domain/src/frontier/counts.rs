//! An iteration's counts over all its origins. They are updated in the transactions that change the
//! origins' rows, so that nobody has to add up the rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CrawlerCounters, Inbox, Lease, Leftover, LeftoverReason, OriginRows, ParserCounters};
use crate::change::ChangeKind;
use crate::outcome::Outcome;

/// The prefix of names of outcome counts; the number follows, with `_` for a minus.
const OUTCOME: &str = "outcome";

/// The prefix of names of change counts; the kind follows.
const CHANGE: &str = "change_";

/// The prefix of names of leftover counts; the reason follows.
const LEFT: &str = "left_";

/// Counts by name: totals, or the increments from a change of rows, which may be negative.
///
/// ```
/// use dragline_domain::frontier::{Counts, Inbox};
/// use dragline_domain::ids::Iteration;
///
/// let before = Inbox::new(Iteration::FIRST);
/// let after = Inbox { added: 3, ..before.clone() };
/// let mut counts = Counts::default();
/// counts.add(&Counts::from_inbox_change(Some(&before), &after));
/// assert_eq!(counts.number("added"), 3);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Counts(BTreeMap<String, i64>);

impl Counts {
    /// Returns the counts of a lease.
    #[must_use]
    pub fn from_lease(lease: &Lease) -> Self {
        let CrawlerCounters { requests, pages, retries, body_bytes, bodies_cut } = lease.counters;
        let waiting = u64::try_from(lease.retries.len()).unwrap_or(u64::MAX);
        Self::from_numbers([
            ("taken", lease.taken),
            ("retries_waiting", waiting),
            ("segments", lease.segments),
            ("requests", requests),
            ("pages", pages),
            ("retries", retries),
            ("body_bytes", body_bytes),
            ("bodies_cut", bodies_cut),
        ])
    }

    /// Returns the counts of an inbox.
    #[must_use]
    pub fn from_inbox(inbox: &Inbox) -> Self {
        let ParserCounters {
            found,
            found_stripped,
            processed,
            stuck,
            unreadable,
            outcomes,
            links_out_of_scope,
            links_too_deep,
            links_nofollow,
            links_beyond_budget,
            changes,
            reparsed,
            drifted,
        } = &inbox.counters;
        let mut counts = Self::from_numbers([
            ("added", inbox.added),
            ("parsed", inbox.parsed),
            ("found", *found),
            ("found_stripped", *found_stripped),
            ("processed", *processed),
            ("stuck", *stuck),
            ("unreadable", *unreadable),
            ("links_out_of_scope", *links_out_of_scope),
            ("links_too_deep", *links_too_deep),
            ("links_nofollow", *links_nofollow),
            ("links_beyond_budget", *links_beyond_budget),
            ("reparsed", *reparsed),
            ("drifted", *drifted),
        ]);
        counts.0.extend(outcomes.iter().map(|(&outcome, &count)| (outcome_name(outcome), signed(count))));
        counts.0.extend(changes.iter().map(|(kind, &count)| (format!("{CHANGE}{kind}"), signed(count))));
        counts
    }

    /// Returns the count of an origin's leftovers. It may be 0: the reason is still recorded.
    #[must_use]
    pub fn from_leftover(leftover: &Leftover) -> Self {
        Self([(format!("{LEFT}{}", leftover.reason.name()), signed(leftover.count))].into())
    }

    /// Returns the increments from a change of an origin's lease. The counts of another iteration's
    /// row stay with that iteration.
    #[must_use]
    pub fn from_lease_change(before: Option<&Lease>, after: &Lease) -> Self {
        let before = before.filter(|before| before.iteration == after.iteration);
        Self::from_lease(after).since(&before.map(Self::from_lease).unwrap_or_default())
    }

    /// Returns the increments from a change of an origin's inbox, as above.
    #[must_use]
    pub fn from_inbox_change(before: Option<&Inbox>, after: &Inbox) -> Self {
        let before = before.filter(|before| before.iteration == after.iteration);
        Self::from_inbox(after).since(&before.map(Self::from_inbox).unwrap_or_default())
    }

    /// Returns the increments from a change of both rows, as above.
    #[must_use]
    pub fn from_change(before: Option<&OriginRows>, after: &OriginRows) -> Self {
        let mut counts = Self::from_lease_change(before.map(|rows| &rows.lease), &after.lease);
        counts.add(&Self::from_inbox_change(before.map(|rows| &rows.inbox), &after.inbox));
        counts
    }

    /// Returns the increments from an earlier state to this one, without those that are 0.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        for (name, count) in &earlier.0 {
            *self.0.entry(name.clone()).or_default() -= count;
        }
        self.0.retain(|_, count| *count != 0);
        self
    }

    /// Adds other counts.
    pub fn add(&mut self, more: &Self) {
        for (name, count) in &more.0 {
            *self.0.entry(name.clone()).or_default() += count;
        }
    }

    /// Whether there is nothing to add.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the counts by name.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().map(|(name, count)| (name.as_str(), *count))
    }

    /// Returns a count; 0 if it is absent or negative.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        self.0.get(name).map_or(0, |count| u64::try_from(*count).unwrap_or(0))
    }

    /// Returns the crawlers' counters.
    #[must_use]
    pub fn crawler(&self) -> CrawlerCounters {
        CrawlerCounters {
            requests: self.number("requests"),
            pages: self.number("pages"),
            retries: self.number("retries"),
            body_bytes: self.number("body_bytes"),
            bodies_cut: self.number("bodies_cut"),
        }
    }

    /// Returns the parsers' counters.
    #[must_use]
    pub fn parser(&self) -> ParserCounters {
        ParserCounters {
            found: self.number("found"),
            found_stripped: self.number("found_stripped"),
            processed: self.number("processed"),
            stuck: self.number("stuck"),
            unreadable: self.number("unreadable"),
            outcomes: Self::some(self.by(outcome_named)),
            links_out_of_scope: self.number("links_out_of_scope"),
            links_too_deep: self.number("links_too_deep"),
            links_nofollow: self.number("links_nofollow"),
            links_beyond_budget: self.number("links_beyond_budget"),
            changes: Self::some(self.by(change_named)),
            reparsed: self.number("reparsed"),
            drifted: self.number("drifted"),
        }
    }

    /// Returns the number of leftover URLs by reason, in the order of the reasons.
    #[must_use]
    pub fn leftovers(&self) -> Vec<(LeftoverReason, u64)> {
        self.by(|name| LeftoverReason::from_name(name.strip_prefix(LEFT)?)).into_iter().collect()
    }

    fn by<K: Ord>(&self, key: impl Fn(&str) -> Option<K>) -> BTreeMap<K, u64> {
        self.0.keys().filter_map(|name| Some((key(name)?, self.number(name)))).collect()
    }

    fn some<K: Ord>(mut counts: BTreeMap<K, u64>) -> BTreeMap<K, u64> {
        counts.retain(|_, count| *count > 0);
        counts
    }

    fn from_numbers<const N: usize>(numbers: [(&str, u64); N]) -> Self {
        Self(numbers.map(|(name, count)| (name.to_owned(), signed(count))).into())
    }
}

impl FromIterator<(String, i64)> for Counts {
    fn from_iter<I: IntoIterator<Item = (String, i64)>>(numbers: I) -> Self {
        Self(numbers.into_iter().collect())
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn outcome_name(outcome: Outcome) -> String {
    let code = outcome.code();
    if code < 0 { format!("{OUTCOME}_{}", code.unsigned_abs()) } else { format!("{OUTCOME}{code}") }
}

/// Returns the outcome in the name of a count; `None` if it counts something else.
#[must_use]
pub fn outcome_named(name: &str) -> Option<Outcome> {
    let code = name.strip_prefix(OUTCOME)?.replacen('_', "-", 1);
    Outcome::try_from(code.parse::<i16>().ok()?).ok()
}

/// Returns the kind of changes in the name of a count; `None` if it counts something else.
#[must_use]
pub fn change_named(name: &str) -> Option<ChangeKind> {
    ChangeKind::from_name(name.strip_prefix(CHANGE)?)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::ids::{Iteration, Turn};
    use crate::politeness::Pace;

    fn lease() -> Lease {
        let pace = Pace::new(std::time::Duration::from_secs(1));
        let counters = CrawlerCounters { requests: 7, pages: 6, retries: 5, body_bytes: 4, bodies_cut: 3 };
        Lease { taken: 9, segments: 2, counters, ..Lease::opened(None, Iteration::FIRST, pace, Timestamp::UNIX_EPOCH) }
    }

    fn inbox() -> Inbox {
        let counters = ParserCounters {
            found: 1,
            found_stripped: 2,
            processed: 3,
            stuck: 4,
            unreadable: 5,
            outcomes: [(Outcome::UnknownError, 3), (Outcome::FileIngested, 4)].into(),
            links_out_of_scope: 6,
            links_too_deep: 7,
            links_nofollow: 8,
            links_beyond_budget: 9,
            changes: [(ChangeKind::New, 2)].into(),
            reparsed: 10,
            drifted: 11,
        };
        Inbox { added: 12, parsed: 1, counters, ..Inbox::new(Iteration::FIRST) }
    }

    #[test]
    fn every_counter_is_read_back() {
        assert_eq!(Counts::from_lease(&lease()).crawler(), lease().counters);
        assert_eq!(Counts::from_inbox(&inbox()).parser(), inbox().counters);
        for &reason in LeftoverReason::ALL {
            let leftover = Leftover { iteration: Iteration::FIRST, turn: Turn(1), reason, count: 3 };
            assert_eq!(Counts::from_leftover(&leftover).leftovers(), [(reason, 3)]);
        }
    }

    #[test]
    fn increments_add_up_to_the_totals() {
        let first = OriginRows { lease: lease(), inbox: inbox() };
        let mut second = first.clone();
        second.lease.taken += 3;
        second.lease.counters.requests += 1;
        second.inbox.counters.outcomes = [(Outcome::FileIngested, 9)].into();
        let mut counts = Counts::from_change(None, &first);
        counts.add(&Counts::from_change(Some(&first), &second));
        assert_eq!((counts.crawler(), counts.parser()), (second.lease.counters, second.inbox.counters.clone()));
        assert_eq!((counts.number("taken"), counts.number("added")), (12, 12));
        assert!(Counts::from_change(Some(&second), &second).is_empty(), "nothing changed");
        let next = OriginRows {
            lease: Lease { iteration: Iteration::FIRST.next(), ..second.lease.clone() },
            inbox: Inbox { added: 2, ..Inbox::new(Iteration::FIRST.next()) },
        };
        assert_eq!(Counts::from_change(Some(&second), &next).number("added"), 2, "another iteration counts for itself");
    }

    #[test]
    fn names_contain_the_outcome() {
        for outcome in [Outcome::UnknownError, Outcome::FileIngested] {
            assert_eq!(outcome_named(&outcome_name(outcome)), Some(outcome));
        }
        assert_eq!(outcome_named("added"), None, "another number");
    }
}
