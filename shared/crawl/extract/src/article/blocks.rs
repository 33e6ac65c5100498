//! The main part as blocks, from which both its text and its Markdown are written, so that they
//! agree.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// 1 to 6.
    Heading(u8, Vec<Piece>),
    Paragraph(Vec<Piece>),
    Code(Code),
    Quote(Vec<Self>),
    List(List),
    Table(Table),
    /// A thematic break.
    Rule,
}

/// Preformatted lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Code {
    /// The language, as the page names it; `None` if it does not.
    pub(super) language: Option<String>,
    pub(super) text: String,
}

/// A list of items, or of terms with definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    /// The number of the first item; `None` if the list is not ordered.
    pub(super) first: Option<u32>,
    pub(super) items: Vec<Vec<Block>>,
}

/// A data table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) rows: Vec<Vec<Cell>>,
    /// The number of heading rows at the top.
    pub(super) rows_of_names: usize,
}

/// A cell, with the number of columns and rows that it spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) blocks: Vec<Block>,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// Text in one style, or an inline element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) kind: PieceKind,
    pub(super) style: Style,
}

/// The kinds of pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    Text(String),
    /// A line break.
    Break,
    /// A picture: its absolute URL and its alternative text.
    Picture {
        url: String,
        alt: String,
    },
}

/// The formatting of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// The absolute URL of its link.
    pub(super) link: Option<std::rc::Rc<str>>,
    pub(super) is_strong: bool,
    pub(super) is_stressed: bool,
    pub(super) is_code: bool,
    pub(super) mark: Option<Mark>,
}

/// Formatting that Markdown has no sign for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Sub,
    Sup,
    Del,
}

impl Block {
    /// Whether it has no content.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Heading(_, pieces) | Self::Paragraph(pieces) => pieces.is_empty(),
            Self::Code(code) => code.text.trim().is_empty(),
            Self::Quote(blocks) => blocks.is_empty(),
            Self::List(list) => list.items.is_empty(),
            Self::Table(table) => table.rows.is_empty(),
            Self::Rule => false,
        }
    }
}

/// Collapses the white space of a line as browsers do: one space for each run, none at the ends or
/// beside a break. Drops pieces without text.
pub(super) fn in_one_space(pieces: &mut Vec<Piece>) {
    // Whether a space here would be superfluous: at the beginning, or after another.
    let mut is_spaced = true;
    for piece in pieces.iter_mut() {
        match &mut piece.kind {
            PieceKind::Text(text) => {
                let mut line = String::with_capacity(text.len());
                for c in text.chars() {
                    if !is_white(c) {
                        line.push(c);
                    } else if !is_spaced {
                        line.push(' ');
                    }
                    is_spaced = is_white(c);
                }
                *text = line;
            }
            PieceKind::Break => is_spaced = true,
            PieceKind::Picture { .. } => is_spaced = false,
        }
    }
    let mut ends_line = true;
    for piece in pieces.iter_mut().rev() {
        match &mut piece.kind {
            PieceKind::Text(text) => {
                if ends_line {
                    text.truncate(text.trim_end_matches(is_white).len());
                }
                ends_line &= text.is_empty();
            }
            PieceKind::Break => ends_line = true,
            PieceKind::Picture { .. } => ends_line = false,
        }
    }
    pieces.retain(|piece| !matches!(&piece.kind, PieceKind::Text(text) if text.is_empty()));
    let is_break = |piece: &Piece| piece.kind == PieceKind::Break;
    while pieces.last().is_some_and(is_break) {
        pieces.pop();
    }
    let begins_at = pieces.iter().position(|piece| !is_break(piece)).unwrap_or(0);
    pieces.drain(..begins_at);
}

/// Whether a character is white space in HTML. A no-break space counts as a letter, as in browsers.
fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0C' | '\r')
}

/// Returns the text of a line, with a newline at each break.
pub(super) fn line_text(pieces: &[Piece]) -> String {
    let said = |piece: &Piece| match &piece.kind {
        PieceKind::Text(text) => text.clone(),
        PieceKind::Break => "\n".to_owned(),
        PieceKind::Picture { .. } => String::new(),
    };
    pieces.iter().map(said).collect()
}

/// Writes the text of blocks: a line for each item, tabs between a row's cells, an empty line
/// between paragraphs.
pub(super) fn to_text(blocks: &[Block]) -> String {
    let mut text = String::new();
    write_text(blocks, "\n\n", &mut text);
    text
}

fn write_text(blocks: &[Block], between: &str, text: &mut String) {
    write_each(blocks, between, text, |block, text| match block {
        Block::Heading(_, pieces) | Block::Paragraph(pieces) => text.push_str(line_text(pieces).trim()),
        Block::Code(code) => text.push_str(&code.text),
        Block::Quote(blocks) => write_text(blocks, "\n\n", text),
        Block::List(list) => write_each(&list.items, "\n", text, |item, text| write_text(item, "\n", text)),
        Block::Table(table) => write_each(&table.rows, "\n", text, |row, text| {
            write_each(row, "\t", text, |cell, text| write_text(&cell.blocks, "\n", text));
        }),
        Block::Rule => {}
    });
}

/// Writes parts, with `between` separating those that are not empty.
fn write_each<T>(parts: &[T], between: &str, text: &mut String, mut write: impl FnMut(&T, &mut String)) {
    let mut is_first = true;
    for part in parts {
        let from = text.len();
        if !is_first {
            text.push_str(between);
        }
        let begins_at = text.len();
        write(part, text);
        if text.len() == begins_at {
            text.truncate(from);
        } else {
            is_first = false;
        }
    }
}
