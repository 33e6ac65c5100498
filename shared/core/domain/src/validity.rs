//! Whether a body is valid in its format, and if not, why and where.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The format as which a body is validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValidationType {
    /// HTML in its own syntax.
    Html,
    /// HTML in the syntax of XML.
    Xhtml,
    /// XML of another vocabulary than those below.
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
    /// Returns the name that people read.
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

/// What validating a body has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validity {
    /// The format.
    #[serde(rename = "type")]
    pub kind: ValidationType,
    /// The first flaws, in the order of the body; empty if it is valid.
    pub flaws: Vec<Flaw>,
    /// How many more were found. Where a format has no way to go on behind an error (XML, JSON), there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flaws_more: u32,
}

impl Validity {
    /// Whether nothing was found.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.flaws.is_empty()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Something in a body that its format does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flaw {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters; `None` if only the line is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Which rule is broken.
    pub rule: Rule,
    /// What is wrong, on one line, for people.
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

/// The code of a rule, such as `duplicate-id`: by it flaws are counted and filtered. `docs/validity.md` lists them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rule(Cow<'static, str>);

impl Rule {
    /// Makes the rule of this code: small letters and hyphens.
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
    fn a_validity_reads_as_it_is_written() {
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
