//! JSON: its string values, one a line.
//!
//! Strings are found without parsing the text around them, so that neither depth nor damage
//! matters.

use super::{FileText, Text};

/// Returns the strings that are not member names.
pub(super) fn read(json: &str) -> FileText {
    let mut out = Text::default();
    let mut rest = json;
    while let Some(at) = rest.find('"')
        && !out.is_full()
    {
        let inside = &rest[at + 1..];
        let Some(end) = end_of_string(inside) else { break };
        let behind = &inside[end + 1..];
        let is_name = behind.trim_ascii_start().starts_with(':');
        if !is_name && let Ok(value) = serde_json::from_str::<String>(&rest[at..at + end + 2]) {
            out.push(value.trim());
            out.separate("\n");
        }
        rest = behind;
    }
    out.into_file()
}

/// Finds the closing quote of a string.
fn end_of_string(inside: &str) -> Option<usize> {
    let bytes = inside.as_bytes();
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', &bytes[from..])?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        from = at + 2;
        if from >= bytes.len() {
            return None;
        }
    }
}
