//! Named fields: of a record's header, and of blocks of the type `application/warc-fields` (WARC
//! 1.1 §4).

use super::limits::VALUE_BYTES_MAX;
use crate::http_fields::Headers;

/// Parses fields up to an empty line or the end. Lines may end in LF alone and continue on a next
/// line that begins with white space; lines that are not fields are skipped; bytes that are not
/// UTF-8 become U+FFFD.
#[must_use]
pub(super) fn parse_fields(bytes: &[u8]) -> Headers<String> {
    let mut fields: Headers<String> = Headers::default();
    for line in bytes.split(|&byte| byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        if text.trim_end_matches('\r').is_empty() {
            break;
        }
        match (text.starts_with([' ', '\t']), fields.last_mut(), text.split_once(':')) {
            (true, Some(value), _) => {
                value.push(' ');
                value.push_str(text.trim_ascii());
            }
            (false, _, Some((name, value))) => fields.push(name.trim_ascii(), value.trim_ascii()),
            _ => {}
        }
    }
    fields
}

/// The name of a custom field: `Dragline-` and its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensionName(&'static str);

impl ExtensionName {
    /// The version of Dragline's layout, on each `warcinfo` record.
    pub(super) const FORMAT: Self = Self("Dragline-Format");

    /// The crawler's data about a visit, as JSON: on the `response`, `revisit` or `metadata` record
    /// of each URL.
    pub const VISIT: Self = Self("Dragline-Visit");

    /// What the site said of the use of the URL before it was requested, as JSON, beside
    /// [`Self::VISIT`] if it said anything.
    pub const USE: Self = Self("Dragline-Use");

    /// How a page was rendered, as JSON, on the `resource` record of the document that its scripts
    /// made.
    pub const RENDERED: Self = Self("Dragline-Rendered");

    /// Checks that a name consists of `Dragline-` and letters, digits and `-`; `None` if not.
    ///
    /// ```
    /// use dragline_formats::warc::ExtensionName;
    /// const DEPTH: ExtensionName = ExtensionName::new("Dragline-Depth").expect("letters only");
    /// assert!(ExtensionName::new("WARC-Date").is_none());
    /// # let _ = DEPTH;
    /// ```
    #[must_use]
    pub const fn new(name: &'static str) -> Option<Self> {
        const PREFIX: &[u8] = b"Dragline-";
        let bytes = name.as_bytes();
        if bytes.len() <= PREFIX.len() {
            return None;
        }
        let mut at = 0;
        while at < bytes.len() {
            let is_legal = if at < PREFIX.len() {
                bytes[at] == PREFIX[at]
            } else {
                bytes[at].is_ascii_alphanumeric() || bytes[at] == b'-'
            };
            if !is_legal {
                return None;
            }
            at += 1;
        }
        Some(Self(name))
    }

    /// Returns the name as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// A custom field. Its value may come from anywhere: it is made safe when written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionField {
    /// Its name.
    pub name: ExtensionName,
    /// Its value, any text. Control characters are written as spaces; spaces at the ends and
    /// everything past 8 KiB are lost.
    pub value: String,
}

/// Appends a field; the value cannot break out of its line.
pub(super) fn push_field(header: &mut Vec<u8>, name: &str, value: &str) {
    header.extend_from_slice(name.as_bytes());
    header.extend_from_slice(b": ");
    push_value(header, value);
    header.extend_from_slice(b"\r\n");
}

/// Appends a field of a block with all bytes of its value; only line ends become spaces.
pub(super) fn push_field_as_received(block: &mut Vec<u8>, name: &str, value: &[u8]) {
    block.extend(name.bytes().map(|byte| if matches!(byte, b'\r' | b'\n') { b'_' } else { byte }));
    block.extend_from_slice(b": ");
    block.extend(value.iter().map(|&byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte }));
    block.extend_from_slice(b"\r\n");
}

/// Appends a value on one line: control characters become spaces.
fn push_value(header: &mut Vec<u8>, value: &str) {
    let kept = &value[..value.floor_char_boundary(VALUE_BYTES_MAX)];
    if kept.chars().any(char::is_control) {
        let spaced: String = kept.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        header.extend_from_slice(spaced.trim_ascii().as_bytes());
    } else {
        header.extend_from_slice(kept.trim_ascii().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read() {
        type Row = (&'static [u8], &'static [(&'static str, &'static str)], &'static str);
        let table: [Row; 9] = [
            (b"A: b\r\nC:d\r\n", &[("A", "b"), ("C", "d")], "with and without a space"),
            (b"A: b\nC: d\n", &[("A", "b"), ("C", "d")], "LF alone"),
            (b"A: b\r\n c\r\n\td\r\n", &[("A", "b c d")], "a value over three lines"),
            (b"A: b\r\n\r\nC: d\r\n", &[("A", "b")], "an empty line ends them"),
            (b" a\r\nB: c\r\n", &[("B", "c")], "nothing to continue"),
            (b"no field\r\nB: c\r\n", &[("B", "c")], "a line without a colon"),
            (b"A: http://x/\r\n", &[("A", "http://x/")], "only the first colon counts"),
            (b"A: \xff\r\n", &[("A", "\u{fffd}")], "not UTF-8"),
            (b"", &[], "nothing"),
        ];
        for (bytes, expected, why) in table {
            assert_eq!(parse_fields(bytes).iter().collect::<Vec<_>>(), expected, "{why}");
        }
    }

    #[test]
    fn extension_names_are_checked() {
        let table = [
            ("Dragline-Depth", true, "letters"),
            ("Dragline-Exit-Code2", true, "a dash and a digit"),
            ("Dragline-", false, "about nothing"),
            ("dragline-Depth", false, "one spelling only"),
            ("WARC-Date", false, "the standard's"),
            ("Dragline-A\r\nB", false, "a second line"),
            ("Dragline-A: B", false, "a value"),
        ];
        for (name, expected, why) in table {
            assert_eq!(ExtensionName::new(name).is_some(), expected, "{name:?}: {why}");
        }
    }

    #[test]
    fn values_stay_on_their_line() {
        let long = "é".repeat(VALUE_BYTES_MAX);
        let table = [
            ("plain", "plain", "as it is"),
            ("naïve ☂", "naïve ☂", "UTF-8 is allowed"),
            ("a\r\nWARC-Type: response", "a  WARC-Type: response", "an injected field"),
            ("\0\u{7f}\u{85}a", "a", "control characters of either kind"),
            ("  ", "", "spaces only"),
            (&long, &long[..VALUE_BYTES_MAX], "cut between characters"),
        ];
        for (value, expected, why) in table {
            let mut header = Vec::new();
            push_value(&mut header, value);
            assert_eq!(header, expected.as_bytes(), "{why}");
        }
    }
}
