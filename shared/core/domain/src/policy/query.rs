//! The query parameters that a URL may have.

use std::collections::HashSet;

use super::QueryRefusal;
use crate::definition::{Condition, QueryRule};
use crate::url::CrawlUrl;

/// The rules, with their names in sets for fast look-up.
#[derive(Clone, Debug)]
pub(super) struct QueryRules(Vec<CompiledRule>);

#[derive(Clone, Debug)]
struct CompiledRule {
    when: Option<Condition>,
    allow: HashSet<String>,
}

impl QueryRules {
    pub(super) fn new(rules: &[QueryRule]) -> Self {
        let compiled =
            |rule: &QueryRule| CompiledRule { when: rule.when.clone(), allow: rule.allow.iter().cloned().collect() };
        Self(rules.iter().map(compiled).collect())
    }

    /// Returns why the URL's query is not allowed; `None` if it is. Without rules, every query is.
    pub(super) fn refusal(&self, url: &CrawlUrl) -> Option<QueryRefusal> {
        if self.0.is_empty() || url.query().is_none() {
            return None;
        }
        let names: HashSet<_> = url.query_pairs().map(|(name, _)| name).collect();
        let mut covered = false;
        for rule in self.0.iter().filter(|rule| rule.when.as_ref().is_none_or(|when| when.matches(url))) {
            covered = true;
            if names.iter().all(|name| rule.allow.contains(name.as_ref())) {
                return None;
            }
        }
        Some(if covered { QueryRefusal::NotAllowed } else { QueryRefusal::NotCovered })
    }
}
