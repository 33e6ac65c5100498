//! Code in a page: its lines as displayed, without line numbers.

use dom_query::NodeRef;
use dragline_formats::html::without_invisible;

use super::blocks::Code;
use super::layout::{Chars, Layout, read_text};

/// Elements whose content begins and ends a line, even in preformatted text.
const LINES: &[&str] = &["div", "p", "li", "ul", "ol", "tr", "table", "tbody", "blockquote", "pre"];

/// The longest name of a language, in bytes.
const LANGUAGE_BYTES_MAX: usize = 30;

/// Reads a preformatted element, as far as its texts are kept.
pub(super) fn read_preformatted(layout: &Layout<'_>, number: usize, kept: &Chars) -> Code {
    let text = lines(layout, number, kept);
    let language = layout.elements.get(number).and_then(|element| language(&element.node));
    Code { language, text: trimmed(&text) }
}

/// Reads a table with line numbers beside code, as highlighters make it; `None` for any other
/// table.
///
/// It has either one row, with all numbers in one cell, or a row for each line. The numbers are
/// consecutive.
pub(super) fn read_numbered_lines(layout: &Layout<'_>, table: usize, kept: &Chars) -> Option<Code> {
    let element = layout.elements.get(table)?;
    let inner = element.span.start + 1..element.span.end;
    let mut numbers = Vec::new();
    let (mut text, mut rows, mut has_code) = (String::new(), 0, false);
    let mut row: Option<usize> = None;
    for number in inner {
        let cell = layout.elements.get(number)?;
        match &*cell.name {
            "tr" => (rows, row) = (rows + 1, Some(0)),
            "table" => return None,
            "td" | "th" => {
                let column = row.as_mut()?;
                *column += 1;
                match column {
                    1 => {
                        let said = lines(layout, number, kept);
                        let number_attribute = cell.node.attr("data-line-number");
                        let said = number_attribute.map_or(said, |number| number.to_string());
                        for word in said.split_whitespace() {
                            numbers.push(word.parse::<u32>().ok()?);
                        }
                    }
                    2 => {
                        has_code |= rows == 1 && has_code_in(layout, number);
                        if rows > 1 {
                            text.push('\n');
                        }
                        text.push_str(trimmed(&lines(layout, number, kept)).trim_end());
                    }
                    _ => return None,
                }
            }
            _ => {}
        }
    }
    let counts_up = numbers.windows(2).all(|pair| matches!(pair, [a, b] if *b == a + 1));
    let is_code = has_code || is_in_code(&element.node);
    (counts_up && !numbers.is_empty() && is_code && (rows == 1 || numbers.len() == rows))
        .then(|| Code { language: language(&element.node), text })
}

fn has_code_in(layout: &Layout<'_>, number: usize) -> bool {
    let Some(element) = layout.elements.get(number) else { return false };
    let inner = layout.elements.get(element.span.clone()).unwrap_or_default();
    inner.iter().any(|element| element.is(&["pre", "code"]))
        || element.node.class().is_some_and(|class| class.to_ascii_lowercase().contains("code"))
}

fn is_in_code(node: &NodeRef<'_>) -> bool {
    node.ancestors(Some(3)).iter().any(|node| node.has_name("pre") || node.has_name("code") || language(node).is_some())
}

/// Returns the text of an element line by line.
fn lines(layout: &Layout<'_>, number: usize, kept: &Chars) -> String {
    let mut text = String::new();
    if let Some(element) = layout.elements.get(number) {
        push_lines(&element.node, layout, kept, &mut (number, element.texts.start), &mut text);
    }
    text
}

/// Appends the text of an element. `next` holds the numbers of the next unread element and the next
/// unread text.
fn push_lines(node: &NodeRef<'_>, layout: &Layout<'_>, kept: &Chars, next: &mut (usize, usize), text: &mut String) {
    next.0 += 1;
    for child in node.children_it(false) {
        if child.is_text() {
            let is_next = layout.texts.get(next.1).is_some_and(|text| text.id == child.id);
            if !is_next || kept.has(next.1) {
                read_text(&child, |said| text.push_str(&without_invisible(said)));
            }
            next.1 += usize::from(is_next);
            continue;
        }
        let Some(element) = layout.elements.get(next.0).filter(|element| element.node.id == child.id) else { continue };
        let (end, texts_end) = (element.span.end, element.texts.end);
        if &*element.name == "br" {
            text.push('\n');
        } else if !is_line_number(&child) {
            let is_line = element.is(LINES);
            if is_line && !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            push_lines(&child, layout, kept, next, text);
            if is_line && !text.ends_with('\n') {
                text.push('\n');
            }
        }
        *next = (end, texts_end);
    }
}

/// Whether an element only contains a line number that a highlighter put into the code.
fn is_line_number(node: &NodeRef<'_>) -> bool {
    let Some(class) = node.class() else { return false };
    let names_number = class.split_ascii_whitespace().any(|name| {
        matches!(name, "lineno" | "linenos" | "line-number" | "line-numbers" | "linenumber" | "ln" | "lnt" | "gutter")
    });
    names_number && node.text().split_whitespace().all(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns a text without leading and trailing empty lines and trailing white space.
fn trimmed(text: &str) -> String {
    let text = text.replace('\u{A0}', " ");
    let mut lines: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    let begins_at = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(0);
    lines.get(begins_at..).unwrap_or_default().join("\n").trim_end().to_owned()
}

/// Returns the language in the class of an element, its close ancestors or descendants, as
/// highlighters write it.
fn language(node: &NodeRef<'_>) -> Option<String> {
    let inner = node.children_it(false).find(|child| child.has_name("code"));
    let around = node.ancestors(Some(3));
    inner.into_iter().chain([*node]).chain(around).find_map(|node| named_language(&node.class()?))
}

fn named_language(class: &str) -> Option<String> {
    let names = || class.split_ascii_whitespace();
    let after = |prefix: &str| names().find_map(|name| name.strip_prefix(prefix)).map(str::to_owned);
    let behind_highlight = || {
        let mut names = names().skip_while(|name| !matches!(*name, "highlight" | "sourceCode" | "brush:" | "src"));
        names.next()?;
        names.next().map(|name| name.trim_end_matches(';').to_owned())
    };
    ["language-", "lang-", "highlight-source-", "highlight-", "src-"]
        .into_iter()
        .find_map(after)
        .or_else(behind_highlight)
        .filter(|name| !matches!(name.as_str(), "default" | "none" | "plaintext" | "nohighlight" | "notranslate"))
        .filter(|name| name.len() <= LANGUAGE_BYTES_MAX && !name.is_empty())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#.-_".contains(&byte)))
}
