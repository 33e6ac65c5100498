//! The rules of one group, ordered so that a URL is compared with few of them.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use super::cost;
use super::pattern::Pattern;
use super::verdict::Rule;

/// An index of rules by the literal prefixes of their patterns.
///
/// A path is compared only with rules whose prefix it starts with. The prefixes are sorted. The
/// longest matching prefix is the path's predecessor in that order or a prefix of it; the others
/// are found from parent to parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RuleIndex {
    /// Sorted by prefix; within one prefix, the winner comes first.
    rules: Vec<Entry>,
    /// One node per prefix, sorted by it.
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    rule: Rule,
    pattern: Pattern,
}

/// The rules with a common prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    /// Their range in [`RuleIndex::rules`]; never empty.
    rules: Range<usize>,
    /// The node of the longest shorter prefix with which this prefix starts.
    parent: Option<usize>,
}

/// A rule that matched, ordered by precedence: the greater decides.
#[derive(Clone, Copy)]
pub(super) struct RankedRule<'r>(&'r Rule);

impl<'r> RankedRule<'r> {
    pub(super) const fn rule(self) -> &'r Rule {
        self.0
    }
}

impl Ord for RankedRule<'_> {
    /// Compares the length of the pattern as written, with non-ASCII encoded; then `Allow` wins;
    /// then the earlier line, so that the result is deterministic.
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |rule: &Rule| (rule.pattern.len(), rule.kind, Reverse(rule.line));
        rank(self.0).cmp(&rank(other.0))
    }
}

impl PartialOrd for RankedRule<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedRule<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RankedRule<'_> {}

impl RuleIndex {
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        let mut rules: Vec<Entry> =
            rules.into_iter().map(|rule| Entry { pattern: Pattern::new(&rule.pattern), rule }).collect();
        rules.sort_by(|a, b| {
            let by_prefix = a.pattern.prefix().cmp(b.pattern.prefix());
            by_prefix.then_with(|| RankedRule(&b.rule).cmp(&RankedRule(&a.rule)))
        });
        let nodes = build_nodes(&rules);
        Self { rules, nodes }
    }

    /// Returns the rule that decides on a path normalised for comparison; `None` if none matches.
    pub(super) fn best_match(&self, path: &str) -> Option<RankedRule<'_>> {
        let following = self.nodes.partition_point(|node| {
            let prefix = self.prefix(node);
            cost::count(|| common_len(prefix, path) + 1);
            prefix <= path
        });
        let mut next = following.checked_sub(1);
        let common = next.map_or(0, |at| common_len(self.prefix(&self.nodes[at]), path));
        let mut best: Option<RankedRule<'_>> = None;
        while let Some(node) = next.map(|at| &self.nodes[at]) {
            cost::count(|| 1);
            if self.prefix(node).len() <= common {
                let candidates = self.rules[node.rules.clone()].iter();
                let found = candidates
                    .take_while(|entry| best.is_none_or(|best| best < RankedRule(&entry.rule)))
                    .find(|entry| entry.pattern.matches_behind_prefix(path));
                best = best.max(found.map(|entry| RankedRule(&entry.rule)));
            }
            next = node.parent;
        }
        best
    }

    fn prefix(&self, node: &Node) -> &str {
        self.rules[node.rules.start].pattern.prefix()
    }
}

/// Builds the nodes of sorted rules.
fn build_nodes(rules: &[Entry]) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    // The latest node and its ancestors: as the prefixes are sorted, only those can be prefixes of
    // the next.
    let mut ancestors: Vec<usize> = Vec::new();
    let mut start = 0;
    for same in rules.chunk_by(|a, b| a.pattern.prefix() == b.pattern.prefix()) {
        let prefix = same[0].pattern.prefix();
        while ancestors.pop_if(|at| !prefix.starts_with(rules[nodes[*at].rules.start].pattern.prefix())).is_some() {}
        let parent = ancestors.last().copied();
        ancestors.push(nodes.len());
        nodes.push(Node { rules: start..start + same.len(), parent });
        start += same.len();
    }
    nodes
}

/// Returns the length of the common prefix of two texts, in octets.
fn common_len(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::robots::verdict::RuleKind;

    proptest! {
        #[test]
        fn the_index_agrees_with_a_search_of_all_rules(
            patterns in prop::collection::vec(("/[ab*]{0,5}[$]?", any::<bool>()), 0..20),
            path in "/[ab]{0,6}",
        ) {
            let rules: Vec<Rule> = (1..)
                .zip(patterns)
                .map(|(line, (pattern, allow))| {
                    Rule { line, kind: if allow { RuleKind::Allow } else { RuleKind::Disallow }, pattern }
                })
                .collect();
            let matches = |rule: &&Rule| {
                let pattern = Pattern::new(&rule.pattern);
                path.starts_with(pattern.prefix()) && pattern.matches_behind_prefix(&path)
            };
            let expected = rules.iter().filter(matches).max_by_key(|rule| RankedRule(rule)).cloned();
            let index = RuleIndex::new(rules);
            prop_assert_eq!(index.best_match(&path).map(RankedRule::rule).cloned(), expected);
        }
    }
}
