//! A main part as blocks: what its text and its Markdown are both written from, so that they say the same.

/// A block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// 1 to 6.
    Heading(u8, Vec<Piece>),
    Paragraph(Vec<Piece>),
    Code(Code),
    Quote(Vec<Self>),
    List(List),
    Table(Table),
    /// A change of subject.
    Rule,
}

/// Lines whose white space counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Code {
    /// As the page names it; `None` if it does not.
    pub(super) language: Option<String>,
    pub(super) text: String,
}

/// A list, or terms with what they mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    /// The number of the first item; `None` if they are not numbered.
    pub(super) first: Option<u32>,
    pub(super) items: Vec<Vec<Block>>,
}

/// A table of data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) rows: Vec<Vec<Cell>>,
    /// How many rows at its beginning name the columns.
    pub(super) rows_of_names: usize,
}

/// A cell, and how many columns and rows it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) blocks: Vec<Block>,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// Text in one style, or something that stands among text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) kind: PieceKind,
    pub(super) style: Style,
}

/// What a piece is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    Text(String),
    /// A line ends here.
    Break,
    /// A picture: its absolute URL, and its text for those who do not see it.
    Picture {
        url: String,
        alt: String,
    },
}

/// How a text is marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// The absolute URL that it links to.
    pub(super) link: Option<std::rc::Rc<str>>,
    pub(super) is_strong: bool,
    pub(super) is_stressed: bool,
    pub(super) is_code: bool,
    pub(super) mark: Option<Mark>,
}

/// What Markdown has no sign for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Sub,
    Sup,
    Del,
}

impl Block {
    /// Whether it says nothing.
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

/// Collapses the white space of a line as browsers do: one space for each run, none at its ends or beside a break. Drops pieces without text.
pub(super) fn in_one_space(pieces: &mut Vec<Piece>) {
    // Whether a space here would be one too many: at the beginning, or behind another.
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

/// White space of HTML. A space that does not break is a letter here, as it is to browsers.
fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0C' | '\r')
}

/// Returns what a line says, with a line end at each break.
pub(super) fn text_of(pieces: &[Piece]) -> String {
    let said = |piece: &Piece| match &piece.kind {
        PieceKind::Text(text) => text.clone(),
        PieceKind::Break => "\n".to_owned(),
        PieceKind::Picture { .. } => String::new(),
    };
    pieces.iter().map(said).collect()
}

/// Writes the text of blocks: a line for each item, a row's cells with tabs between them, an empty line between paragraphs.
pub(super) fn to_text(blocks: &[Block]) -> String {
    let mut text = String::new();
    write_text(blocks, "\n\n", &mut text);
    text
}

fn write_text(blocks: &[Block], between: &str, text: &mut String) {
    write_each(blocks, between, text, |block, text| match block {
        Block::Heading(_, pieces) | Block::Paragraph(pieces) => text.push_str(text_of(pieces).trim()),
        Block::Code(code) => text.push_str(&code.text),
        Block::Quote(blocks) => write_text(blocks, "\n\n", text),
        Block::List(list) => write_each(&list.items, "\n", text, |item, text| write_text(item, "\n", text)),
        Block::Table(table) => write_each(&table.rows, "\n", text, |row, text| {
            write_each(row, "\t", text, |cell, text| write_text(&cell.blocks, "\n", text));
        }),
        Block::Rule => {}
    });
}

/// Writes parts with this between those that say anything.
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
