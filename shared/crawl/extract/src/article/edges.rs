//! What stands at the edges of a main part without being of it: names and dates beside the headline, links at the very end.
//!
//! Nothing is judged by how it begins, and nothing further in. Headings, cells, items, captions and quotations never are.

use std::collections::VecDeque;

use super::layout::{Layout, Text, is_block};
use super::said::{Known, Remark};

/// How many lines from the first one on may be beside the headline, unless the text begins before.
const HEADLINE_LINES: usize = 8;

/// A line with so many characters in no link is text.
const PROSE_CHARS_MIN: usize = 80;

/// More than this share of a part is not its edge.
const EDGE_PERCENT_MAX: usize = 20;

/// Texts in one block.
#[derive(Clone, Debug)]
struct Line {
    block: usize,
    texts: Vec<usize>,
}

/// Removes from the texts that are kept those at the edges that are no content.
pub(super) fn trim(layout: &Layout<'_>, kept: &mut [bool], known: &Known) {
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

/// The end of a part that lines are taken from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

/// The lines of texts.
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
        let block = block_of(self.layout, first)?;
        let mut texts = vec![first];
        while let Some(next) = self.peek().filter(|next| block_of(self.layout, *next) == Some(block)) {
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

/// Whether the markup in a block calls a text a time or an author.
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

/// Returns the innermost block that a text is in.
fn block_of(layout: &Layout<'_>, text: usize) -> Option<usize> {
    let mut number = layout.texts.get(text)?.element;
    loop {
        let element = layout.elements.get(number)?;
        if number == 0 || is_block(&element.name) || element.is_heading() {
            return Some(number);
        }
        number = element.parent;
    }
}

/// Whether a block may be judged: it is none of those that never are, and in none of them.
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
