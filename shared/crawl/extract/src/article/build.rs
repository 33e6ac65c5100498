//! Builds blocks from a page's tree and the kept texts.

use std::rc::Rc;

use dom_query::NodeRef;
use dragline_formats::html::without_invisible;
use url::Url;

use super::blocks::{Block, Cell, Code, List, Mark, Piece, PieceKind, Style, Table, in_one_space};
use super::code;
use super::layout::{Chars, Layout, is_block, is_heading, read_text};

/// The maximum nesting of quotations, lists and tables; deeper ones are placed at this depth.
const DEPTH_MAX: usize = 12;

/// The most columns and rows that a cell may span, more than in real tables.
const SPAN_MAX: usize = 100;

/// Builds the blocks of an element from the kept texts. URLs of links and pictures become absolute.
pub(super) fn blocks(layout: &Layout<'_>, element: usize, kept: &Chars, base: &Url) -> Vec<Block> {
    let mut builder = Builder { layout, kept, base, blocks: Vec::new(), line: Vec::new() };
    builder.element(element, &Style::default(), 0);
    builder.end_line();
    without_rules_at_ends(builder.blocks)
}

struct Builder<'l, 't> {
    layout: &'l Layout<'t>,
    kept: &'l Chars,
    base: &'l Url,
    /// The blocks of the innermost container so far, and its open line.
    blocks: Vec<Block>,
    line: Vec<Piece>,
}

impl Builder<'_, '_> {
    /// Adds an element: as a block of its own, or its content to the open line.
    fn element(&mut self, number: usize, style: &Style, depth: usize) {
        let Some(element) = self.layout.elements.get(number) else { return };
        let name = &*element.name;
        if !self.has_kept(number) {
            match name {
                "br" => self.push(PieceKind::Break, style),
                "img" if self.keeps_picture(number) => self.picture(&element.node, style),
                "hr" if element.is_content() => self.put(Block::Rule),
                "a" => self.children(number, &inline_style(name, &element.node, style, self.base), depth),
                _ if element.is_content() => self.children(number, style, depth),
                _ => {}
            }
            return;
        }
        let is_nested = depth < DEPTH_MAX;
        match name {
            _ if is_heading(name) => {
                let line = self.inline_content(number, style, depth);
                let level = name.bytes().last().map_or(1, |digit| digit.saturating_sub(b'0'));
                self.put(Block::Heading(level, line));
            }
            "pre" | "listing" | "xmp" | "plaintext" => {
                let code = code::read_preformatted(self.layout, number, self.kept);
                self.put(Block::Code(code));
            }
            "blockquote" if is_nested => {
                let inner = self.inner(number, style, depth);
                self.put(Block::Quote(inner));
            }
            "ul" | "ol" | "dir" | "menu" if is_nested => self.list(number, style, depth),
            "dl" if is_nested => self.terms(number, style, depth),
            "table" if is_nested => self.table(number, style, depth),
            "a" if is_permalink(&element.node, &element.node.text()) => {}
            _ if is_block(name) => {
                self.end_line();
                self.children(number, style, depth);
                self.end_line();
            }
            _ => self.children(number, &inline_style(name, &element.node, style, self.base), depth),
        }
    }

    /// Adds an element's content to the open line or blocks.
    fn children(&mut self, number: usize, style: &Style, depth: usize) {
        let Some(element) = self.layout.elements.get(number) else { return };
        let (mut next_element, mut next_text) = (number + 1, element.texts.start);
        for child in element.node.children_it(false) {
            if child.is_element() {
                if let Some(inner) = self.layout.elements.get(next_element)
                    && inner.node.id == child.id
                {
                    let (end, texts_end) = (inner.span.end, inner.texts.end);
                    self.element(next_element, style, depth);
                    (next_element, next_text) = (end, texts_end);
                }
            } else if child.is_text() {
                let is_next = self.layout.texts.get(next_text).is_some_and(|text| text.id == child.id);
                if is_next {
                    if self.kept.has(next_text) {
                        read_text(&child, |text| self.push_text(text, style));
                    }
                    next_text += 1;
                } else if !self.line.is_empty() {
                    // White space between elements.
                    self.push_text(" ", style);
                }
            }
        }
    }

