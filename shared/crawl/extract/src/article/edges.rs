//! Trims the edges of a main part: names and dates beside the headline, links at the very end.
//!
//! Only lines at the edges are judged, never the inside. Headings, cells, items, captions and
//! quotations are never removed.

use std::collections::VecDeque;

use super::layout::{Layout, Text, is_block};
use super::said::{PageMetadata, Remark};

/// How many lines from the first one on may belong to the headline, unless the text begins before.
const HEADLINE_LINES: usize = 8;

/// A line with this many characters outside links is text.
const PROSE_CHARS_MIN: usize = 80;

/// A larger share of the part, in percent, is not an edge.
const EDGE_PERCENT_MAX: usize = 20;

/// The texts of one block.
#[derive(Clone, Debug)]
struct Line {
    block: usize,
    texts: Vec<usize>,
}

/// Drops the texts at the edges that are not content.
pub(super) fn trim(layout: &Layout<'_>, kept: &mut [bool], known: &PageMetadata) {
    let numbers = || (0..kept.len()).filter(|number| kept.get(*number) == Some(&true)).collect::<VecDeque<usize>>();
    let chars = |texts: &[usize]| texts.iter().map(|text| layout.chars.within(&(*text..text + 1))).sum::<usize>();
    let plain = |line: &Line| line.texts.iter().map(|text| layout.plain.within(&(*text..text + 1))).sum::<usize>();
    let mut dropped = Vec::new();
    let from_headline = Lines { layout, numbers: numbers(), end: End::First };
    for line in from_headline.take(HEADLINE_LINES).take_while(|line| plain(line) < PROSE_CHARS_MIN) {
        if is_judged(layout, line.block) && known.says(&remark(layout, &line)) {
            dropped.extend(line.texts);
        }
    }
    let leads_away = |line: &Line| is_judged(layout, line.block) && plain(line) * 10 <= chars(&line.texts);
    for line in (Lines { layout, numbers: numbers(), end: End::Last }).take_while(leads_away) {
        dropped.extend(line.texts);
    }
    let all = chars(&numbers().into_iter().collect::<Vec<_>>());
    if chars(&dropped) * 100 <= all * EDGE_PERCENT_MAX {
        for number in dropped {
            kept.get_mut(number).into_iter().for_each(|kept| *kept = false);
        }
    }
}

/// The end of the part at which lines are trimmed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

struct Lines<'l, 't> {
    layout: &'l Layout<'t>,
    numbers: VecDeque<usize>,
    end: End,
}

impl Lines<'_, '_> {
    fn peek(&self) -> Option<usize> {
        match self.end {
            End::First => self.numbers.front().copied(),
            End::Last => self.numbers.back().copied(),
        }
    }

    fn pop(&mut self) -> Option<usize> {
        match self.end {
            End::First => self.numbers.pop_front(),
            End::Last => self.numbers.pop_back(),
        }
    }
}

impl Iterator for Lines<'_, '_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let first = self.pop()?;
        let block = innermost_block(self.layout, first)?;
        let mut texts = vec![first];
        while let Some(next) = self.peek().filter(|next| innermost_block(self.layout, *next) == Some(block)) {
            texts.push(next);
            self.pop();
        }
        texts.sort_unstable();
        Some(Line { block, texts })
    }
}

fn remark(layout: &Layout<'_>, line: &Line) -> Remark {
    let mut remark = Remark::default();
    for text in line.texts.iter().filter_map(|number| layout.texts.get(*number)) {
        let said = if is_marked(layout, line.block, text) { &mut remark.marked } else { &mut remark.other };
        layout.read(text, |text| said.push_str(text));
        said.push(' ');
    }
    remark
}

/// Whether the markup in a block marks a text as a time or an author.
fn is_marked(layout: &Layout<'_>, block: usize, text: &Text) -> bool {
    let mut number = text.element;
    while let Some(element) = layout.elements.get(number) {
        let names = |attribute: &str, any: &[&str]| {
            let value = element.node.attr(attribute);
            value.is_some_and(|value| value.split_ascii_whitespace().any(|name| any.contains(&name)))
        };
        if element.is(&["time"])
            || names("rel", &["author"])
            || names("itemprop", &["author", "datePublished", "dateModified", "dateCreated"])
        {
            return true;
        }
        if number <= block {
            return false;
        }
        number = element.parent;
    }
    false
}

/// Returns the innermost block around a text.
fn innermost_block(layout: &Layout<'_>, text: usize) -> Option<usize> {
    let mut number = layout.texts.get(text)?.element;
    loop {
        let element = layout.elements.get(number)?;
        if number == 0 || is_block(&element.name) || element.is_heading() {
            return Some(number);
        }
        number = element.parent;
    }
}

/// Whether a block may be judged: neither it nor an ancestor is of an exempt kind.
fn is_judged(layout: &Layout<'_>, block: usize) -> bool {
    let mut number = block;
    while let Some(element) = layout.elements.get(number) {
        if element.is_heading() || element.is(&["td", "th", "li", "dt", "dd", "pre", "blockquote", "figure"]) {
            return false;
        }
        if number == 0 {
            break;
        }
        number = element.parent;
    }
    true
}
