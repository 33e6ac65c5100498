//! JSON without characters that a terminal acts on, equivalent for parsers.

use std::io::{self, Write};

use dragline_domain::shown::is_control;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Writes a value as one line of JSON.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_json(mut out: impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut out, Harmless))?;
    writeln!(out)
}

/// Escapes characters that JSON allows but a terminal acts on: DEL, the C1 control codes, and
/// changes of writing direction.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, found)) = rest.char_indices().find(|(_, c)| is_control(*c)) {
            // All of them are in the basic multilingual plane, so four digits are enough.
            write!(out, "{}\\u{:04x}", &rest[..at], u32::from(found))?;
            rest = &rest[at + found.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json(value: &impl Serialize) -> String {
        let mut out = Vec::new();
        write_json(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn control_characters_are_escaped() {
        for (text, expected, why) in [
            ("ä \u{1f577}", "\"ä \u{1f577}\"\n", "letters of any script are shown"),
            ("\u{1b}[2J\n", "\"\\u001b[2J\\n\"\n", "as JSON requires"),
            ("a\u{9b}31m\u{7f}b", "\"a\\u009b31m\\u007fb\"\n", "characters that JSON does not escape"),
            ("a\u{202e}b", "\"a\\u202eb\"\n", "would show the rest backwards"),
        ] {
            assert_eq!(json(&text), expected, "{why}");
        }
    }

    proptest! {
        #[test]
        fn texts_round_trip_without_control_characters(text in any::<String>()) {
            let line = json(&text);
            prop_assert!(!line.trim_end_matches('\n').contains(is_control), "{line:?}");
            prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
    }
}
