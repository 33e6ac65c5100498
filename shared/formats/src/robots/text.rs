//! The bytes of a robots.txt as text that can be read line by line.

use percent_encoding::percent_encode_byte;

/// RFC 9309 section 2.5: at least this much is read, even if no line ends in time.
const BODY_BYTES_MIN: usize = 500 * 1024;

/// Returns the part of a body that is read: at most [`BODY_BYTES_MAX`](super::BODY_BYTES_MAX), cut at the end of a line.
///
/// If the last line is so long that this would leave less than the RFC requires, it is cut within the line.
pub(super) fn within_limit(body: &[u8]) -> &[u8] {
    let Some((head, _)) = body.split_at_checked(super::BODY_BYTES_MAX) else { return body };
    match head.iter().rposition(|&octet| is_line_end(octet)) {
        Some(at) if at >= BODY_BYTES_MIN => &head[..=at],
        _ => head,
    }
}

/// Returns a body as UTF-8, with invalid octets percent-encoded, so that it can be stored as text without changing its meaning.
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

/// Returns a body as lines of printable ASCII: without the byte order mark and blanks around lines, other octets percent-encoded.
///
/// The parser needs this, too: it would cut long lines inside a character, and lose characters after a lone `%` in a line with other things to
/// encode.
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

/// Removes the byte order mark of UTF-8 (RFC 9309 section 2.2), or the part of one that careless editing left.
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
    fn stray_octets_survive_as_text() {
        assert_eq!(as_utf8("/ä".as_bytes()), "/ä");
        assert_eq!(as_utf8(b"/\xE4b"), "/%E4b");
    }

    #[test]
    fn a_long_body_is_cut_where_a_line_ends() {
        let lines = b"Disallow: /a\n".repeat(BODY_BYTES_MAX / 10);
        let cut = within_limit(&lines);
        assert!(cut.len() <= BODY_BYTES_MAX && cut.len() > BODY_BYTES_MAX - 13, "{}", cut.len());
        assert!(cut.ends_with(b"/a\n"));
        assert_eq!(within_limit(b"short"), b"short");
        assert_eq!(within_limit(&vec![b'a'; BODY_BYTES_MAX + 1]).len(), BODY_BYTES_MAX, "one line that never ends");
    }
}
