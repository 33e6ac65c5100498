//! The validity of a body in its format: whether it is valid, and if not, why and where.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The format against which a body is validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValidationType {
    /// HTML in its own syntax.
    Html,
    /// HTML in the syntax of XML.
    Xhtml,
    /// XML in another vocabulary than those below.
    Xml,
    /// A style sheet.
    Css,
    /// A feed in RSS 2.0 or one of its predecessors 0.91 and 0.92.
    Rss,
    /// A feed in Atom (RFC 4287), or a single entry.
    Atom,
    /// JSON (RFC 8259).
    Json,
    /// A sitemap, or an index of sitemaps (sitemaps.org 0.9).
    Sitemap,
}

impl ValidationType {
    /// Returns the name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Xhtml => "xhtml",
            Self::Xml => "xml",
            Self::Css => "css",
            Self::Rss => "rss",
            Self::Atom => "atom",
            Self::Json => "json",
            Self::Sitemap => "sitemap",
        }
    }
}

impl fmt::Display for ValidationType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The result of validating a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validity {
    /// The format.
    #[serde(rename = "type")]
    pub kind: ValidationType,
    /// The first flaws, in the order of the body; empty if it is valid.
    pub flaws: Vec<Flaw>,
    /// The number of further flaws. It is 0 in formats where validation cannot continue after an
    /// error (XML, JSON).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flaws_more: u32,
}

impl Validity {
    /// Whether no flaws were found.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.flaws.is_empty()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Part of a body that its format does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flaw {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters; `None` if only the line is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The broken rule.
    pub rule: Rule,
    /// The mistake, on one line, for people.
    pub message: String,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, rule, message } = self;
        match column {
            Some(column) => write!(f, "{line}:{column}: {message} ({rule})"),
            None => write!(f, "{line}: {message} ({rule})"),
        }
    }
}

/// The code of a rule, such as `duplicate-id`, for counting and filtering flaws.
/// `docs/reference/validity.md` lists them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rule(Cow<'static, str>);

impl Rule {
    /// Creates the rule with this code: lower-case letters and hyphens.
    #[must_use]
    pub const fn new(code: &'static str) -> Self {
        Self(Cow::Borrowed(code))
    }

    /// Returns its code.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_validity_is_read_back_unchanged() {
        const JSON: &str = r#"{"type":"html","flaws":[{"line":3,"column":7,"rule":"duplicate-id","message":"duplicate id `x`, first at 1:2"},{"line":9,"rule":"no-title","message":"there is no title"}],"flaws_more":2}"#;
        let validity: Validity = serde_json::from_str(JSON).unwrap();
        assert_eq!(serde_json::to_string(&validity).unwrap(), JSON);
        assert!(!validity.is_valid());
        let shown: Vec<_> = validity.flaws.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["3:7: duplicate id `x`, first at 1:2 (duplicate-id)", "9: there is no title (no-title)"]);
        let valid: Validity = serde_json::from_str(r#"{"type":"sitemap","flaws":[]}"#).unwrap();
        assert!(valid.is_valid());
    }
}
