//! Character references: `&amp;`, `&#38;`.
//!
//! They are rare, and have 2,231 names. html5gum knows these, and the meaning of each number.

use std::convert::Infallible;

use html5gum::{Emitter, Error, State, Tokenizer};

/// The limit on the letters and digits of a name; the longest name has 31.
const NAME_BYTES_MAX: usize = 40;

/// The context of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferenceContext {
    Text,
    /// In an attribute's value, where `&copy=1` is probably part of a URL.
    Value,
}

/// The reference that an ampersand begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    /// Its text; the ampersand itself if it begins no reference.
    pub(super) text: Vec<u8>,
    /// Its length.
    pub(super) bytes: usize,
}

impl Reference {
    /// Reads the reference at the start of a text.
    pub(super) fn read(text: &[u8], place: ReferenceContext) -> Self {
        let body = &text[1..];
        let is_number = body.first() == Some(&b'#');
        let bytes = 1 + if is_number { number_bytes(body) } else { name_bytes(body) };
        let bytes = bytes + usize::from(bytes > 1 && text.get(bytes) == Some(&b';'));
        let mut decoded = ReferenceReceiver::default();
        let Ok::<(), Infallible>(()) = Tokenizer::new_with_emitter(&text[..bytes], &mut decoded).finish();
        let bytes = bytes - decoded.bytes_after;
        let is_closed = text[..bytes].ends_with(b";");
        let is_followed = text.get(bytes).is_some_and(|next| *next == b'=' || next.is_ascii_alphanumeric());
        if place == ReferenceContext::Value && !is_number && !is_closed && is_followed {
            return Self { text: b"&".to_vec(), bytes: 1 };
        }
        Self { text: decoded.text, bytes }
    }
}

fn name_bytes(body: &[u8]) -> usize {
    body.iter().take(NAME_BYTES_MAX).take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

fn number_bytes(body: &[u8]) -> usize {
    match body.get(1) {
        Some(b'x' | b'X') => 2 + body[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count(),
        _ => 1 + body[1..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
    }
}

/// The receiver of html5gum's results: the reference first, then the letters that are not part of
/// it.
#[derive(Debug, Default)]
struct ReferenceReceiver {
    text: Vec<u8>,
    bytes_after: usize,
}

impl Emitter for &mut ReferenceReceiver {
    type Token = Infallible;

    fn emit_string(&mut self, piece: &[u8]) {
        if self.text.is_empty() {
            self.text.extend_from_slice(piece);
        } else {
            self.bytes_after += piece.len();
        }
    }

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        false
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        false
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        None
    }

    // A reference contains no markup.
    fn set_last_start_tag(&mut self, _: Option<&[u8]>) {}
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_start_tag(&mut self) {}
    fn init_end_tag(&mut self) {}
    fn push_tag_name(&mut self, _: &[u8]) {}
    fn init_attribute(&mut self) {}
    fn push_attribute_name(&mut self, _: &[u8]) {}
    fn push_attribute_value(&mut self, _: &[u8]) {}
    fn set_self_closing(&mut self) {}
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        for (text, in_text, in_value, why) in [
            ("&amp;b", ("&", 5), ("&", 5), "a name"),
            ("&ampb", ("&", 4), ("&", 1), "an old name, which needs no semicolon in text"),
            ("&amp=b", ("&", 4), ("&", 1), "nor before a sign"),
            ("&amp b", ("&", 4), ("&", 4), "nor does it in a value, where it clearly ends"),
            ("&amp", ("&", 4), ("&", 4), "at the end"),
            ("&notit;", ("\u{ac}", 4), ("&", 1), "the beginning of a name is one"),
            ("&notin;", ("\u{2209}", 7), ("\u{2209}", 7), "but the longest counts"),
            ("&NotEqualTilde;", ("\u{2242}\u{338}", 15), ("\u{2242}\u{338}", 15), "of two characters"),
            ("&b;", ("&", 1), ("&", 1), "not a name"),
            ("&;", ("&", 1), ("&", 1), "nor this"),
            ("& b", ("&", 1), ("&", 1), "nothing"),
            ("&", ("&", 1), ("&", 1), "nothing at all"),
            ("&é;", ("&", 1), ("&", 1), "in no letters"),
            ("&#38;b", ("&", 5), ("&", 5), "a number"),
            ("&#38b", ("&", 4), ("&", 4), "that is not closed"),
            ("&#x26;", ("&", 6), ("&", 6), "in base 16"),
            ("&#X26", ("&", 5), ("&", 5), "in capitals"),
            ("&#x80;", ("\u{20ac}", 6), ("\u{20ac}", 6), "of another character set"),
            ("&#0;", ("\u{fffd}", 4), ("\u{fffd}", 4), "of no character"),
            ("&#99999999999;", ("\u{fffd}", 14), ("\u{fffd}", 14), "too large"),
            ("&#;", ("&#", 2), ("&#", 2), "of no digits"),
            ("&#xg", ("&#x", 3), ("&#x", 3), "nor here"),
        ] {
            for (place, (expected, bytes)) in [(ReferenceContext::Text, in_text), (ReferenceContext::Value, in_value)] {
                let read = Reference::read(text.as_bytes(), place);
                assert_eq!(
                    (str::from_utf8(&read.text), read.bytes),
                    (Ok(expected), bytes),
                    "{why}, in {place:?}: {text}"
                );
            }
        }
    }
}
