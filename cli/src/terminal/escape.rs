//! Escapes text from the network before it is shown.

use std::borrow::Cow;
use std::fmt::Write;

use dragline_domain::shown::is_control;

/// Escapes all characters that a terminal would act on.
///
/// This includes line breaks and tabs, as the text is part of a line.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    escape(text, is_control)
}

/// Like [`safe`], but keeps line breaks, for text of several lines that quotes others.
pub(crate) fn safe_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| c != '\n' && is_control(c))
}

/// Like [`safe_lines`], but also keeps tabs and CRLF line ends, for a whole text.
pub(crate) fn safe_text(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        return Cow::Owned(safe_text(&text.replace("\r\n", "\n")).into_owned());
    }
    escape(text, |c| !matches!(c, '\n' | '\t') && is_control(c))
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "{}", c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Escapes a text for XML, and leaves out what XML 1.0 cannot hold (section 2.2).
pub(crate) fn xml_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c < ' ' && !matches!(c, '\t' | '\n') => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        for (text, expected, why) in [
            ("https://example.org/ä?b=1", "https://example.org/ä?b=1", "letters of any script are shown"),
            ("\u{1b}[2J", "\\u{1b}[2J", "would clear the screen"),
            ("\u{9b}31m", "\\u{9b}31m", "the same in one character, from the upper control codes"),
            ("\u{1b}]0;owned\u{7}", "\\u{1b}]0;owned\\u{7}", "would rename the window"),
            ("a\rb", "a\\rb", "would overwrite the line"),
            ("a\nerror: b", "a\\nerror: b", "would fake a message"),
            ("a\tb", "a\\tb", "would break the columns"),
            ("a\u{8}b\u{7f}", "a\\u{8}b\\u{7f}", "would erase letters"),
            ("a\u{202e}gpj.exe", "a\\u{202e}gpj.exe", "would show the rest backwards"),
            ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}", "would do so for a part of it"),
            ("a\u{2028}b", "a\\u{2028}b", "breaks the line on some terminals"),
        ] {
            assert_eq!(safe(text), expected, "{why}");
        }
        assert_eq!(safe_lines("a\nb\u{1b}c"), "a\nb\\u{1b}c", "line breaks stay");
        for (text, expected, why) in [
            ("a\tb\n", "a\tb\n", "a text has columns"),
            ("a\r\nb\r\n", "a\nb\n", "and ends its lines as it likes"),
            ("a\rb\n\r\n", "a\\rb\n\n", "a return alone would overwrite the line"),
            ("a\r\u{1b}[2J\r\n", "a\\r\\u{1b}[2J\n", "the rest is escaped as everywhere"),
        ] {
            assert_eq!(safe_text(text), expected, "{why}");
        }
    }

    proptest! {
        #[test]
        fn escaping_is_complete_and_idempotent(text in any::<String>()) {
            let once = safe(&text).into_owned();
            prop_assert!(!once.contains(is_control));
            prop_assert_eq!(safe(&once), once.as_str());
        }
    }
}
