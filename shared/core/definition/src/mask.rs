//! Blanking out one mistake in a file, to find the others as well.
//!
//! The YAML reader stops at the first mistake in the file's shape. It is blanked out, letter by
//! letter, so that everything else keeps its location, and the file is read again. This need not
//! handle all of YAML: if it goes wrong, the file no longer parses, and the mistakes found so far
//! are reported.

use super::error::Location;

/// The extent to blank out at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlankExtent {
    /// The key that begins there, with its value.
    Key,
    /// The value that begins there; its key stays, without a value.
    Value,
    /// The top-level key that contains the location, because the mistake cannot be left out alone.
    Within,
}

/// Blanks out the key or value at a location; `None` if nothing is there.
pub(super) fn blank_out(text: &str, location: Location, wrong: BlankExtent) -> Option<String> {
    let mut page = Page::new(text);
    let (location, wrong) = match wrong {
        BlankExtent::Key | BlankExtent::Value => (location, wrong),
        BlankExtent::Within => (page.enclosing_section(location)?, BlankExtent::Key),
    };
    let start = page.lines.get(location.line - 1)? + location.column - 1;
    page.chars.get(start)?;
    let ends = if page.is_in_flow(start) {
        vec![(start, page.flow_end(start, wrong))]
    } else {
        page.block_ends(start, location, wrong)
    };
    let mut has_changed = false;
    for (from, to) in ends {
        for letter in page.chars[from..to].iter_mut().filter(|letter| !is_line_end(**letter)) {
            has_changed |= *letter != ' ';
            *letter = ' ';
        }
    }
    has_changed.then(|| page.chars.into_iter().collect())
}

const fn is_line_end(letter: char) -> bool {
    matches!(letter, '\n' | '\r')
}

/// A text as letters, with the starts of its lines.
struct Page {
    chars: Vec<char>,
    lines: Vec<usize>,
}

