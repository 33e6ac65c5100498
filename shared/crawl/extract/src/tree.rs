//! The tree of a page, unless it is too deep or too large.
//!
//! A parser that builds a tree takes time by the square of its depth (200,000 nested elements take two minutes), and what walks the tree may recurse.
//! So the page is parsed piece by piece, and the tree looked at between them.

use std::iter;

use dom_query::{Document, NodeRef};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};
use url::Url;

use crate::streamed;

/// The longest page that is parsed, in bytes of its text: books on one page have some 2 MB.
pub(crate) const PAGE_BYTES_MAX: usize = 8 << 20;

/// Deeper than the pages that people write.
pub(crate) const DEPTH_MAX: usize = 256;

/// More nodes than pages have: the HTML standard on one page has some 500,000.
const NODES_MAX: usize = 1_000_000;

/// What the nodes of a page may add up to, each with the square of its depth: of pages that people write it is some 1,000 for each node. And so much more
/// for each byte of it.
const WORK_MAX: usize = 20_000_000;
const WORK_PER_BYTE: usize = 100;

const PIECE_BYTES: usize = 4 << 10;

/// How many nodes are added before the depth is measured again. So many levels are no trouble yet.
const MEASURE_EVERY: usize = 2_000;

/// Parses a page, as where scripts are not run, but for those that put parts of it together. `None` if its tree would be too deep or too large.
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
        // Measuring takes time by the number of nodes: of a large tree, less often.
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

/// Whether a page is nested so deeply, for its length, that what looks at each element from each of those around it would take seconds.
pub(crate) fn is_costly(document: &Document, html_bytes: usize) -> bool {
    let work = depths(document).fold(0_usize, |work, depth| work.saturating_add(depth * depth));
    work > WORK_MAX + WORK_PER_BYTE * html_bytes
}

/// Returns what the URLs of a page are relative to: the first `<base href>` that can be read, or else its own URL.
pub(crate) fn base_of(document: &Document, url: &Url) -> Url {
    let written = document.select_single("base[href]").attr("href");
    written.and_then(|written| url.join(written.trim()).ok()).unwrap_or_else(|| url.clone())
}

/// Returns the text of an element in one line; a line break is a space.
pub(crate) fn text_of(node: &NodeRef<'_>) -> String {
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

/// Returns the depth of each node below the root, in the order of the page. Nothing recurses.
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
            assert_eq!(of(&html).is_some(), is_read, "{why}");
        }
    }

    #[test]
    fn pieces_make_the_same_tree_as_the_whole() {
        let html =
            format!("<title>ä</title>{}", "<p>Grün & <b>blau</b>, 日本語 &amp; mehr<table><td>x</table>".repeat(500));
        assert_eq!(of(&html).unwrap().html(), Document::from(html.as_str()).html());
    }
}