    fn push_text(&mut self, text: &str, style: &Style) {
        self.push(PieceKind::Text(without_invisible(text).into_owned()), style);
    }

    fn push(&mut self, kind: PieceKind, style: &Style) {
        self.line.push(Piece { kind, style: style.clone() });
    }

    fn picture(&mut self, node: &NodeRef<'_>, style: &Style) {
        let url = picture_url(node).and_then(|written| self.base.join(written.trim()).ok());
        if let Some(url) = url.filter(|url| matches!(url.scheme(), "http" | "https")) {
            let alt = crate::tree::in_one_line(&node.attr_or("alt", ""));
            self.push(PieceKind::Picture { url: url.into(), alt }, style);
        }
    }

    /// Ends the open line, which becomes a paragraph unless it is empty.
    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        in_one_space(&mut line);
        if !line.is_empty() {
            self.blocks.push(Block::Paragraph(line));
        }
    }

    fn put(&mut self, block: Block) {
        self.end_line();
        if !block.is_empty() {
            self.blocks.push(block);
        }
    }

    /// Returns the blocks of an element.
    fn inner(&mut self, number: usize, style: &Style, depth: usize) -> Vec<Block> {
        self.end_line();
        let outer = std::mem::take(&mut self.blocks);
        self.children(number, style, depth + 1);
        self.end_line();
        without_rules_at_ends(std::mem::replace(&mut self.blocks, outer))
    }

    /// Returns the whole content of an element as one line.
    fn inline_content(&mut self, number: usize, style: &Style, depth: usize) -> Vec<Piece> {
        let mut line = Vec::new();
        for block in self.inner(number, style, depth) {
            if !line.is_empty() {
                line.push(Piece { kind: PieceKind::Text(" ".to_owned()), style: Style::default() });
            }
            push_pieces(block, &mut line);
        }
        line
    }

    fn list(&mut self, number: usize, style: &Style, depth: usize) {
        let Some(element) = self.layout.elements.get(number) else { return };
        let first = (&*element.name == "ol")
            .then(|| element.node.attr("start").and_then(|start| start.trim().parse().ok()).unwrap_or(1));
        let mut items = Vec::new();
        for child in self.layout.children(number) {
            items.push(self.blocks_of_child(child, &["li"], style, depth));
        }
        items.retain(|item| !item.is_empty());
        self.put(Block::List(List { first, items }));
    }

    /// Adds terms with their definitions, one item each.
    fn terms(&mut self, number: usize, style: &Style, depth: usize) {
        let strong = Style { is_strong: true, ..style.clone() };
        let mut items: Vec<Vec<Block>> = Vec::new();
        let mut has_meaning = true;
        let groups: Vec<usize> = self
            .layout
            .children(number)
            .into_iter()
            .flat_map(|child| match self.layout.elements.get(child) {
                Some(element) if &*element.name == "div" => self.layout.children(child),
                _ => vec![child],
            })
            .collect();
        for child in groups {
            let is_term = self.layout.elements.get(child).is_some_and(|element| &*element.name == "dt");
            let style = if is_term { &strong } else { style };
            let inner = self.blocks_of_child(child, &["dt", "dd"], style, depth);
            if inner.is_empty() {
                continue;
            }
            if is_term && has_meaning || items.is_empty() {
                items.push(Vec::new());
            }
            has_meaning = !is_term;
            if let Some(item) = items.last_mut() {
                item.extend(inner);
            }
        }
        self.put(Block::List(List { first: None, items }));
    }

    fn table(&mut self, number: usize, style: &Style, depth: usize) {
        if let Some(code) = code::read_numbered_lines(self.layout, number, self.kept) {
            self.put(Block::Code(code));
            return;
        }
        let rows = self.rows(number);
        let cells = |row: &usize| self.layout.children(*row).len();
        let role = self.layout.elements.get(number).and_then(|table| table.node.attr("role"));
        let is_layout = role.is_some_and(|role| matches!(role.trim(), "presentation" | "none"))
            || rows.iter().map(cells).max().unwrap_or(0) < 2
            || self.has_table_within(number);
        if is_layout {
            // A layout table: its cells follow one after the other.
            self.end_line();
            self.children(number, style, depth);
            self.end_line();
            return;
        }
        let mut table = Table::default();
        let mut has_data = false;
        for row in rows {
            let mut cells = Vec::new();
            let mut are_names = true;
            for child in self.layout.children(row) {
                let Some(element) = self.layout.elements.get(child) else { continue };
                let (name, node) = (element.name.clone(), element.node);
                let span = |name| span(&node, name);
                let (columns, rows) = (span("colspan"), span("rowspan"));
                are_names &= &*name == "th";
                let blocks = if self.has_kept(child) || self.has_picture(child) {
                    self.inner(child, style, depth)
                } else {
                    Vec::new()
                };
                cells.push(Cell { blocks, columns, rows });
            }
            if cells.iter().all(|cell| cell.blocks.is_empty()) {
                continue;
            }
            if are_names && !has_data {
                table.rows_of_names += 1;
            }
            has_data |= !are_names;
            table.rows.push(cells);
        }
        self.captions(number, style, depth);
        self.put(Block::Table(table));
    }

    /// Adds the captions of a table as paragraphs before it.
    fn captions(&mut self, table: usize, style: &Style, depth: usize) {
        for child in self.layout.children(table) {
            let is_caption = self.layout.elements.get(child).is_some_and(|element| &*element.name == "caption");
            if is_caption && self.has_kept(child) {
                self.element(child, style, depth);
            }
        }
        self.end_line();
    }

    fn rows(&self, table: usize) -> Vec<usize> {
        let mut rows = Vec::new();
        for child in self.layout.children(table) {
            match self.layout.elements.get(child).map(|element| &*element.name) {
                Some("tr") => rows.push(child),
                Some("thead" | "tbody" | "tfoot") => rows.extend(self.layout.children(child)),
                _ => {}
            }
        }
        rows
    }

    fn has_table_within(&self, table: usize) -> bool {
        let span = self.layout.elements.get(table).map_or(0..0, |element| element.span.clone());
        let inner = self.layout.elements.get(span.start + 1..span.end).unwrap_or_default();
        inner.iter().any(|element| &*element.name == "table")
    }

    /// Returns the blocks of a list's child. A child that is not an item is treated as one.
    fn blocks_of_child(&mut self, child: usize, items: &[&str], style: &Style, depth: usize) -> Vec<Block> {
        let Some(element) = self.layout.elements.get(child) else { return Vec::new() };
        if element.is(items) {
            return self.inner(child, style, depth);
        }
        self.end_line();
        let outer = std::mem::take(&mut self.blocks);
        self.element(child, style, depth + 1);
        self.end_line();
        std::mem::replace(&mut self.blocks, outer)
    }

    fn has_kept(&self, number: usize) -> bool {
        let Some(element) = self.layout.elements.get(number) else { return false };
        self.kept.within(&element.texts) > 0
    }

    fn has_picture(&self, number: usize) -> bool {
        let Some(element) = self.layout.elements.get(number) else { return false };
        let inner = self.layout.elements.get(element.span.clone()).unwrap_or_default();
        inner.iter().any(|element| &*element.name == "img")
    }

    /// Whether most of the text around a picture is kept.
    fn keeps_picture(&self, number: usize) -> bool {
        let Some(mut element) = self.layout.elements.get(number) else { return false };
        if !element.is_content() {
            return false;
        }
        while element.texts.is_empty() && element.span.start > 0 {
            let Some(parent) = self.layout.elements.get(element.parent) else { return false };
            element = parent;
        }
        self.kept.within(&element.texts) * 2 >= self.layout.chars.within(&element.texts)
    }
}

