//! Conditions over URLs.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::UrlPattern;
use crate::url::{CrawlUrl, Scheme};

/// A tree of tests over the parts of a URL, which are normalised and percent-encoded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Every one holds.
    All(Vec<Self>),
    /// At least one holds.
    Any(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// The host, in lower case.
    Host(TextTest),
    /// The path, beginning with `/`, without the query.
    Path(TextTest),
    /// The query, without its `?`. No test holds for a URL without one.
    Query(TextTest),
    /// `http` or `https`.
    Scheme(TextTest),
    /// The port in digits; the scheme's default if the URL has none.
    Port(TextTest),
    /// The whole URL.
    Url(TextTest),
}

/// A test of one part. It is case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextTest {
    /// The part is this text.
    Equals(String),
    /// It begins with this text.
    Prefix(String),
    /// It ends with this text.
    Suffix(String),
    /// It contains this text.
    Contains(String),
    /// This pattern matches somewhere in it.
    Regex(UrlPattern),
}

/// The reason why a condition makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionMistake {
    /// An `all` or `any` of nothing.
    #[error("an empty list of conditions")]
    Empty,
    /// Nested deeper than [`Condition::DEPTH_MAX`].
    #[error("conditions are nested more than {max} deep", max = Condition::DEPTH_MAX)]
    TooDeep,
    /// A test that holds for every URL or for none, with the reason.
    #[error("the test always has the same result: {0}")]
    Pointless(&'static str),
}

impl Condition {
    /// The limit on the nesting of conditions; a single test has depth 1.
    pub const DEPTH_MAX: usize = 16;

    /// Whether it holds for the URL.
    #[must_use]
    pub fn matches(&self, url: &CrawlUrl) -> bool {
        match self {
            Self::All(conditions) => conditions.iter().all(|condition| condition.matches(url)),
            Self::Any(conditions) => conditions.iter().any(|condition| condition.matches(url)),
            Self::Not(condition) => !condition.matches(url),
            Self::Host(test) => test.matches(url.host()),
            Self::Path(test) => test.matches(url.path()),
            Self::Query(test) => url.query().is_some_and(|query| test.matches(query)),
            Self::Scheme(test) => test.matches(url.scheme().as_str()),
            Self::Port(test) => test.matches(&url.port().to_string()),
            Self::Url(test) => test.matches(url.as_str()),
        }
    }

    /// Returns the number of its tests.
    #[must_use]
    pub(super) fn tests(&self) -> usize {
        match self {
            Self::All(conditions) | Self::Any(conditions) => conditions.iter().map(Self::tests).sum(),
            Self::Not(condition) => condition.tests(),
            _ => 1,
        }
    }

    /// Returns its first mistake. Goes no deeper than [`Condition::DEPTH_MAX`].
    #[must_use]
    pub fn mistake(&self) -> Option<ConditionMistake> {
        self.mistake_within(Self::DEPTH_MAX)
    }

    fn mistake_within(&self, depth_left: usize) -> Option<ConditionMistake> {
        let Some(depth_left) = depth_left.checked_sub(1) else { return Some(ConditionMistake::TooDeep) };
        let pointless = match self {
            Self::All(conditions) | Self::Any(conditions) if conditions.is_empty() => {
                return Some(ConditionMistake::Empty);
            }
            Self::All(conditions) | Self::Any(conditions) => {
                return conditions.iter().find_map(|condition| condition.mistake_within(depth_left));
            }
            Self::Not(condition) => return condition.mistake_within(depth_left),
            Self::Host(test) => test.pointless_host(),
            Self::Path(test) => test.pointless_path(),
            Self::Query(test) => test.pointless_query(),
            Self::Scheme(test) => test.pointless_scheme(),
            Self::Port(test) => test.pointless_port(),
            Self::Url(test) => test.pointless_url(),
        };
        pointless.map(ConditionMistake::Pointless)
    }
}

impl TextTest {
    fn matches(&self, part: &str) -> bool {
        match self {
            Self::Equals(text) => part == text,
            Self::Prefix(text) => part.starts_with(text),
            Self::Suffix(text) => part.ends_with(text),
            Self::Contains(text) => part.contains(text),
            Self::Regex(pattern) => pattern.is_match(part),
        }
    }

