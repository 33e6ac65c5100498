//! Two texts side by side.

use std::time::Duration;

use maud::{Markup, html};
use similar::{ChangeTag, DiffOp, TextDiff};

/// How long two texts are compared, after which what is left counts as different.
const PATIENCE: Duration = Duration::from_millis(500);

/// The equal lines that are shown before and after a difference.
const AROUND: usize = 3;

/// The most lines that are shown.
const LINES_MAX: usize = 4_000;

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Same(String),
    Different(String),
}

/// A line of both texts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Same(String),
    Changed {
        before: Vec<Piece>,
        after: Vec<Piece>,
    },
    Removed(String),
    Added(String),
    /// So many equal lines are left out.
    LeftOut(usize),
}

/// Compares two texts line by line, and changed lines word by word.
fn compare(before: &str, after: &str) -> Vec<Line> {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before, after);
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let text = |lines: &[&str], place: usize| lines.get(place).copied().unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    for op in diff.ops() {
        match *op {
            DiffOp::Equal { old_index, len, .. } => {
                lines.extend((old_index..old_index + len).map(|place| Line::Same(text(&old, place))));
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                lines.extend((old_index..old_index + old_len).map(|place| Line::Removed(text(&old, place))));
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                lines.extend((new_index..new_index + new_len).map(|place| Line::Added(text(&new, place))));
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                let both = old_len.min(new_len);
                lines.extend((0..both).map(|n| change(&text(&old, old_index + n), &text(&new, new_index + n))));
                lines.extend((both..old_len).map(|n| Line::Removed(text(&old, old_index + n))));
                lines.extend((both..new_len).map(|n| Line::Added(text(&new, new_index + n))));
            }
        }
    }
    lines
}

/// Compares two lines word by word.
fn change(before: &str, after: &str) -> Line {
    let diff = TextDiff::configure().timeout(PATIENCE / 10).diff_words(before, after);
    let side = |other: ChangeTag| {
        let shown = diff.iter_all_changes().filter(|change| change.tag() != other);
        shown
            .map(|change| match change.tag() {
                ChangeTag::Equal => Piece::Same(change.value().to_owned()),
                _ => Piece::Different(change.value().to_owned()),
            })
            .collect()
    };
    Line::Changed { before: side(ChangeTag::Insert), after: side(ChangeTag::Delete) }
}

/// Leaves out equal lines that are far from any difference.
fn shorten(lines: Vec<Line>) -> Vec<Line> {
    let is_same = |line: &Line| matches!(line, Line::Same(_));
    let mut shown = Vec::new();
    let mut lines = lines.into_iter().peekable();
    while lines.peek().is_some() {
        let mut equal = Vec::new();
        while let Some(line) = lines.next_if(is_same) {
            equal.push(line);
        }
        let head = if shown.is_empty() { 0 } else { AROUND };
        let tail = if lines.peek().is_none() { 0 } else { AROUND };
        if equal.len() > head + tail + 1 {
            let after = equal.split_off(equal.len() - tail);
            let left_out = equal.len() - head;
            equal.truncate(head);
            shown.extend(equal);
            shown.push(Line::LeftOut(left_out));
            shown.extend(after);
        } else {
            shown.extend(equal);
        }
        while let Some(line) = lines.next_if(|line| !is_same(line)) {
            shown.push(line);
        }
    }
    shown
}

/// Returns two texts side by side, as the rows of a table: what was removed and added is marked by
/// a sign and a word, and not by its colour alone.
pub(super) fn rows(before: &str, after: &str) -> Markup {
    let lines = shorten(compare(before, after));
    let is_cut = lines.len() > LINES_MAX;
    html! {
        @for line in lines.iter().take(LINES_MAX) { tr {
            @match line {
                Line::Same(text) => { td { (text) } td { (text) } },
                Line::Removed(text) => { td.is-removed { (removed()) del { (text) } } td.is-nothing {} },
                Line::Added(text) => { td.is-nothing {} td.is-added { (added()) ins { (text) } } },
                Line::Changed { before, after } => {
                    td.is-removed { (removed()) @for piece in before { @match piece {
                        Piece::Same(text) => (text), Piece::Different(text) => del { (text) },
                    } } }
                    td.is-added { (added()) @for piece in after { @match piece {
                        Piece::Same(text) => (text), Piece::Different(text) => ins { (text) },
                    } } }
                },
                Line::LeftOut(count) => { td.is-left-out colspan="2" {
                    (count) @if *count == 1 { " equal line" } @else { " equal lines" }
                } },
            }
        } }
        @if is_cut { tr { td.is-left-out colspan="2" { "The rest is not shown." } } }
    }
}

fn removed() -> Markup {
    html! { span.sign aria-hidden="true" { "−" } span.unseen { "removed: " } }
}

fn added() -> Markup {
    html! { span.sign aria-hidden="true" { "+" } span.unseen { "added: " } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_and_then_words() {
        let same = |text: &str| Line::Same(text.to_owned());
        let lines = compare("a\nthe price is 5\nb\nold", "a\nthe price is 6\nb\nnew line\nmore");
        let piece = |text: &str| Piece::Same(text.to_owned());
        assert_eq!((&lines[0], &lines[2]), (&same("a"), &same("b")));
        let Line::Changed { before, after } = &lines[1] else { panic!("{lines:?}") };
        assert_eq!(before.last(), Some(&Piece::Different("5".to_owned())), "{before:?}");
        assert_eq!(after.last(), Some(&Piece::Different("6".to_owned())), "{after:?}");
        assert_eq!(before.first(), Some(&piece("the")));
        assert_eq!(lines.last(), Some(&Line::Added("more".to_owned())));
    }

    #[test]
    fn equal_lines_far_away_are_left_out() {
        let text = |last: &str| (0..20).map(|n| format!("{n}\n")).collect::<String>() + last;
        let lines = shorten(compare(&text("x"), &text("y")));
        assert_eq!(lines[0], Line::LeftOut(17), "{lines:?}");
        assert_eq!(lines.len(), 5, "{lines:?}");
        assert_eq!(shorten(compare("a\nb", "a\nb")), vec![Line::LeftOut(2)]);
        assert!(shorten(compare("", "")).is_empty());
    }

    #[test]
    fn both_texts_are_escaped() {
        let rows = rows("<script>a</script>\nsame <b>", "<script>b</script>\nsame <b>").into_string();
        assert!(!rows.contains("<script") && !rows.contains("<b>"), "{rows}");
        assert!(rows.contains("removed: ") && rows.contains("<ins>"), "{rows}");
    }
}
