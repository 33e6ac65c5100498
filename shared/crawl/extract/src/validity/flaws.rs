//! Collecting flaws, and locating them.

use dragline_domain::shown::one_line;
use dragline_domain::validity::{Flaw, Rule, ValidationType, Validity};

/// The most flaws described; the rest is counted.
pub const FLAWS_MAX: usize = 20;

/// The limit for counting the rest.
const MORE_MAX: u32 = 100_000;

/// The most characters of a message, and of a name or value quoted in it.
const MESSAGE_CHARS_MAX: usize = 300;
const QUOTED_CHARS_MAX: usize = 80;

/// A position in a text: line and column from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineColumn {
    pub(super) line: u32,
    pub(super) column: u32,
}

impl LineColumn {
    pub(super) const START: Self = Self { line: 1, column: 1 };

    pub(super) fn new(line: usize, column: usize) -> Self {
        let bounded = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self { line: bounded(line), column: bounded(column) }
    }

    /// Returns the position of the character at this byte. Lines end as in HTML and XML: by LF, CR
    /// or both.
    pub(super) fn locate(text: &str, at_bytes: usize) -> Self {
        let before = &text[..text.floor_char_boundary(at_bytes)];
        let bytes = before.as_bytes();
        let is_break = |at: usize| match bytes[at] {
            b'\n' => true,
            // In CR LF the LF ends the line.
            b'\r' => text.as_bytes().get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let line = (0..bytes.len()).filter(|at| is_break(*at)).count() + 1;
        let line_start = (0..bytes.len()).rev().find(|at| is_break(*at)).map_or(0, |at| at + 1);
        Self::new(line, before[line_start..].chars().count() + 1)
    }
}

/// Computes successive positions in a single pass.
#[derive(Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    at_bytes: usize,
    place: LineColumn,
}

impl<'t> Cursor<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, at_bytes: 0, place: LineColumn::START }
    }

    /// Returns the position of the character at this byte; the last position if that is further
    /// back.
    pub(super) fn locate(&mut self, at_bytes: usize) -> LineColumn {
        let at_bytes = self.text.floor_char_boundary(at_bytes);
        if at_bytes > self.at_bytes {
            let LineColumn { line, column } = LineColumn::locate(&self.text[self.at_bytes..], at_bytes - self.at_bytes);
            let column = if line == 1 { self.place.column.saturating_add(column - 1) } else { column };
            self.place = LineColumn { line: self.place.line.saturating_add(line - 1), column };
            self.at_bytes = at_bytes;
        }
        self.place
    }
}

/// The flaws of a body.
#[derive(Debug, Default)]
pub(super) struct Flaws {
    found: Vec<Flaw>,
    more: u32,
}

impl Flaws {
    /// Adds a flaw. Beyond the limit it is only counted, so expensive messages are built by the
    /// closures.
    pub(super) fn add(
        &mut self,
        rule: &'static str,
        place: impl FnOnce() -> LineColumn,
        message: impl FnOnce() -> String,
    ) {
        if self.found.len() < FLAWS_MAX {
            let LineColumn { line, column } = place();
            let message = one_line(&message(), MESSAGE_CHARS_MAX);
            self.found.push(Flaw { line, column: Some(column), rule: Rule::new(rule), message });
        } else {
            self.more = (self.more + 1).min(MORE_MAX);
        }
    }

    pub(super) fn finish(mut self, kind: ValidationType) -> Validity {
        self.found.sort_by_key(|flaw| (flaw.line, flaw.column));
        Validity { kind, flaws: self.found, flaws_more: self.more }
    }
}

/// Quotes input in a message.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", one_line(text, QUOTED_CHARS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_from_one_in_characters() {
        for (text, at_bytes, line, column, why) in [
            ("", 0, 1, 1, "nothing"),
            ("abc", 2, 1, 3, "in the first line"),
            ("a\nb", 2, 2, 1, "behind a line feed"),
            ("a\r\nb", 3, 2, 1, "behind both"),
            ("a\r\nb", 2, 1, 3, "between both"),
            ("a\rb", 2, 2, 1, "behind a carriage return"),
            ("äöü<", 6, 1, 4, "characters, not bytes"),
            ("äöü<", 5, 1, 3, "within a character is at it"),
            ("a", 9, 1, 2, "behind the end is at it"),
        ] {
            assert_eq!(LineColumn::locate(text, at_bytes), LineColumn { line, column }, "{text:?} {at_bytes}: {why}");
            let mut cursor = Cursor::new(text);
            cursor.locate(at_bytes / 2);
            assert_eq!(cursor.locate(at_bytes), LineColumn { line, column }, "{text:?} {at_bytes} in two steps: {why}");
        }
    }

    #[test]
    fn flaws_beyond_the_limit_are_counted() {
        let mut flaws = Flaws::default();
        for line in 1..=u32::try_from(FLAWS_MAX).unwrap() + 5 {
            flaws.add("rule", || LineColumn { line, column: 1 }, || "a\nb".to_owned());
        }
        let validity = flaws.finish(ValidationType::Html);
        assert_eq!((validity.flaws.len(), validity.flaws_more), (FLAWS_MAX, 5));
        assert_eq!(validity.flaws[0].message, "a b", "on one line");
    }
}
