//! Expected differences from a judge: a list that is complete, and has nothing in it that is no longer so.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The most differences of one sort that are printed.
const SHOWN_MAX: usize = 100;

/// What a judge found.
#[derive(Debug, Default)]
pub struct Judgement {
    cases: BTreeSet<String>,
    differing: BTreeMap<String, String>,
}

impl Judgement {
    /// Notes one case; `difference` says how we differ, and is absent where we agree. Of cases with the same name one that differs counts.
    pub fn note(&mut self, case: impl Into<String>, difference: Option<String>) {
        let case = case.into();
        if let Some(difference) = difference {
            self.differing.entry(case.clone()).or_insert(difference);
        }
        self.cases.insert(case);
    }

    /// How many cases there were, those of one name counted once.
    #[must_use]
    pub fn cases(&self) -> usize {
        self.cases.len()
    }

    /// Checks that we differ in the cases of the list, as (case, reason), and in no others.
    ///
    /// # Panics
    /// We differ in a case that is not listed; or one that is listed is not there, or we do not differ in it any more.
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
            (&[], "not listed: \"other\": a, not b\n", "a difference that nobody expects"),
            (
                &[("other", "why"), ("same", "why")],
                "no difference any more: \"same\" (why)\n",
                "a success that nobody expects",
            ),
            (&[("other", "why"), ("gone", "why")], "no such case: \"gone\" (why)\n", "a case that is not there"),
            (&[("other", "why"), ("other", "why")], "a case is listed twice\n", "a case twice"),
        ] {
            assert_eq!(judgement.problems(expected), problem, "{why}");
        }
        assert_eq!(judgement.cases(), 2);
    }
}
