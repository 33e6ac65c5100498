//! The bytes of a robots.txt as text that can be read line by line.

use std::borrow::Cow;

use percent_encoding::percent_encode_byte;

/// RFC 9309 section 2.5: at least this much is read, even if no line ends in time.
const BODY_BYTES_MIN: usize = 500 * 1024;

/// Returns the part of a body that is read: at most [`BODY_BYTES_MAX`](super::BODY_BYTES_MAX), cut
/// at the end of a line.
///
/// If the last line is so long that this would leave less than the RFC requires, it is cut within
/// the line.
///
/// A body that begins with the byte order mark of UTF-16 becomes UTF-8. One without a mark is
/// UTF-8, as the RFC requires.
pub(super) fn within_limit(body: &[u8]) -> Cow<'_, [u8]> {
    let bytes_max = super::BODY_BYTES_MAX;
    let text = match &body[..body.len().min(bytes_max)] {
        [0xFF, 0xFE, text @ ..] => Cow::Owned(from_utf_16(text, u16::from_le_bytes)),
        [0xFE, 0xFF, text @ ..] => Cow::Owned(from_utf_16(text, u16::from_be_bytes)),
        text => Cow::Borrowed(text),
    };
    let is_cut = body.len().max(text.len()) >= bytes_max;
    let end = if is_cut { end_of_lines(&text[..text.len().min(bytes_max)]) } else { text.len() };
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
        Cow::Owned(mut text) => {
            text.truncate(end);
            Cow::Owned(text)
        }
    }
}

/// Returns UTF-16 as UTF-8, without half a unit at the end. U+FFFD replaces invalid units.
fn from_utf_16(text: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (pairs, _) = text.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>().into_bytes()
}

/// Returns the end of the last whole line of a text that was cut.
fn end_of_lines(text: &[u8]) -> usize {
    match text.iter().rposition(|&octet| is_line_end(octet)) {
        // In UTF-16, half as many bytes may be as much text.
        Some(at) if text.len() - at <= super::BODY_BYTES_MAX - BODY_BYTES_MIN => at + 1,
        _ => text.len(),
    }
}

/// Returns a body as UTF-8, with invalid octets percent-encoded, so that it can be stored as text
/// without changing its meaning.
pub(super) fn as_utf8(body: &[u8]) -> String {
    let body = without_mark(body);
    let mut text = String::with_capacity(body.len());
    for chunk in body.utf8_chunks() {
        text.push_str(chunk.valid());
        for &octet in chunk.invalid() {
            text.push_str(percent_encode_byte(octet));
        }
    }
    text
}

/// Returns a body as lines of printable ASCII: without the byte order mark and blanks around lines,
/// other octets percent-encoded.
///
/// The parser needs this, too: it would cut long lines inside a character, and lose characters
/// after a lone `%` in a line with other things to encode.
pub(super) fn as_ascii_lines(body: &[u8]) -> String {
    let body = without_mark(body);
    let mut text = String::with_capacity(body.len());
    for line in body.split_inclusive(|&octet| is_line_end(octet)) {
        let (content, end) = match line {
            [content @ .., b'\r'] => (content, "\r"),
            [content @ .., b'\n'] => (content, "\n"),
            content => (content, ""),
        };
        push_ascii(&mut text, content.trim_ascii());
        text.push_str(end);
    }
    text
}

fn push_ascii(out: &mut String, mut line: &[u8]) {
    while let [octet, rest @ ..] = line {
        line = rest;
        match (octet, rest) {
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.extend(['%', char::from(high.to_ascii_uppercase()), char::from(low.to_ascii_uppercase())]);
                line = after;
            }
            (b'\t' | b' '..=b'~', _) => out.push(char::from(*octet)),
            _ => out.push_str(percent_encode_byte(*octet)),
        }
    }
}

/// Removes the byte order mark of UTF-8 (RFC 9309 section 2.2), or the rest of one after careless
/// editing.
fn without_mark(body: &[u8]) -> &[u8] {
    let marks: [&[u8]; 3] = [b"\xEF\xBB\xBF", b"\xEF\xBB", b"\xEF"];
    marks.iter().find_map(|mark| body.strip_prefix(*mark)).unwrap_or(body)
}

const fn is_line_end(octet: u8) -> bool {
    matches!(octet, b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::BODY_BYTES_MAX;

    #[test]
    fn a_body_becomes_ascii_lines() {
        let cases: [(&[u8], &str, &str); 9] = [
            (b"a\r\nb\rc\nd", "a\r\nb\rc\nd", "line ends stay, or line numbers would change"),
            (b" \ta : b\t\n", "a : b\n", "blanks around a line do not matter"),
            (b"\xEF\xBB\xBFa", "a", "a byte order mark is dropped"),
            (b"\xEF\xBBa", "a", "so is half of one"),
            (b"a\n\xEF\xBB\xBFb", "a\n%EF%BB%BFb", "but only at the start"),
            ("ツ".as_bytes(), "%E3%83%84", "non-ASCII is encoded"),
            (b"\xE9\x00\x1B", "%E9%00%1B", "so are octets that are not text"),
            (b"%aa%Zz%", "%AA%Zz%", "hexadecimal digits become upper case"),
            (b"%%aa", "%%AA", "a lone percent sign does not hide an escape"),
        ];
        for (body, expected, why) in cases {
            assert_eq!(as_ascii_lines(body), expected, "{why}");
        }
    }

    #[test]
    fn invalid_octets_are_preserved_as_text() {
        assert_eq!(as_utf8("/ä".as_bytes()), "/ä");
        assert_eq!(as_utf8(b"/\xE4b"), "/%E4b");
    }

    #[test]
    fn utf_16_with_a_mark_is_read() {
        let utf_16 = |mark: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            format!("{mark}/é\n").encode_utf16().flat_map(bytes).collect()
        };
        let cut = |body: &[u8]| within_limit(body).into_owned();
        for (body, expected, why) in [
            (utf_16("\u{feff}", u16::to_le_bytes), "/é\n".as_bytes().to_vec(), "little endian"),
            (utf_16("\u{feff}", u16::to_be_bytes), "/é\n".as_bytes().to_vec(), "big endian"),
            (utf_16("", u16::to_le_bytes), utf_16("", u16::to_le_bytes), "without a mark it is not guessed"),
            (b"\xff\xfe".to_vec(), Vec::new(), "a mark alone"),
            (b"\xff\xfe/\0a".to_vec(), b"/".to_vec(), "half a letter"),
        ] {
            assert_eq!(cut(&body), expected, "{why}");
        }
        let long = format!("\u{feff}{}", "/ab\n".repeat(BODY_BYTES_MAX));
        let text = cut(&long.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
        assert!(
            text.ends_with(b"/ab\n") && text.len() > BODY_BYTES_MAX / 2 - 8,
            "cut where a line ends: {}",
            text.len()
        );
    }

    #[test]
    fn a_long_body_is_cut_at_the_end_of_a_line() {
        let lines = b"Disallow: /a\n".repeat(BODY_BYTES_MAX / 10);
        let cut = within_limit(&lines);
        assert!(cut.len() <= BODY_BYTES_MAX && cut.len() > BODY_BYTES_MAX - 13, "{}", cut.len());
        assert!(cut.ends_with(b"/a\n"));
        assert_eq!(&*within_limit(b"short"), b"short");
        assert_eq!(within_limit(&vec![b'a'; BODY_BYTES_MAX + 1]).len(), BODY_BYTES_MAX, "one line that never ends");
    }
}
