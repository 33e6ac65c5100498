//! Expected differences from a judge: a complete list without stale entries.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The most differences of one kind to print.
const SHOWN_MAX: usize = 100;

/// The findings of a judge.
#[derive(Debug, Default)]
pub struct Judgement {
    cases: BTreeSet<String>,
    differing: BTreeMap<String, String>,
}

impl Judgement {
    /// Records a case; `difference` says how we differ, and is `None` if we agree. Among cases of
    /// the same name one that differs counts.
    pub fn note(&mut self, case: impl Into<String>, difference: Option<String>) {
        let case = case.into();
        if let Some(difference) = difference {
            self.differing.entry(case.clone()).or_insert(difference);
        }
        self.cases.insert(case);
    }

    /// The number of cases; those of the same name count once.
    #[must_use]
    pub fn cases(&self) -> usize {
        self.cases.len()
    }

    /// Checks that we differ in exactly the listed cases, given as (case, reason).
    ///
    /// # Panics
    /// If we differ in a case that is not listed, or a listed case does not exist or does not
    /// differ any more.
    pub fn hold(&self, expected: &[(&str, &str)]) {
        let problems = self.problems(expected);
        assert!(problems.is_empty(), "of {} cases:\n{problems}", self.cases());
    }

    fn problems(&self, expected: &[(&str, &str)]) -> String {
        let listed: BTreeMap<&str, &str> = expected.iter().copied().collect();
        let mut problems = String::new();
        if listed.len() != expected.len() {
            problems.push_str("a case is listed twice\n");
        }
        let unexpected: Vec<_> =
            self.differing.iter().filter(|(case, _)| !listed.contains_key(case.as_str())).collect();
        for (case, difference) in unexpected.iter().take(SHOWN_MAX) {
            let _ = writeln!(problems, "not listed: {case:?}: {difference}");
        }
        if unexpected.len() > SHOWN_MAX {
            let _ = writeln!(problems, "and {} more", unexpected.len() - SHOWN_MAX);
        }
        for (case, why) in &listed {
            if !self.cases.contains(*case) {
                let _ = writeln!(problems, "no such case: {case:?} ({why})");
            } else if !self.differing.contains_key(*case) {
                let _ = writeln!(problems, "no difference any more: {case:?} ({why})");
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_must_be_what_is_found() {
        let mut judgement = Judgement::default();
        judgement.note("same", None);
        judgement.note("other", Some("a, not b".to_owned()));
        judgement.note("other", None);
        for (expected, problem, why) in [
            (&[("other", "why")][..], "", "as found"),
            (&[], "not listed: \"other\": a, not b\n", "an unexpected difference"),
            (
                &[("other", "why"), ("same", "why")],
                "no difference any more: \"same\" (why)\n",
                "an unexpected agreement",
            ),
            (&[("other", "why"), ("gone", "why")], "no such case: \"gone\" (why)\n", "a case that does not exist"),
            (&[("other", "why"), ("other", "why")], "a case is listed twice\n", "a case listed twice"),
        ] {
            assert_eq!(judgement.problems(expected), problem, "{why}");
        }
        assert_eq!(judgement.cases(), 2);
    }
}
