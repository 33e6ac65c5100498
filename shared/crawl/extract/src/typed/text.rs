//! The text of an element.

use dom_query::NodeRef;

use super::work::{Work, cost_of_bytes};

/// The longest text of a value, in bytes.
pub(crate) const VALUE_BYTES_MAX: usize = 64 << 10;
/// The longest text that a pattern searches, in bytes.
pub(crate) const SEARCHED_BYTES_MAX: usize = 1 << 20;

/// Elements that do not end a word.
const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt",
    "u", "var", "wbr",
];
/// Elements with invisible text.
const UNSEEN: &[&str] = &["script", "style", "template", "noscript"];

/// Returns the text below an element, with white space collapsed. For a script it is the source, as
/// that was asked for.
pub(crate) fn collect(root: NodeRef<'_>, bytes_max: usize, work: &mut Work) -> String {
    let is_named = |node: &NodeRef<'_>, names: &[&str]| {
        node.qual_name_ref().is_some_and(|name| names.contains(&name.local.as_ref()))
    };
    let mut text = CollapsedText::default();
    let may_see_all = is_named(&root, UNSEEN);
    let mut node = root;
    loop {
        if !work.spend(1) || text.text.len() > bytes_max {
            work.cut();
            break;
        }
        let mut is_entered = true;
        if node.is_text() {
            let contents = node.text();
            if !work.spend(cost_of_bytes(contents.len())) {
                break;
            }
            text.push(&contents);
        } else if node.is_element() {
            is_entered = may_see_all || !is_named(&node, UNSEEN);
            if !is_named(&node, INLINE) {
                text.end_word();
            }
        }
        if is_entered && let Some(child) = node.first_child() {
            node = child;
            continue;
        }
        loop {
            if node.id == root.id {
                return text.cut_at(bytes_max);
            }
            if let Some(sibling) = node.next_sibling() {
                node = sibling;
                break;
            }
            let Some(parent) = node.parent() else { return text.cut_at(bytes_max) };
            node = parent;
            if node.is_element() && !is_named(&node, INLINE) {
                text.end_word();
            }
        }
    }
    text.cut_at(bytes_max)
}

/// Returns the text of an element without that of its children.
pub(crate) fn own_text(node: NodeRef<'_>) -> String {
    collapse(&node.immediate_text())
}

/// Returns a text with its white space collapsed.
pub(crate) fn collapse(text: &str) -> String {
    let mut collapsed = CollapsedText::default();
    collapsed.push(text);
    collapsed.text
}

/// Returns the beginning of a text, at most this many bytes.
pub(crate) fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max.min(text.len()))]
}

#[derive(Default)]
struct CollapsedText {
    text: String,
    is_between_words: bool,
}

impl CollapsedText {
    fn push(&mut self, text: &str) {
        for part in text.split_inclusive(char::is_whitespace) {
            let word = part.trim_end();
            if !word.is_empty() {
                if self.is_between_words && !self.text.is_empty() {
                    self.text.push(' ');
                }
                self.text.push_str(word);
                self.is_between_words = false;
            }
            self.is_between_words |= word.len() < part.len();
        }
    }

    const fn end_word(&mut self) {
        self.is_between_words = true;
    }

    fn cut_at(mut self, bytes_max: usize) -> String {
        let length = cut(&self.text, bytes_max).len();
        self.text.truncate(length);
        self.text
    }
}