/// Appends the text of a block to a line.
fn push_pieces(block: Block, line: &mut Vec<Piece>) {
    match block {
        Block::Heading(_, pieces) | Block::Paragraph(pieces) => {
            line.extend(pieces.into_iter().map(|piece| match piece.kind {
                PieceKind::Break => Piece { kind: PieceKind::Text(" ".to_owned()), ..piece },
                _ => piece,
            }));
        }
        Block::Code(Code { text, .. }) => {
            let style = Style { is_code: true, ..Style::default() };
            line.push(Piece { kind: PieceKind::Text(crate::tree::in_one_line(&text)), style });
        }
        Block::Quote(blocks) => blocks.into_iter().for_each(|block| push_pieces(block, line)),
        Block::List(list) => list.items.into_iter().flatten().for_each(|block| push_pieces(block, line)),
        Block::Table(table) => {
            table.rows.into_iter().flatten().flat_map(|cell| cell.blocks).for_each(|block| push_pieces(block, line));
        }
        Block::Rule => {}
    }
}

fn without_rules_at_ends(mut blocks: Vec<Block>) -> Vec<Block> {
    blocks.dedup_by(|next, block| *next == Block::Rule && *block == Block::Rule);
    if blocks.last() == Some(&Block::Rule) {
        blocks.pop();
    }
    if blocks.first() == Some(&Block::Rule) {
        blocks.remove(0);
    }
    blocks
}

