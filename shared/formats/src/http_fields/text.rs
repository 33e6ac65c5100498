//! The bytes of a field as text.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, percent_encode};

/// A field's value as text, without the white space around it: UTF-8, as most write it, or else Latin-1, which RFC 9110 section 5.5 says that
/// such bytes once were. So no value is without a meaning because of one byte.
#[must_use]
pub fn text(value: &[u8]) -> Cow<'_, str> {
    let value = value.trim_ascii();
    match std::str::from_utf8(value) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(value.iter().map(|byte| char::from(*byte)).collect()),
    }
}

/// The reference in a `Location` field. Bytes that are no ASCII are percent-encoded as they came, whatever their character set, as browsers do:
/// the server knows what it meant by them.
#[must_use]
pub fn location(value: &[u8]) -> Cow<'_, str> {
    percent_encode(value.trim_ascii(), &AsciiSet::EMPTY).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_text_in_one_of_two_ways() {
        for (value, expected, why) in [
            (b" noindex ".as_slice(), "noindex", "without the white space around it"),
            ("caf\u{e9}".as_bytes(), "caf\u{e9}", "UTF-8"),
            (b"caf\xe9, noindex", "caf\u{e9}, noindex", "Latin-1: the rest counts all the same"),
            (b"", "", "nothing"),
        ] {
            assert_eq!(text(value), expected, "{why}");
        }
    }

    #[test]
    fn a_location_keeps_its_bytes() {
        for (value, expected, why) in [
            (b"/a?b=%20c".as_slice(), "/a?b=%20c", "plain"),
            (b"/caf\xe9?q=\xfc", "/caf%E9?q=%FC", "Latin-1"),
            ("/caf\u{e9}".as_bytes(), "/caf%C3%A9", "UTF-8"),
            (b" /a\r", "/a", "without the white space around it"),
        ] {
            assert_eq!(location(value), expected, "{why}");
        }
    }
}
