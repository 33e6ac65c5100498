//! The pattern of a rule: literals between wildcards, matched from the start of the path (RFC 9309
//! section 2.2.3).

use super::cost;
use super::octets::{QuerySlashes, Speller, Target};

/// A pattern, compiled for matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The literals, normalised for comparison (so without `*`), joined by `*`.
    text: Box<str>,
    /// The length of the first literal, before any `*`.
    prefix_len: usize,
    end: End,
}

/// Whether a path may continue after the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    /// The pattern ended in `$`.
    Closed,
}

impl Pattern {
    /// Compiles the pattern of a rule's value.
    pub(super) fn new(written: &str) -> Self {
        let (body, end) = written.strip_suffix('$').map_or((written, End::Open), |body| (body, End::Closed));
        let mut speller = Speller::new(QuerySlashes::Undone);
        for (i, literal) in body.split('*').enumerate() {
            // `**` is the same as `*`.
            if i > 0 && !speller.out.ends_with('*') {
                speller.out.push('*');
            }
            speller.push_literal(literal);
        }
        let text = speller.out.into_boxed_str();
        let prefix_len = text.find('*').unwrap_or(text.len());
        Self { text, prefix_len, end }
    }

    /// Whether a path and query matches.
    pub(super) fn matches(&self, target: &Target) -> bool {
        let matches = |path: &str| path.starts_with(self.prefix()) && self.matches_behind_prefix(path);
        matches(&target.plain) || target.query_slashes_undone.as_deref().is_some_and(matches)
    }

    /// Returns the literal at the start of every matching path.
    pub(super) fn prefix(&self) -> &str {
        &self.text[..self.prefix_len]
    }

    /// Whether a path that starts with [`Pattern::prefix`] matches.
    ///
    /// Each literal is matched at its first occurrence, which leaves the most for the next. So
    /// there is no backtracking, and the time is linear in path and pattern, whatever the number of
    /// wildcards.
    pub(super) fn matches_behind_prefix(&self, path: &str) -> bool {
        let mut rest = &path[self.prefix_len..];
        let Some(behind_prefix) = self.text[self.prefix_len..].strip_prefix('*') else {
            return self.end == End::Open || rest.is_empty();
        };
        let (middle, last) = match self.end {
            End::Open => (behind_prefix, None),
            End::Closed => {
                behind_prefix.rsplit_once('*').map_or(("", Some(behind_prefix)), |(middle, last)| (middle, Some(last)))
            }
        };
        for literal in middle.split('*') {
            let found = rest.find(literal);
            cost::count(|| literal.len() + found.unwrap_or(rest.len()));
            let Some(at) = found else { return false };
            rest = &rest[at + literal.len()..];
        }
        last.is_none_or(|last| {
            cost::count(|| last.len());
            rest.ends_with(last)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::robots::octets;
    use crate::robots::tests::matches_by_definition;

    fn matches(pattern: &str, path: &str) -> bool {
        let (pattern, path) = (Pattern::new(pattern), octets::target(path).plain);
        path.starts_with(pattern.prefix()) && pattern.matches_behind_prefix(&path)
    }

    #[test]
    fn patterns_match_by_the_rfc() {
        for (pattern, path, expected, why) in [
            ("/", "/anything", true, "a prefix matches"),
            ("/fish", "/Fish", false, "case counts"),
            ("/fish", "/catfish", false, "from the start only"),
            ("/fish*", "/fish", true, "a last `*` adds nothing"),
            ("/fish$", "/fish", true, "`$` ends the path"),
            ("/fish$", "/fish/", false, "and nothing may follow"),
            ("/*.php$", "/a.php.php", true, "the last literal may be found later"),
            ("/*.php$", "/a.php?x", false, "the query belongs to the path"),
            ("/*a*a$", "/a", false, "one octet does not match two literals"),
            ("/*aba*ba$", "/aba", false, "nor do overlapping ones"),
            ("/*aba*ba$", "/ababa", true, "side by side they do"),
            ("/**b", "/b", true, "`**` is `*`"),
            ("/*$", "/a", true, "all paths end"),
            ("*", "/a", true, "a `*` first matches the slash too"),
            ("*/b", "/a/b", true, "and what follows it"),
            ("a", "/a", false, "a pattern without a slash does not start a path"),
            ("/a$b", "/a$b", true, "`$` elsewhere is an ordinary character"),
            ("/a$b", "/a", false, "and must be there"),
            ("/a$$", "/a$", true, "only the last `$` is special"),
            ("/a%2A", "/a*", true, "an encoded `*` is a character"),
            ("/a%2A", "/ab", false, "and no wildcard"),
            ("/a%24", "/a$", true, "so is an encoded `$`"),
            ("/a%24", "/a", false, "and no end"),
            ("/%*41", "/A", false, "a wildcard splits an escape"),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} on {path}: {why}");
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_its_definition(pattern in "/[ab/*]{0,8}[$]?", path in "/[ab/]{0,10}") {
            prop_assert_eq!(matches(&pattern, &path), matches_by_definition(pattern.as_bytes(), path.as_bytes()));
        }
    }
}
