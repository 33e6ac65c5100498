//! Verdicts on URLs, with reasons.

use std::fmt;

use super::policy::{Missing, Unreadable};

/// The effect of a rule on matching URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleKind {
    /// They must not be fetched.
    Disallow,
    /// They may be fetched. Greater than [`RuleKind::Disallow`], as it wins a tie.
    Allow,
}

/// One rule of a robots.txt, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The number of its line, from 1.
    pub line: u32,
    /// Its effect.
    pub kind: RuleKind,
    /// Its pattern in printable ASCII: other octets are percent-encoded.
    pub pattern: String,
}

/// The limit on a shown pattern, in characters.
const PATTERN_SHOWN_CHARS: usize = 200;

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            RuleKind::Disallow => "Disallow",
            RuleKind::Allow => "Allow",
        };
        let (shown, more) = match self.pattern.char_indices().nth(PATTERN_SHOWN_CHARS) {
            Some((end, _)) => (&self.pattern[..end], "…"),
            None => (self.pattern.as_str(), ""),
        };
        write!(f, "line {}: `{name}: {shown}{more}`", self.line)
    }
}

/// The verdict of robots.txt on a URL. It is displayed as the reason, on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'p> {
    /// A rule decided.
    Rule(&'p Rule),
    /// No rule matches: allowed.
    NoRule,
    /// The URL is robots.txt itself: allowed.
    RobotsTxt,
    /// There is no robots.txt: allowed.
    Missing(&'p Missing),
    /// There may be a robots.txt, but it could not be read: not allowed.
    Unreadable(&'p Unreadable),
}

impl Verdict<'_> {
    /// Whether the URL may be fetched.
    #[must_use]
    pub const fn is_allowed(self) -> bool {
        match self {
            Self::Rule(rule) => matches!(rule.kind, RuleKind::Allow),
            Self::NoRule | Self::RobotsTxt | Self::Missing(_) => true,
            Self::Unreadable(_) => false,
        }
    }
}

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(rule) => write!(f, "robots.txt {rule}"),
            Self::NoRule => f.write_str("no rule of robots.txt matches"),
            Self::RobotsTxt => f.write_str("robots.txt itself may always be fetched"),
            Self::Missing(why) => write!(f, "{why}: everything may be fetched"),
            Self::Unreadable(why) => write!(f, "{why}: nothing may be fetched until it can be read"),
        }
    }
}
