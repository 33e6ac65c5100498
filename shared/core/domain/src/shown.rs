//! Makes foreign text safe to show in a message, a log line or a terminal.

use std::borrow::Cow;

/// Whether a terminal obeys the character instead of showing it.
///
/// These are all control characters, including line breaks and tabs, and characters that break
/// lines or change the direction of writing, which can make one URL look like another (Unicode
/// Technical Report 36, section 2.5).
#[must_use]
pub fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the text on one line of at most `chars_max` characters, safe for a terminal.
///
/// Line breaks and tabs become one space, and are trimmed at both ends; other characters that a
/// terminal obeys are written as `\u{1b}`. A text that is too long is cut, with `…` at its end.
///
/// ```
/// use dragline_domain::shown::one_line;
/// assert_eq!(one_line("timed out\r\n\tafter \u{1b}[1m30s", 80), "timed out after \\u{1b}[1m30s");
/// assert_eq!(one_line("timed out", 6), "timed…");
/// ```
#[must_use]
pub fn one_line(text: &str, chars_max: usize) -> String {
    let mut line = String::with_capacity(text.len().min(chars_max));
    let (mut chars, mut end_with_room) = (0, 0);
    let mut is_after_break = false;
    for c in text.chars() {
        if is_control(c) && c.is_whitespace() {
            is_after_break = !line.is_empty();
            continue;
        }
        if std::mem::take(&mut is_after_break) {
            line.push(' ');
            chars += 1;
        }
        if is_control(c) {
            let escaped = c.escape_unicode();
            chars += escaped.len();
            line.extend(escaped);
        } else {
            line.push(c);
            chars += 1;
        }
        if chars > chars_max {
            line.truncate(end_with_room);
            if chars_max > 0 {
                line.push('…');
            }
            break;
        }
        if chars < chars_max {
            end_with_room = line.len();
        }
    }
    line
}

/// Returns the text with user names and passwords masked by as many `*`, so that columns stay the
/// same.
///
/// Everything between two slashes and the last `@` may be one, however the URL was mistyped;
/// without slashes, everything before the `@` in the same word may be.
///
/// ```
/// use dragline_domain::shown::without_credentials;
/// assert_eq!(without_credentials("https://me:secret@example.org/"), "https://*********@example.org/");
/// ```
#[must_use]
pub fn without_credentials(text: &str) -> Cow<'_, str> {
    if !text.contains('@') {
        return Cow::Borrowed(text);
    }
    let (words, after_slashes) = text.split_at(text.find("//").map_or(text.len(), |slashes| slashes + 2));
    let mut shown = String::with_capacity(text.len());
    for word in words.split_inclusive(char::is_whitespace) {
        let unquoted = word.trim_start_matches(['\'', '"', '[', '{', '(']);
        shown.push_str(&word[..word.len() - unquoted.len()]);
        push_masked(&mut shown, unquoted);
    }
    push_masked(&mut shown, after_slashes);
    Cow::Owned(shown)
}

/// Appends a text, masking everything before its last `@`.
fn push_masked(shown: &mut String, text: &str) {
    let (secret, rest) = text.split_at(text.rfind('@').unwrap_or(0));
    shown.extend(secret.chars().map(|_| '*'));
    shown.push_str(rest);
}

/// Formats a count with separated thousands: `1,234`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Formats a count of something whose plural ends in `s`: `1 page`, `1,234 pages`.
#[must_use]
pub fn plural(number: u64, one: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {one}{ending}", count(number))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_becomes_one_safe_line() {
        for (text, chars_max, expected, why) in [
            ("cannot", 80, "cannot", "as it is"),
            ("größe 中文", 80, "größe 中文", "other letters are for reading"),
            ("timed\nout", 80, "timed out", "a line break is a space"),
            ("a \r\n\tb", 80, "a  b", "several that stand together are one space"),
            ("\nbad pattern\n", 80, "bad pattern", "but not at either end"),
            ("a\u{85}b\u{2028}c\u{2029}d\u{b}e", 80, "a b c d e", "the line breaks of Unicode"),
            ("a\u{1b}[31m", 80, "a\\u{1b}[31m", "terminal colours"),
            ("a\u{9b}31m", 80, "a\\u{9b}31m", "the same in one character"),
            ("a\u{202e}b\u{61c}", 80, "a\\u{202e}b\\u{61c}", "reversed text"),
            ("a\u{0}", 80, "a\\u{0}", "what ends a text in C"),
            ("12345", 5, "12345", "as long as allowed"),
            ("123456", 5, "1234…", "cut, with a mark"),
            ("äöüäöü", 3, "äö…", "by characters, not by bytes"),
            ("abc\u{1b}", 5, "abc…", "an escape is not cut in two"),
            ("ab\ncd", 3, "ab…", "no room for the space"),
            ("a", 0, "", "no room at all"),
            ("", 5, "", "nothing"),
        ] {
            assert_eq!(one_line(text, chars_max), expected, "{why}");
        }
    }

    #[test]
    fn credentials_are_masked_even_in_mistyped_urls() {
        for (text, expected, why) in [
            ("https://example.org/a", "https://example.org/a", "there are none"),
            ("https://user:secret@example.org/", "https://***********@example.org/", "as they are written"),
            ("https://secret@example.org/", "https://******@example.org/", "a name alone, which may be a token"),
            ("https://us@er:se@cret@example.org/", "https://*************@example.org/", "the last `@` ends them"),
            ("user:secret@example.org", "***********@example.org", "without a scheme"),
            ("https://user:se/c@ret@example.org/", "https://*************@example.org/", "with what had to be encoded"),
            ("https://user:se cret@example.org/", "https://************@example.org/", "with a space"),
            ("https:user:secret@example.org", "*****************@example.org", "without slashes"),
            ("  - 'user:secret@example.org'", "  - '***********@example.org'", "in quotes"),
            ("a: [u:p@a.example, https://u:p@b.example]", "a: [***@a.example, https://***@b.example]", "two of them"),
            (
                "https://u:p@a.example https://u:p@b.example",
                "https://*************************@b.example",
                "all up to the last",
            ),
            ("größe@example.org", "*****@example.org", "columns are characters"),
        ] {
            let shown = without_credentials(text);
            assert_eq!(shown, expected, "{why}");
            assert_eq!(shown.chars().count(), text.chars().count(), "{why}");
        }
    }

    #[test]
    fn thousands_are_separated() {
        let shown = [0, 7, 999, 1_000, 12_345, 1_234_567, 100_000_000].map(count);
        assert_eq!(shown, ["0", "7", "999", "1,000", "12,345", "1,234,567", "100,000,000"]);
        assert_eq!([0, 1, 2_000].map(|number| plural(number, "page")), ["0 pages", "1 page", "2,000 pages"]);
    }

    proptest! {
        #[test]
        fn one_line_is_limited_safe_and_idempotent(text in any::<String>(), chars_max in 0_usize..40) {
            let line = one_line(&text, chars_max);
            prop_assert!(line.chars().count() <= chars_max);
            prop_assert!(!line.contains(is_control));
            prop_assert_eq!(one_line(&line, chars_max), line);
        }
    }
}
