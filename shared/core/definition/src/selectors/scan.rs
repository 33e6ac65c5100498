//! Searching the text of a selector for single characters outside quotes.

/// Returns a text with quoted and escaped characters blanked out, of the same length in characters.
pub(crate) fn without_quoted(text: &str) -> String {
    let mut open = None;
    let mut is_escaped = false;
    let mut blank = |c: char| {
        if is_escaped {
            is_escaped = false;
            return '_';
        }
        if c == '\\' {
            is_escaped = true;
            return '_';
        }
        match open {
            Some(quote) if c == quote => open = None,
            Some(_) => return '_',
            None if matches!(c, '"' | '\'') => open = Some(c),
            None => {}
        }
        c
    };
    text.chars().map(&mut blank).collect()
}

/// Returns how deep brackets of any kind are nested.
pub(crate) fn brackets_depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}