impl Page {
    fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let ends = chars.iter().enumerate().filter(|(at, letter)| match letter {
            '\n' => true,
            '\r' => chars.get(at + 1) != Some(&'\n'),
            _ => false,
        });
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { chars, lines }
    }

    /// Returns the location of the top-level key that contains this one; `None` if the file is
    /// written in brackets.
    fn enclosing_section(&self, location: Location) -> Option<Location> {
        let first = |line: usize| self.chars.get(self.lines[line - 1]).copied().unwrap_or('\n');
        let is_key = |line: &usize| first(*line).is_alphanumeric() || matches!(first(*line), '"' | '\'' | '{' | '[');
        let line = (1..=location.line.min(self.lines.len())).rev().find(is_key)?;
        (!matches!(first(line), '{' | '[')).then_some(Location { line, column: 1 })
    }

    /// Returns the end of a letter's line, without the line end.
    fn line_end(&self, at: usize) -> usize {
        let length = self.chars[at..].iter().position(|letter| is_line_end(*letter));
        length.map_or(self.chars.len(), |length| at + length)
    }

    /// Returns the position after the quoted text that begins here.
    fn quote_end(&self, at: usize) -> usize {
        let quote = self.chars[at];
        let mut next = at + 1;
        while next < self.chars.len() && self.chars[next] != quote {
            next += if quote == '"' && self.chars[next] == '\\' { 2 } else { 1 };
        }
        (next + 1).min(self.chars.len())
    }

    /// Whether a letter begins a value, rather than being inside a text.
    fn begins(&self, at: usize) -> bool {
        at == 0 || self.chars[at - 1].is_whitespace() || matches!(self.chars[at - 1], '[' | '{' | ',')
    }

    /// Returns the position after one piece: a quoted text, a comment, or a letter.
    fn piece_end(&self, at: usize) -> usize {
        match self.chars[at] {
            '"' | '\'' if self.begins(at) => self.quote_end(at),
            '#' if self.begins(at) => self.line_end(at),
            _ => at + 1,
        }
    }

    /// Whether a letter is inside brackets.
    fn is_in_flow(&self, place: usize) -> bool {
        let (mut at, mut depth) = (0, 0_usize);
        while at < place {
            match self.chars[at] {
                '[' | '{' if depth > 0 || self.begins(at) => depth += 1,
                ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            at = self.piece_end(at);
        }
        depth > 0
    }

    /// Returns the end of a key with its value and comma, or of a value alone, within brackets.
    fn flow_end(&self, start: usize, wrong: BlankExtent) -> usize {
        let (mut at, mut depth) = (start, 0_usize);
        while at < self.chars.len() {
            match self.chars[at] {
                ',' if depth == 0 => return if wrong == BlankExtent::Key { at + 1 } else { at },
                ']' | '}' if depth == 0 => return at,
                '[' | '{' => depth += 1,
                ']' | '}' => depth -= 1,
                _ => {}
            }
            at = self.piece_end(at);
        }
        at
    }

    /// Returns the position after the brackets that open here.
    fn brackets_end(&self, start: usize) -> usize {
        let (mut at, mut depth) = (start, 0_usize);
        while at < self.chars.len() {
            match self.chars[at] {
                '[' | '{' => depth += 1,
                ']' | '}' => depth -= 1,
                _ => {}
            }
            at = self.piece_end(at);
            if depth == 0 {
                break;
            }
        }
        at
    }

    /// Returns the parts of a key with its value, or of a value alone, in indented lines.
    fn block_ends(&self, start: usize, location: Location, wrong: BlankExtent) -> Vec<(usize, usize)> {
        let indent = match wrong {
            BlankExtent::Key | BlankExtent::Within => location.column - 1,
            BlankExtent::Value => self.indent_of_line(location),
        };
        let is_list = self.chars[start] == '-' && self.chars.get(start + 1).is_none_or(|next| next.is_whitespace());
        let own_line = self.chars[self.lines[location.line - 1]..start].iter().all(|letter| *letter == ' ');
        let first = self.value_end(start);
        let mut ends = vec![(start, first)];
        for &line in self.lines.iter().filter(|line| **line > start) {
            if line < first {
                continue;
            }
            let end = self.line_end(line);
            let text = &self.chars[line..end];
            let its_indent = text.iter().take_while(|letter| **letter == ' ').count();
            let is_entry = text.get(its_indent) == Some(&'-');
            let is_empty = text.iter().all(|letter| letter.is_whitespace()) || text.get(its_indent) == Some(&'#');
            let belongs = match wrong {
                BlankExtent::Key | BlankExtent::Within => its_indent > indent || (its_indent == indent && is_entry),
                BlankExtent::Value if own_line => {
                    its_indent > location.column - 1 || (its_indent == location.column - 1 && is_entry == is_list)
                }
                BlankExtent::Value => its_indent > indent,
            };
            if !belongs && !is_empty {
                break;
            }
            ends.push((line, end));
        }
        ends
    }

    /// Returns the end of the value that begins here: the end of the line, or a later closing
    /// bracket.
    fn value_end(&self, start: usize) -> usize {
        let mut at = start;
        let line_end = self.line_end(start);
        while at < line_end {
            at = match self.chars[at] {
                '[' | '{' if self.begins(at) => self.brackets_end(at),
                _ => self.piece_end(at),
            };
        }
        at.max(line_end)
    }

    /// Returns the indentation of the key of a value on the same line.
    fn indent_of_line(&self, location: Location) -> usize {
        let line = self.lines[location.line - 1];
        let before = &self.chars[line..line + location.column - 1];
        before.iter().take_while(|letter| matches!(letter, ' ' | '-')).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanking_out_a_mistake_keeps_all_other_locations() {
        use BlankExtent::{Key, Value, Within};
        let location = |line, column| Location { line, column };
        for (text, at, wrong, expected, why) in [
            ("a: 1\nb: 2\nc: 3", location(2, 1), Key, "a: 1\n\nc: 3", "a key with its value"),
            ("a: 1\nb: 2\nc: 3", location(2, 4), Value, "a: 1\nb:\nc: 3", "a value"),
            ("a:\n  b:\n    - 1\n  c: 2", location(2, 3), Key, "a:\n\n\n  c: 2", "with what is below it"),
            ("a:\n- 1\n- 2\nb: 3", location(1, 1), Key, "\n\n\nb: 3", "a list that is not indented"),
            ("a:\n  - b: 1\n    c: 2", location(2, 5), Key, "a:\n  -\n    c: 2", "the first key of an entry"),
            ("a: { b: 1, c: 2 }", location(1, 6), Key, "a: {       c: 2 }", "with its comma"),
            ("a: { b: 1, c: 2 }", location(1, 12), Key, "a: { b: 1,      }", "the last one"),
            ("a: { b: [1, '}'], c: 2 }", location(1, 9), Value, "a: { b:         , c: 2 }", "with brackets and quotes"),
            ("a: [1,\n  2\n]\nb: 3", location(1, 1), Key, "\n\n\nb: 3", "brackets that close at the line's beginning"),
            ("a:\n  b: 1\n  c: 2\nd: 3", location(2, 3), Value, "a:\n\n\nd: 3", "keys in place of a text"),
            ("a: one\n  two\nb: 3", location(1, 4), Value, "a:\n\nb: 3", "a text of two lines"),
            (
                "a: 1\nb:\n  - c: { d: 1 }\n    e: 2\nf: 3",
                location(3, 14),
                Within,
                "a: 1\n\n\n\nf: 3",
                "all of its section",
            ),
            ("a: 'b # c' # d\ne: 1", location(1, 4), Value, "a:\ne: 1", "to the line's end"),
            ("# { no\na: 1\nb: 2", location(2, 1), Key, "# { no\n\nb: 2", "a bracket in a comment opens nothing"),
            ("a: x{y\nb: 1\nc: 2", location(2, 1), Key, "a: x{y\n\nc: 2", "nor does one within a text"),
        ] {
            let found = blank_out(text, at, wrong).expect(why);
            let trimmed: Vec<&str> = found.lines().map(str::trim_end).collect();
            assert_eq!(trimmed, expected.split('\n').collect::<Vec<_>>(), "{why}");
            assert_eq!(found.chars().count(), text.chars().count(), "{why}: nothing moved");
        }
        assert_eq!(blank_out("a: 1", location(9, 1), Key), None, "no such line");
        assert_eq!(blank_out("{ a: 1 }", location(1, 3), Within), None, "no sections");
        assert_eq!(blank_out("a:   ", location(1, 4), Value), None, "nothing to take out, so that reading ends");
    }
}
