//! Regular expressions over URLs and over the texts of pages.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

/// A regular expression over a URL, or over a part of one. Matches anywhere unless anchored with
/// `^` and `$`.
///
/// The syntax is that of the crate `regex`: no look-around and no back-references, so that every
/// search is linear in the URL. Two patterns are equal if their texts are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UrlPattern(Regex);

/// A regular expression over a text of a page, with the syntax and the limits of [`UrlPattern`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TextPattern(Regex);

impl TextPattern {
    /// Returns the pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether it matches somewhere in the text.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Returns its matches, in order: of each match the first group that took part, or all of it if
    /// the pattern has no groups.
    pub fn matches<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.0.captures_iter(text).filter_map(|found| {
            let group = found.iter().skip(1).flatten().next();
            group.or_else(|| found.get(0).filter(|_| found.len() == 1)).map(|part| part.as_str())
        })
    }
}

/// The reason why a text is not a valid pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It is empty, and would match everything, which is never intended.
    #[error("an empty pattern")]
    Empty,
    /// Longer than [`UrlPattern::LEN_MAX`].
    #[error("a pattern of {0} bytes, but at most {max} are allowed", max = UrlPattern::LEN_MAX)]
    TooLong(usize),
    /// It has control characters, such as a line break: patterns are shown on one line.
    #[error("a pattern with a line break or another control character")]
    Control,
    /// Compiled, it needs more than [`UrlPattern::COMPILED_BYTES_MAX`].
    #[error("the pattern is too large once compiled")]
    TooLarge,
    /// It does not parse; the detail comes from the parser.
    #[error("bad pattern: {0}")]
    Syntax(String),
}

impl PatternError {
    /// Returns the remedy.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "leave the entry out",
            Self::TooLong(_) => "split it into several entries",
            Self::Control => "write it on one line",
            Self::TooLarge => "lower its repetition counts, or write `[a-z0-9]` in place of `\\w`",
            Self::Syntax(_) => {
                "patterns are regular expressions: write `.*` for anything, `\\.` for a dot, in single quotes"
            }
        }
    }
}

impl UrlPattern {
    /// The limit on a pattern, in bytes.
    pub const LEN_MAX: usize = 1_000;
    /// The limit on the memory of a compiled pattern, in bytes.
    pub const COMPILED_BYTES_MAX: usize = 1 << 20;

    /// Returns the pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether it matches somewhere in the text.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

fn compiled(text: &str) -> Result<Regex, PatternError> {
    match text.len() {
        0 => return Err(PatternError::Empty),
        len if len > UrlPattern::LEN_MAX => return Err(PatternError::TooLong(len)),
        _ if text.contains(char::is_control) => return Err(PatternError::Control),
        _ => {}
    }
    match RegexBuilder::new(text).size_limit(UrlPattern::COMPILED_BYTES_MAX).build() {
        Ok(regex) => Ok(regex),
        Err(regex::Error::CompiledTooBig(_)) => Err(PatternError::TooLarge),
        Err(error) => Err(PatternError::Syntax(last_line(&error.to_string()))),
    }
}

/// Returns the last line of the regex crate's message, which states the error; the others show the
/// pattern with a marker.
fn last_line(message: &str) -> String {
    let line = message.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// Implements the traits that patterns share: each stands for its text.
macro_rules! is_its_text {
    ($($pattern:ident)*) => {$(
        impl FromStr for $pattern {
            type Err = PatternError;

            fn from_str(text: &str) -> Result<Self, PatternError> {
                compiled(text).map(Self)
            }
        }

        impl PartialEq for $pattern {
            fn eq(&self, other: &Self) -> bool {
                self.as_str() == other.as_str()
            }
        }

        impl Eq for $pattern {}

        impl Hash for $pattern {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.as_str().hash(state);
            }
        }

        impl TryFrom<String> for $pattern {
            type Error = PatternError;

            fn try_from(text: String) -> Result<Self, PatternError> {
                text.parse()
            }
        }

        impl From<$pattern> for String {
            fn from(pattern: $pattern) -> Self {
                pattern.as_str().to_owned()
            }
        }

        impl fmt::Display for $pattern {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}

is_its_text! { UrlPattern TextPattern }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_refused_with_the_reason() {
        let long = "a".repeat(UrlPattern::LEN_MAX + 1);
        let table = [
            ("", "an empty pattern", "it would match everything"),
            ("/(a", "bad pattern: unclosed group", "the parser's own words, on one line"),
            ("(?=a)", "bad pattern: look-around, including look-ahead and look-behind, is not supported", "not linear"),
            (r"\w{1000}", "the pattern is too large once compiled", "it would take megabytes"),
            ("a\nb", "a pattern with a line break or another control character", "it is shown on one line"),
            (&long, "a pattern of 1001 bytes, but at most 1000 are allowed", "its length is limited"),
        ];
        for (text, expected, why) in table {
            let error = text.parse::<UrlPattern>().unwrap_err();
            assert_eq!(error.to_string(), expected, "{text:.40}: {why}");
        }
    }

    #[test]
    fn a_pattern_is_equal_to_its_text() {
        let pattern: UrlPattern = r"\.pdf$".parse().unwrap();
        let json = serde_json::to_string(&pattern).unwrap();
        assert_eq!(json, r#""\\.pdf$""#);
        assert_eq!(serde_json::from_str::<UrlPattern>(&json).unwrap(), pattern);
        assert!(serde_json::from_str::<UrlPattern>(r#""(""#).is_err());
        let text = "SKU: A1, SKU: B2";
        for (pattern, expected, why) in [
            (r"SKU: (\w+)", vec!["A1", "B2"], "the group"),
            (r"SKU: \w+", vec!["SKU: A1", "SKU: B2"], "all of it without one"),
            (r"(?:SKU: )?(?:(A\d)|(B\d))", vec!["A1", "B2"], "the group that took part"),
            ("(x)?,", vec![], "a match in which no group took part says nothing"),
        ] {
            let pattern: TextPattern = pattern.parse().unwrap();
            assert_eq!(pattern.matches(text).collect::<Vec<_>>(), expected, "{why}");
        }
        assert!(pattern.is_match("https://example.org/a.pdf") && !pattern.is_match("https://example.org/a.pdf?x"));
    }
}