    /// Returns the text to look for; `None` for a pattern, which is not analysed.
    fn literal(&self) -> Option<&str> {
        match self {
            Self::Equals(text) | Self::Prefix(text) | Self::Suffix(text) | Self::Contains(text) => Some(text),
            Self::Regex(_) => None,
        }
    }

    /// Returns the required beginning of the part.
    fn beginning(&self) -> Option<&str> {
        match self {
            Self::Equals(text) | Self::Prefix(text) => Some(text),
            Self::Suffix(_) | Self::Contains(_) | Self::Regex(_) => None,
        }
    }

    fn pointless(&self) -> Option<&'static str> {
        let text = self.literal()?;
        if text.is_empty() {
            Some("its text is empty")
        } else if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Some("URLs are percent-encoded: write `%20` for a space")
        } else if text.contains('#') {
            Some("fragments are dropped, so no URL has a `#`")
        } else {
            None
        }
    }

    fn pointless_host(&self) -> Option<&'static str> {
        self.pointless().or_else(|| match self.literal()? {
            text if text.contains('/') => Some("a host has no scheme and no path"),
            text if text.bytes().any(|byte| byte.is_ascii_uppercase()) => Some("hosts are in lower case"),
            _ => None,
        })
    }

    fn pointless_path(&self) -> Option<&'static str> {
        self.pointless().or_else(|| match self {
            test if test.literal()?.contains('?') => Some("the query is not part of the path"),
            Self::Prefix(text) if text == "/" => Some("every path begins with `/`"),
            test if !test.beginning()?.starts_with('/') => Some("every path begins with `/`"),
            _ => None,
        })
    }

    fn pointless_query(&self) -> Option<&'static str> {
        self.pointless()
            .or_else(|| self.beginning()?.starts_with('?').then_some("the `?` is not part of the query: leave it out"))
    }

    fn pointless_scheme(&self) -> Option<&'static str> {
        self.pointless().or_else(|| {
            let holds = [Scheme::Http, Scheme::Https].map(|scheme| self.matches(scheme.as_str()));
            (self.literal().is_some() && holds[0] == holds[1]).then_some("the scheme is `http` or `https`")
        })
    }

    fn pointless_port(&self) -> Option<&'static str> {
        self.pointless().or_else(|| match self {
            Self::Equals(text) if text.starts_with('0') || text.parse::<u16>().is_err() => {
                Some("a port is a number from 1 to 65535")
            }
            test if !test.literal()?.bytes().all(|byte| byte.is_ascii_digit()) => Some("a port has only digits"),
            _ => None,
        })
    }

    fn pointless_url(&self) -> Option<&'static str> {
        self.pointless().or_else(|| {
            let text = self.beginning()?;
            let may_begin = |scheme: &str| scheme.starts_with(text) || text.starts_with(scheme);
            (!may_begin("http://") && !may_begin("https://")).then_some("every URL begins with `http://` or `https://`")
        })
    }
}

/// Shows it in words: `path begins with /private and not query contains page=`.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (part, test) = match self {
            Self::All(conditions) => return joined(f, conditions, " and "),
            Self::Any(conditions) => return joined(f, conditions, " or "),
            Self::Not(condition) => return write!(f, "not ({condition})"),
            Self::Host(test) => ("host", test),
            Self::Path(test) => ("path", test),
            Self::Query(test) => ("query", test),
            Self::Scheme(test) => ("scheme", test),
            Self::Port(test) => ("port", test),
            Self::Url(test) => ("URL", test),
        };
        write!(f, "{part} {test}")
    }
}

fn joined(f: &mut fmt::Formatter<'_>, conditions: &[Condition], word: &str) -> fmt::Result {
    for (index, condition) in conditions.iter().enumerate() {
        let lead = if index == 0 { "" } else { word };
        match condition {
            Condition::All(_) | Condition::Any(_) => write!(f, "{lead}({condition})")?,
            _ => write!(f, "{lead}{condition}")?,
        }
    }
    Ok(())
}

impl fmt::Display for TextTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, text) = match self {
            Self::Equals(text) => ("is", text.as_str()),
            Self::Prefix(text) => ("begins with", text.as_str()),
            Self::Suffix(text) => ("ends with", text.as_str()),
            Self::Contains(text) => ("contains", text.as_str()),
            Self::Regex(pattern) => ("matches", pattern.as_str()),
        };
        write!(f, "{verb} {text}")
    }
}
