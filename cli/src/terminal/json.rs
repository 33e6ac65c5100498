//! JSON in which a terminal finds nothing to obey, and whoever reads it no difference.

use std::io::{self, Write};

use dragline_domain::shown::is_obeyed;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Writes a value as JSON on one line, and the line's end.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_json(mut out: impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut out, Harmless))?;
    writeln!(out)
}

/// Escapes what JSON may hold as it is, but a terminal obeys: DEL, the upper control codes, turns of the direction of writing.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, found)) = rest.char_indices().find(|(_, c)| is_obeyed(*c)) {
            // All of them are of the first plane, which four digits can tell.
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
    fn what_a_terminal_obeys_is_escaped() {
        for (text, expected, why) in [
            ("ä \u{1f577}", "\"ä \u{1f577}\"\n", "letters of any script are shown"),
            ("\u{1b}[2J\n", "\"\\u001b[2J\\n\"\n", "as JSON asks for"),
            ("a\u{9b}31m\u{7f}b", "\"a\\u009b31m\\u007fb\"\n", "what JSON leaves as it is"),
            ("a\u{202e}b", "\"a\\u202eb\"\n", "would show the rest backwards"),
        ] {
            assert_eq!(json(&text), expected, "{why}");
        }
    }

    proptest! {
        #[test]
        fn texts_read_back_as_they_were_and_nothing_obeyed_is_left(text in any::<String>()) {
            let line = json(&text);
            prop_assert!(!line.trim_end_matches('\n').contains(is_obeyed), "{line:?}");
            prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
    }
}
