//! The rendered text of an element.

use dom_query::NodeRef;

use super::budget::Budget;
use super::page::{Then, following};

/// The separator of two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
    Paragraph,
}

/// More than a value may have; the text after it is ignored.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Returns an element's text: words with single spaces, a line for each block, and an empty line
/// around paragraphs, without scripts and styles.
pub(super) fn element_text(element: &NodeRef<'_>, budget: &mut Budget) -> String {
    let mut text = String::new();
    let mut gap = Gap::None;
    let mut next = element.first_child();
    while let Some(node) = next {
        if !budget.step() || text.len() > TEXT_BYTES_MAX {
            break;
        }
        let mut then = Then::Into;
        if node.is_text() {
            add(&mut text, &mut gap, &node.text());
        } else if let Some(name) = node.node_name() {
            if matches!(&*name, "script" | "style" | "template") {
                then = Then::Past;
            }
            gap = gap.max(gap_around(&name));
        }
        next = following_with_ends(&node, element, then, &mut gap);
    }
    text
}

/// Like [`following`], and widens the gap for the elements that end before the next node.
fn following_with_ends<'t>(node: &NodeRef<'t>, root: &NodeRef<'t>, then: Then, gap: &mut Gap) -> Option<NodeRef<'t>> {
    let next = following(node, root.id, then)?;
    let parent = next.parent().map(|parent| parent.id);
    let mut ended = *node;
    while Some(ended.id) != parent && ended.id != root.id {
        if let Some(name) = ended.node_name() {
            *gap = (*gap).max(gap_around(&name));
        }
        let Some(outer) = ended.parent() else { break };
        ended = outer;
    }
    Some(next)
}

fn add(text: &mut String, gap: &mut Gap, piece: &str) {
    if piece.starts_with(char::is_whitespace) {
        *gap = (*gap).max(Gap::Space);
    }
    for word in piece.split_whitespace() {
        if text.len() > TEXT_BYTES_MAX {
            return;
        }
        if !text.is_empty() {
            text.push_str(match gap {
                Gap::None => "",
                Gap::Space => " ",
                Gap::Line => "\n",
                Gap::Paragraph => "\n\n",
            });
        }
        text.push_str(word);
        *gap = Gap::Space;
    }
    if !piece.is_empty() && !piece.ends_with(char::is_whitespace) && !piece.trim().is_empty() {
        *gap = Gap::None;
    }
}

/// Returns the separator of an element from its surroundings.
fn gap_around(name: &str) -> Gap {
    match name {
        "article" | "aside" | "br" | "dd" | "details" | "div" | "dt" | "fieldset" | "figcaption" | "footer"
        | "form" | "header" | "hr" | "legend" | "li" | "main" | "nav" | "section" | "table" | "tr" => Gap::Line,
        "blockquote" | "dl" | "figure" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ol" | "p" | "pre" | "title"
        | "ul" => Gap::Paragraph,
        "td" | "th" => Gap::Space,
        _ => Gap::None,
    }
}
