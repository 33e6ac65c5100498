//! The widths of texts and terminals.

use std::io::IsTerminal;

use terminal_size::terminal_size_of;
use unicode_width::UnicodeWidthChar;

/// What stands for the part of a text that is left out.
const ELLIPSIS: char = '…';

/// The space for lines of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// Lines are as long as they need to be: the stream is not a terminal.
    Unlimited,
    /// Lines have this many columns at most.
    Columns(usize),
}

impl Width {
    /// Returns the width of a stream of this process. A terminal without a size has no limit.
    pub(crate) fn for_stream(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Self {
        let size = if stream.is_terminal() { terminal_size_of(stream) } else { None };
        size.map_or(Self::Unlimited, |(columns, _)| Self::Columns(usize::from(columns.0)))
    }
}

/// Returns the columns of a character. A selector of pictures counts, as it may widen the character
/// before it.
fn char_columns(c: char) -> usize {
    if c == '\u{fe0f}' { 1 } else { c.width().unwrap_or(0) }
}

/// Returns the columns of a line of text: wide characters, as in Chinese, take two.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

/// Cuts a text to this many columns at its end.
pub(super) fn cut_end(text: &str, columns_max: usize) -> String {
    cut(text, columns_max, |_| 0)
}

/// Cuts a text to this many columns in its middle, as a URL says most at its ends.
pub(super) fn cut_middle(text: &str, columns_max: usize) -> String {
    cut(text, columns_max, |columns| columns / 2)
}

/// Cuts a text. `at_end` says how many of the columns beside the ellipsis the text's end gets.
fn cut(text: &str, columns_max: usize, at_end: impl Fn(usize) -> usize) -> String {
    if columns(text) <= columns_max {
        return text.to_owned();
    }
    let Some(room) = columns_max.checked_sub(1) else { return String::new() };
    let tail = at_end(room);
    let begin = &text[..fitting(text.chars(), room - tail)];
    // An accent does not go without its letter.
    let end = text[text.len() - fitting(text.chars().rev(), tail)..].trim_start_matches(|c| char_columns(c) == 0);
    format!("{begin}{ELLIPSIS}{end}")
}

/// Returns the bytes of the first characters that fit in this many columns.
fn fitting(chars: impl Iterator<Item = char>, columns_max: usize) -> usize {
    let (mut bytes, mut columns) = (0, 0);
    for c in chars {
        columns += char_columns(c);
        if columns > columns_max {
            break;
        }
        bytes += c.len_utf8();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_texts_are_cut_with_an_ellipsis() {
        for (text, columns_max, end, middle, why) in [
            ("abcdef", 6, "abcdef", "abcdef", "it fits"),
            ("abcdefg", 6, "abcde…", "abc…fg", "one too long"),
            ("https://example.org/a/b/c", 12, "https://exa…", "https:…a/b/c", "a URL"),
            ("日本語のページ", 14, "日本語のページ", "日本語のページ", "seven wide characters"),
            ("日本語のページ", 8, "日本語…", "日本…ジ", "a wide character is not halved"),
            ("ée\u{301}ée\u{301}é", 4, "ée\u{301}é…", "ée\u{301}…é", "an accent takes no column"),
            ("abc", 1, "…", "…", "nothing but the ellipsis"),
            ("abc", 0, "", "", "nothing at all"),
        ] {
            assert_eq!((&*cut_end(text, columns_max), &*cut_middle(text, columns_max)), (end, middle), "{why}");
        }
    }

    proptest! {
        #[test]
        fn a_cut_text_fits(text in any::<String>(), columns_max in 0_usize..40) {
            for cut in [cut_end(&text, columns_max), cut_middle(&text, columns_max)] {
                prop_assert!(columns(&cut) <= columns_max, "{cut:?}");
            }
        }
    }
}