/// Whether a link is a permalink to its own position: it points into this page, and has no letters.
fn is_permalink(node: &NodeRef<'_>, text: &str) -> bool {
    node.attr("href").is_some_and(|href| href.trim_start().starts_with('#')) && !text.contains(char::is_alphanumeric)
}

fn inline_style(name: &str, node: &NodeRef<'_>, outer: &Style, base: &Url) -> Style {
    let mut style = outer.clone();
    match name {
        "b" | "strong" => style.is_strong = true,
        "i" | "em" | "cite" | "dfn" | "var" => style.is_stressed = true,
        "code" | "kbd" | "samp" | "tt" => style.is_code = true,
        "sub" => style.mark = Some(Mark::Sub),
        "sup" => style.mark = Some(Mark::Sup),
        "del" | "s" | "strike" => style.mark = Some(Mark::Del),
        "a" => {
            let target = node.attr("href").and_then(|href| base.join(href.trim()).ok());
            let is_web = |url: &Url| matches!(url.scheme(), "http" | "https" | "mailto" | "ftp" | "tel");
            style.link = target.filter(is_web).map(|url| Rc::from(url.as_str()));
        }
        _ => {}
    }
    style
}

/// Returns the URL of a picture as written; of a lazily loaded one, the URL of the actual picture.
fn picture_url(node: &NodeRef<'_>) -> Option<String> {
    let is_real = |value: &String| !value.trim().is_empty() && !value.trim_start().starts_with("data:");
    let attribute = |name| node.attr(name).map(|value| value.to_string()).filter(is_real);
    let first_of_set = |name| {
        let set = attribute(name)?;
        set.split_whitespace().next().map(|url| url.trim_end_matches(',').to_owned())
    };
    ["data-src", "data-original", "data-lazy-src", "src"]
        .into_iter()
        .find_map(attribute)
        .or_else(|| ["data-srcset", "srcset"].into_iter().find_map(first_of_set))
}

fn span(node: &NodeRef<'_>, name: &str) -> usize {
    node.attr(name).and_then(|value| value.trim().parse().ok()).unwrap_or(1_usize).clamp(1, SPAN_MAX)
}
