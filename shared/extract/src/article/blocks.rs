//! The blocks of text of a tree.

use dom_query::{Document, NodeRef};

use crate::tree::in_one_line;

/// What a block of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Heading,
    Paragraph,
    /// Of a list.
    Item,
    /// Of a table.
    Cell,
    /// Of a figure or a gallery.
    Caption,
}

/// Text between two breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// In one line, unless it is preformatted.
    pub(super) text: String,
    /// How many of its characters are in links.
    pub(super) linked_chars: usize,
    /// Its pieces, by their places among all.
    pieces: std::ops::Range<usize>,
}

/// The blocks of a tree, and the nodes that they consist of.
pub(super) struct Runs<'t> {
    pub(super) blocks: Vec<Block>,
    pieces: Vec<NodeRef<'t>>,
}

impl<'t> Runs<'t> {
    /// Collects the text of a tree, in its order.
    pub(super) fn of(document: &'t Document) -> Self {
        let mut walk = Walk {
            runs: Self { blocks: Vec::new(), pieces: Vec::new() },
            text: String::new(),
            linked_chars: 0,
            begins_at: 0,
        };
        walk.children(&document.root(), Around { kind: Kind::Paragraph, is_in_link: false, is_preformatted: false });
        walk.end(Kind::Paragraph, false);
        walk.runs
    }

    /// Removes a block from its tree.
    pub(super) fn remove(&self, block: &Block) {
        for piece in &self.pieces[block.pieces.clone()] {
            piece.remove_from_parent();
        }
    }
}

/// Where in the tree a text is.
#[derive(Clone, Copy)]
struct Around {
    kind: Kind,
    is_in_link: bool,
    is_preformatted: bool,
}

struct Walk<'t> {
    runs: Runs<'t>,
    text: String,
    linked_chars: usize,
    begins_at: usize,
}

impl<'t> Walk<'t> {
    /// Recurses as deep as the tree is; the caller has limited that.
    fn children(&mut self, parent: &NodeRef<'t>, around: Around) {
        for node in parent.children() {
            if node.is_text() {
                let text = node.text();
                if around.is_in_link {
                    self.linked_chars += text.split_whitespace().map(|word| word.chars().count() + 1).sum::<usize>();
                }
                self.text.push_str(&text);
                self.runs.pieces.push(node);
                continue;
            }
            let Some(name) = node.node_name() else { continue };
            if is_no_content(&name) {
                continue;
            }
            let is_caption = around.kind == Kind::Caption || name.as_ref() == "figure" || names_caption(&node);
            let kind = if is_caption { Kind::Caption } else { kind_in(around.kind, &name) };
            let is_block = is_block(&name) || kind != around.kind;
            let inner = Around {
                kind,
                is_in_link: around.is_in_link || name.as_ref() == "a",
                is_preformatted: around.is_preformatted || name.as_ref() == "pre",
            };
            if is_block {
                self.end(around.kind, around.is_preformatted);
            }
            self.children(&node, inner);
            if is_block {
                self.end(kind, inner.is_preformatted);
            }
        }
    }

    fn end(&mut self, kind: Kind, is_preformatted: bool) {
        let text = if is_preformatted { self.text.trim_end().to_owned() } else { in_one_line(&self.text) };
        let pieces = self.begins_at..self.runs.pieces.len();
        if !text.trim().is_empty() {
            self.runs.blocks.push(Block { kind, text, linked_chars: self.linked_chars, pieces: pieces.clone() });
        }
        self.text.clear();
        self.linked_chars = 0;
        self.begins_at = pieces.end;
    }
}

/// Whether an element holds nothing to read.
fn is_no_content(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "noscript"
            | "template"
            | "button"
            | "form"
            | "svg"
            | "iframe"
            | "input"
            | "select"
            | "textarea"
            | "object"
    )
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "br"
            | "center"
            | "dd"
            | "div"
            | "dl"
            | "dt"
            | "figcaption"
            | "figure"
            | "footer"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "li"
            | "main"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "table"
            | "tbody"
            | "td"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}

/// Whether the names that authors gave an element say that it goes with a picture.
fn names_caption(node: &NodeRef<'_>) -> bool {
    ["class", "id"].iter().filter_map(|name| node.attr(name)).any(|value| {
        let value = value.to_ascii_lowercase();
        ["caption", "credit", "gallery", "slideshow", "carousel"].iter().any(|word| value.contains(word))
    })
}

fn kind_in(outer: Kind, name: &str) -> Kind {
    match name {
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => Kind::Heading,
        "li" | "dd" | "dt" => Kind::Item,
        "td" | "th" | "tr" => Kind::Cell,
        "p" | "blockquote" | "pre" if outer == Kind::Heading => Kind::Paragraph,
        _ => outer,
    }
}
