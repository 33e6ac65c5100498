//! The provenance of an archive.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::stored_form::stored_as_text;

/// The provenance in the `warcinfo` record of each WARC file (WARC 1.1 §6.2, and Dublin Core).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// [`Key::ArchiveOperator`](super::Key::ArchiveOperator).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<Line>,
    /// [`Key::ArchivePublisher`](super::Key::ArchivePublisher).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<Line>,
    /// [`Key::ArchiveDescription`](super::Key::ArchiveDescription).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Line>,
    /// [`Key::ArchiveIsPartOf`](super::Key::ArchiveIsPartOf).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_part_of: Option<Line>,
    /// [`Key::ArchiveHostname`](super::Key::ArchiveHostname).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<Hostname>,
}

impl Provenance {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A text on one line, not blank, without control characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Line(String);

/// The text is not a [`Line`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this must be one line of 1 to {max} characters", max = Line::CHARS_MAX)]
pub struct LineError;

impl Line {
    /// The limit in characters.
    pub const CHARS_MAX: usize = 1_000;

    /// Returns the text, without surrounding spaces.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Line {
    type Err = LineError;

    fn from_str(text: &str) -> Result<Self, LineError> {
        let text = text.trim();
        let is_line = !text.is_empty() && text.chars().count() <= Self::CHARS_MAX && !text.contains(char::is_control);
        if is_line { Ok(Self(text.to_owned())) } else { Err(LineError) }
    }
}

impl TryFrom<String> for Line {
    type Error = LineError;

    fn try_from(text: String) -> Result<Self, LineError> {
        text.parse()
    }
}

impl From<Line> for String {
    fn from(line: Line) -> Self {
        line.0
    }
}

/// The name of a machine, safe as part of a file name: labels of letters, digits and `-`, separated
/// by dots.
///
/// ```
/// use dragline_domain::definition::Hostname;
/// assert!("crawler1.example.org".parse::<Hostname>().is_ok());
/// assert!("../crawler".parse::<Hostname>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hostname(String);

/// The text is not a [`Hostname`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of a machine has 1 to {max} letters, digits, `-`, and single dots between them", max = Hostname::LEN_MAX)]
pub struct HostnameError;

impl Hostname {
    /// The limit in bytes: file names have other parts, and at most 255 bytes.
    pub const LEN_MAX: usize = 100;

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Hostname {
    type Err = HostnameError;

    fn from_str(text: &str) -> Result<Self, HostnameError> {
        let is_label =
            |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let is_name = text.len() <= Self::LEN_MAX && text.split('.').all(is_label);
        if is_name { Ok(Self(text.to_owned())) } else { Err(HostnameError) }
    }
}

stored_as_text!(Hostname);

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_control_characters() {
        let long = "é".repeat(Line::CHARS_MAX + 1);
        let table = [
            ("Library of Example <web@example.org>", true, "a name and an address"),
            (" ä ", true, "any language; spaces around it are lost"),
            ("", false, "empty"),
            ("  ", false, "blank"),
            ("a\r\nsoftware: other", false, "would add a field"),
            (&long[2..], true, "the longest"),
            (&long, false, "too long"),
        ];
        for (text, expected, why) in table {
            let line = text.parse::<Line>();
            assert_eq!(line.is_ok(), expected, "{text:.40}: {why}");
            assert!(line.is_err() || line.unwrap().as_str() == text.trim(), "{why}");
        }
    }

    #[test]
    fn the_name_of_a_machine_can_be_part_of_a_file_name() {
        let long = "a".repeat(Hostname::LEN_MAX + 1);
        let table = [
            ("crawler1", true, "a name alone"),
            ("Crawler-1.example.org", true, "with its domain"),
            ("192.0.2.1", true, "an address"),
            ("", false, "empty"),
            ("..", false, "the folder above"),
            ("a/b", false, "another folder"),
            ("a b", false, "a space"),
            ("a.", false, "a dot at the end"),
            (&long[1..], true, "the longest"),
            (&long, false, "too long"),
        ];
        for (text, expected, why) in table {
            assert_eq!(text.parse::<Hostname>().is_ok(), expected, "{text:.40}: {why}");
        }
    }
}
