//! One spelling for each percent-encoded octet.

/// Returns the text with its percent-encoding normalised; `None` if it is already, which is nearly
/// always so.
///
/// Hexadecimal digits become upper case, and unreserved characters are decoded (RFC 3986, 6.2.2.1
/// and 6.2.2.2). Other octets stay encoded: `%2F` is not a `/`. A `%` that does not start an octet
/// stays as it is, and browsers send it that way; an octet that could complete it stays encoded, so
/// that the two do not become one (`%%34%31` is not `%41`).
pub(super) fn normalised(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    let mut stray: Option<usize> = None;
    while let Some(found) = text[at..].find('%') {
        let start = at + found;
        let Some(octet) = octet_after(&text.as_bytes()[start + 1..]) else {
            stray = Some(start);
            at = start + 1;
            continue;
        };
        at = start + 3;
        let written = &text[start..at];
        let completes = stray.is_some_and(|stray| match &text.as_bytes()[stray + 1..start] {
            [] => true,
            [between] => between.is_ascii_hexdigit(),
            _ => false,
        });
        let decodes = is_unreserved(octet) && !completes;
        if !decodes && !written.bytes().any(|b| b.is_ascii_lowercase()) {
            continue;
        }
        out.push_str(&text[copied..start]);
        if decodes {
            out.push(char::from(octet));
        } else {
            out.extend(written.chars().map(|c| c.to_ascii_uppercase()));
        }
        copied = at;
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(out)
}

/// Decodes the two characters after a `%`, if they are hexadecimal digits.
#[must_use]
pub fn octet_after(bytes: &[u8]) -> Option<u8> {
    let [high, low, ..] = bytes else { return None };
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    Some(digit(*high)? << 4 | digit(*low)?)
}

/// Whether an octet is a character that means the same with and without encoding (RFC 3986, 2.3).
#[must_use]
pub const fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_octet_has_one_spelling() {
        let rows = [
            ("", None, "nothing to do"),
            ("/plain", None, "no octet at all"),
            ("/%E3%81%82", None, "as the URL parser writes it"),
            ("/%e3%81%82", Some("/%E3%81%82"), "digits in upper case"),
            ("/%7euser", Some("/~user"), "`~` is unreserved"),
            ("/%41%2d%5F%2e", Some("/A-_."), "so are letters, `-`, `_` and `.`"),
            ("/a%2fb", Some("/a%2Fb"), "an encoded slash is no separator and stays encoded"),
            ("/%25", None, "an encoded `%` stays encoded"),
            ("/%2541", None, "decoding once only: this is the text `%41`"),
            ("/%", None, "a lone `%` stays, as browsers send it"),
            ("/%zz", None, "so does one without digits"),
            ("/%4", None, "so does one with a single digit"),
            ("/%%34%31", Some("/%%341"), "the stray `%` must not gain two digits"),
            ("/%4%31", None, "nor one more digit"),
            ("/%%7e", Some("/%%7E"), "the octet behind a stray `%` keeps its encoding, in upper case"),
            ("/%/%34", Some("/%/4"), "no digit stands between: what is cut out there must not change this"),
            ("/%xy%7e", Some("/%xy~"), "further behind it is decoded again"),
        ];
        for (text, expected, why) in rows {
            assert_eq!(normalised(text).as_deref(), expected, "{text}: {why}");
        }
    }
}
