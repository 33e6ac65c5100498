//! The tree of a page, unless it is too deep or too large.
//!
//! Building a tree takes time quadratic in its depth (200,000 nested elements take two minutes),
//! and walks over it may recurse. So the page is parsed piece by piece, and the tree is checked in
//! between.

use std::iter;

use dom_query::{Document, NodeRef};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};
use url::Url;

use crate::streamed;

/// The longest page parsed, in bytes of its text: books on one page have some 2 MB.
pub(crate) const PAGE_BYTES_MAX: usize = 8 << 20;

/// Deeper than handwritten pages.
pub(crate) const DEPTH_MAX: usize = 256;

/// More nodes than pages have: the HTML standard on one page has some 500,000.
const NODES_MAX: usize = 1_000_000;

/// The limit of the sum over the nodes of their squared depth: in handwritten pages it is some
/// 1,000 for each node. The same amount is added for each byte of the page.
const WORK_MAX: usize = 20_000_000;
const WORK_PER_BYTE: usize = 100;

const PIECE_BYTES: usize = 4 << 10;

/// How many nodes are added before the depth is measured again. As many levels are still harmless.
const MEASURE_EVERY: usize = 2_000;

/// Parses a page as without scripts, but moves streamed parts to their places. `None` if its tree
/// would be too deep or too large.
pub(crate) fn parse(html: &str) -> Option<Document> {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let mut parser = parse_document(Document::default(), ParseOpts { tree_builder, ..ParseOpts::default() });
    let (mut rest, mut measured_at) = (html, 0);
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.ceil_char_boundary(PIECE_BYTES.min(rest.len())));
        parser.process(StrTendril::from_slice(piece));
        rest = behind;
        let document = &parser.tokenizer.sink.sink;
        let nodes = document.tree.len();
        if nodes > NODES_MAX {
            return None;
        }
        // Measuring takes time linear in the number of nodes, so a large tree is measured less
        // often.
        if nodes > measured_at + MEASURE_EVERY.max(measured_at / 16) {
            measured_at = nodes;
            is_shallow(document).then_some(())?;
        }
    }
    let document = parser.finish();
    is_shallow(&document).then_some(())?;
    if !streamed::may_have_parts(html) {
        return Some(document);
    }
    streamed::put_together(&document);
    is_shallow(&document).then_some(document)
}

/// Whether a page is nested so deeply, for its length, that visiting each element from all of its
/// ancestors would take seconds.
pub(crate) fn is_costly(document: &Document, html_bytes: usize) -> bool {
    let work = depths(document).fold(0_usize, |work, depth| work.saturating_add(depth * depth));
    work > WORK_MAX + WORK_PER_BYTE * html_bytes
}

/// Returns the base URL of a page: the first valid `<base href>`, or else its own URL.
pub(crate) fn base_url(document: &Document, url: &Url) -> Url {
    let written = document.select_single("base[href]").attr("href");
    written.and_then(|written| url.join(written.trim()).ok()).unwrap_or_else(|| url.clone())
}

/// Returns the text of an element on one line; a line break becomes a space.
pub(crate) fn element_text(node: &NodeRef<'_>) -> String {
    let mut text = String::new();
    for node in node.descendants_it() {
        if node.is_text() {
            text.push_str(&node.text());
        } else if node.has_name("br") {
            text.push(' ');
        }
    }
    in_one_line(&text)
}

/// Returns a text with single spaces between its words.
pub(crate) fn in_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Whether no node is deeper than the limit.
fn is_shallow(document: &Document) -> bool {
    depths(document).all(|depth| depth <= DEPTH_MAX)
}

/// Returns the depth of each node below the root, in page order, without recursion.
fn depths(document: &Document) -> impl Iterator<Item = usize> {
    let (mut node, mut depth) = (document.root(), 0_usize);
    iter::from_fn(move || {
        if let Some(child) = node.first_child() {
            depth += 1;
            node = child;
            return Some(depth);
        }
        loop {
            if let Some(sibling) = node.next_sibling() {
                node = sibling;
                return Some(depth);
            }
            node = node.parent().filter(|_| depth > 1)?;
            depth -= 1;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_and_large_trees_are_refused() {
        let numbered: String = (0..200).map(|n| format!("<font size={n}>")).collect();
        for (html, is_read, why) in [
            (String::new(), true, "an empty page has a tree, too"),
            ("<div>".repeat(200), true, "deep, but not too deep"),
            ("<div>".repeat(300), false, "too deep"),
            ("<div>".repeat(200_000), false, "so deep that parsing it would take minutes"),
            ("<b>x".repeat(200_000), false, "other elements"),
            ("<table><tr><td>".repeat(50_000), false, "tables in tables"),
            ("<table><b>".repeat(50_000), true, "what tables cannot hold comes before them"),
            ("<div></div>".repeat(50_000), true, "one after the other"),
            ("<p>ö".repeat(50_000), true, "each closes the one before"),
            ("<svg><g>".repeat(50_000), false, "drawings"),
            (
                format!("<p>{numbered}</p>{}", "<p>x".repeat(20_000)),
                false,
                "formatting elements are repeated in each paragraph",
            ),
        ] {
            assert_eq!(parse(&html).is_some(), is_read, "{why}");
        }
    }

    #[test]
    fn pieces_make_the_same_tree_as_the_whole() {
        let html =
            format!("<title>ä</title>{}", "<p>Grün & <b>blau</b>, 日本語 &amp; mehr<table><td>x</table>".repeat(500));
        assert_eq!(parse(&html).unwrap().html(), Document::from(html.as_str()).html());
    }
}
