//! Writes blocks as Markdown: CommonMark, with GitHub's tables.
//!
//! Rendered Markdown has the words of the blocks, in their order. Special characters in the text
//! are escaped; formatting that would not be parsed as such is left out.

use std::rc::Rc;

use super::blocks::{Block, Cell, Code, List, Mark, Piece, PieceKind, Style, Table, line_text};

/// The most columns of a table; wider ones become lists.
const COLUMNS_MAX: usize = 200;

/// Writes blocks.
pub(super) fn to_markdown(blocks: &[Block]) -> String {
    let mut markdown = String::new();
    write_blocks(blocks, "\n\n", &mut markdown);
    markdown
}

fn write_blocks(blocks: &[Block], between: &str, out: &mut String) {
    let mut before: Option<&Block> = None;
    let mut is_other = false;
    for block in blocks {
        // Two consecutive lists would be joined into one, and so would two quotations.
        is_other = match (before, block) {
            (Some(Block::List(a)), Block::List(b)) => a.first.is_some() == b.first.is_some() && !is_other,
            _ => false,
        };
        let written = write_block(block, if is_other { Signs::Other } else { Signs::Usual });
        if written.is_empty() {
            continue;
        }
        if before.is_some() {
            // Only a list that begins with 1 may follow a line directly.
            let is_tight =
                between == "\n" && matches!(block, Block::List(list) if list.first.is_none_or(|first| first == 1));
            out.push_str(if is_tight { "\n" } else { "\n\n" });
            if matches!((before, block), (Some(Block::Quote(_)), Block::Quote(_))) {
                out.push_str("<!-- -->\n\n");
            }
        }
        out.push_str(&written);
        before = Some(block);
    }
}

/// Which of two sets of markers a list uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signs {
    Usual,
    Other,
}

fn write_block(block: &Block, signs: Signs) -> String {
    match block {
        Block::Heading(level, pieces) => {
            let line = line(pieces, Within::Heading);
            if line.is_empty() { line } else { format!("{} {line}", "#".repeat(usize::from(*level))) }
        }
        Block::Paragraph(pieces) => line(pieces, Within::Paragraph),
        Block::Code(code) => fence(code),
        Block::Quote(blocks) => {
            let inner = to_markdown(blocks);
            let quoted = |line: &str| if line.is_empty() { ">".to_owned() } else { format!("> {line}") };
            inner.split('\n').map(quoted).collect::<Vec<_>>().join("\n")
        }
        Block::List(list) => write_list(list, signs),
        Block::Table(table) => write_table(table),
        Block::Rule => "---".to_owned(),
    }
}

fn fence(code: &Code) -> String {
    let longest = code.text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{}\n{}\n{fence}", code.language.as_deref().unwrap_or_default(), code.text)
}

fn write_list(list: &List, signs: Signs) -> String {
    // One-line items are not separated by empty lines.
    let is_line = |block: &Block| matches!(block, Block::Paragraph(_));
    let is_short = |item: &Vec<Block>| match item.as_slice() {
        [one] => is_line(one) || matches!(one, Block::List(_)),
        [line, Block::List(_)] => is_line(line),
        _ => false,
    };
    let between = if list.items.iter().all(is_short) { "\n" } else { "\n\n" };
    let mut written = Vec::new();
    for (number, item) in (0_u32..).zip(&list.items) {
        let sign = match (list.first, signs) {
            (Some(first), Signs::Usual) => format!("{}.", first.saturating_add(number).min(999_999_999)),
            (Some(first), Signs::Other) => format!("{})", first.saturating_add(number).min(999_999_999)),
            (None, Signs::Usual) => "-".to_owned(),
            (None, Signs::Other) => "*".to_owned(),
        };
        let mut inner = String::new();
        write_blocks(item, between, &mut inner);
        written.push(format!("{sign} {}", indented(&inner, sign.len() + 1)));
    }
    written.join(between)
}

/// Indents all lines but the first.
fn indented(text: &str, columns: usize) -> String {
    let indent = " ".repeat(columns);
    let mut lines = text.split('\n');
    let mut indented = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        indented.push('\n');
        if !line.is_empty() {
            indented.push_str(&indent);
            indented.push_str(line);
        }
    }
    indented
}

/// Writes a table. If its cells are lines, it becomes a Markdown table; otherwise each row becomes
/// an item, and each cell a block of it.
fn write_table(table: &Table) -> String {
    let grid = grid(table);
    let columns = grid.iter().map(Vec::len).max().unwrap_or(0);
    let is_line = |cell: &Option<&Cell>| {
        cell.is_none_or(|cell| cell.blocks.iter().all(|block| matches!(block, Block::Paragraph(_))))
    };
    if columns > COLUMNS_MAX || !grid.iter().flatten().all(is_line) {
        let row = |row: &Vec<Cell>| row.iter().flat_map(|cell| cell.blocks.clone()).collect::<Vec<_>>();
        let items = table.rows.iter().map(row).filter(|item| !item.is_empty()).collect();
        return write_list(&List { first: None, items }, Signs::Usual);
    }
    let mut lines = Vec::with_capacity(grid.len() + 2);
    if table.rows_of_names == 0 {
        lines.push(format!("|{}", "  |".repeat(columns)));
        lines.push(format!("|{}", " --- |".repeat(columns)));
    }
    for (number, row) in grid.iter().enumerate() {
        let mut line = "|".to_owned();
        for column in 0..columns {
            let said = row.get(column).copied().flatten().map(cell_line).unwrap_or_default();
            line.push(' ');
            line.push_str(&said);
            line.push_str(" |");
        }
        lines.push(line);
        if number == 0 && table.rows_of_names > 0 {
            lines.push(format!("|{}", " --- |".repeat(columns)));
        }
    }
    lines.join("\n")
}

fn cell_line(cell: &Cell) -> String {
    let lines = cell.blocks.iter().map(|block| match block {
        Block::Paragraph(pieces) => line(pieces, Within::Cell),
        _ => String::new(),
    });
    lines.collect::<Vec<_>>().join("<br>")
}

/// Returns the cells by position; a spanning cell leaves the other positions empty.
fn grid(table: &Table) -> Vec<Vec<Option<&Cell>>> {
    let mut grid: Vec<Vec<Option<&Cell>>> = Vec::with_capacity(table.rows.len());
    // For each column, the number of rows that the cell above still spans.
    let mut taken: Vec<usize> = Vec::new();
    for row in &table.rows {
        let (mut line, mut column) = (Vec::new(), 0);
        let skip = |line: &mut Vec<Option<&Cell>>, taken: &mut Vec<usize>, column: &mut usize| {
            while let Some(rows) = taken.get_mut(*column).filter(|rows| **rows > 0) {
                *rows -= 1;
                *column += 1;
                line.push(None);
            }
        };
        for cell in row {
            skip(&mut line, &mut taken, &mut column);
            for across in 0..cell.columns {
                line.push((across == 0).then_some(cell));
                taken.resize(taken.len().max(column + 1), 0);
                if let Some(rows) = taken.get_mut(column) {
                    *rows = cell.rows - 1;
                }
                column += 1;
            }
            if column > COLUMNS_MAX {
                break;
            }
        }
        skip(&mut line, &mut taken, &mut column);
        grid.push(line);
    }
    grid
}

/// The context of a line, which decides what its special characters would mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Paragraph,
    Heading,
    Cell,
}

fn line(pieces: &[Piece], within: Within) -> String {
    let written = by_link(pieces, (None, None));
    let written = match within {
        Within::Paragraph => {
            // Each of its lines may look like the beginning of a block.
            written.split('\n').map(as_text_at_start).collect::<Vec<_>>().join("\n")
        }
        Within::Heading => {
            let line = written.replace("\\\n", " ").replace('\n', " ");
            // A `#` at its end would close it.
            match line.strip_suffix('#') {
                Some(rest) => format!("{rest}\\#"),
                None => line,
            }
        }
        Within::Cell => written.replace("\\\n", "<br>").replace('\n', " ").replace('|', "\\|"),
    };
    written.trim().to_owned()
}

/// The characters before and after a part of a line.
type Around = (Option<char>, Option<char>);

/// Writes pieces with all their formatting: links outermost, then code, which allows no formatting
/// inside, then the others.
fn by_link(pieces: &[Piece], around: Around) -> String {
    let linked = |link: &Rc<str>, inner: &[Piece], around| {
        // A bracket in code would end the link's text if the line is parsed as a definition.
        let level = if line_text(inner).contains(']') { Level::Strong } else { Level::Code };
        let text = by_mark(inner, level, around);
        let (before, text, after) = apart(&text);
        if text.is_empty() {
            format!("{before}{after}")
        } else {
            format!("{before}[{text}]({}){after}", destination(link))
        }
    };
    grouped(pieces, around, |style| style.link.clone(), &linked, &|inner, around| by_mark(inner, Level::Code, around))
}

/// The levels of formatting, the outermost first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Code,
    Strong,
    Stressed,
    Marked,
    Plain,
}

/// Writes pieces with the formatting from a level inwards.
fn by_mark(pieces: &[Piece], level: Level, around: Around) -> String {
    let below = |next: Level| move |inner: &[Piece], around: Around| by_mark(inner, next, around);
    match level {
        Level::Code => {
            let code = |(): &(), inner: &[Piece], _: Around| code_span(inner);
            grouped(pieces, around, |style| style.is_code.then_some(()), &code, &below(Level::Strong))
        }
        Level::Strong => {
            let below = below(Level::Stressed);
            let strong = |(): &(), inner: &[Piece], around: Around| emphasised("**", &below(inner, around), around);
            grouped(pieces, around, |style| style.is_strong.then_some(()), &strong, &below)
        }
        Level::Stressed => {
            let below = below(Level::Marked);
            let stressed = |(): &(), inner: &[Piece], around: Around| emphasised("*", &below(inner, around), around);
            grouped(pieces, around, |style| style.is_stressed.then_some(()), &stressed, &below)
        }
        Level::Marked => {
            let below = below(Level::Plain);
            let marked = |mark: &Mark, inner: &[Piece], around: Around| {
                let name = match mark {
                    Mark::Sub => "sub",
                    Mark::Sup => "sup",
                    Mark::Del => "del",
                };
                format!("<{name}>{}</{name}>", below(inner, around))
            };
            grouped(pieces, around, |style| style.mark, &marked, &below)
        }
        Level::Plain => plain(pieces, around),
    }
}

/// Writes pieces in groups: consecutive ones with the same formatting together.
fn grouped<M: PartialEq>(
    pieces: &[Piece],
    around: Around,
    mark: impl Fn(&Style) -> Option<M>,
    marked: &dyn Fn(&M, &[Piece], Around) -> String,
    unmarked: &dyn Fn(&[Piece], Around) -> String,
) -> String {
    let mut written = String::new();
    let groups: Vec<&[Piece]> = pieces.chunk_by(|a, b| mark(&a.style) == mark(&b.style)).collect();
    for (number, group) in groups.iter().enumerate() {
        let before = number.checked_sub(1).and_then(|number| groups.get(number)).and_then(|group| last_char(group));
        let after = groups.get(number + 1).and_then(|group| first_char(group));
        let around = (
            before.or(if number == 0 { around.0 } else { None }),
            after.or(if number + 1 == groups.len() { around.1 } else { None }),
        );
        let style = group.first().map(|piece| &piece.style);
        let text = match style.and_then(&mark) {
            Some(mark) => marked(&mark, group, around),
            None => unmarked(group, around),
        };
        // Adjacent stars would be parsed as other formatting.
        if written.ends_with('*') && text.starts_with('*') {
            written.push_str(&by_mark(group, Level::Marked, around));
        } else {
            written.push_str(&text);
        }
    }
    written
}

fn first_char(pieces: &[Piece]) -> Option<char> {
    line_text(pieces.get(..1)?).chars().next()
}

fn last_char(pieces: &[Piece]) -> Option<char> {
    line_text(pieces.last().map(std::slice::from_ref)?).chars().next_back()
}

/// Encloses a text in markers, or leaves them out if CommonMark would not parse them as emphasis.
fn emphasised(sign: &str, text: &str, (before, after): Around) -> String {
    let (space_before, text, space_after) = apart(text);
    let is_apart = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || is_punctuation(c));
    let opens = !space_before.is_empty() || is_apart(before) || !text.starts_with(is_punctuation);
    let closes = !space_after.is_empty() || is_apart(after) || !text.ends_with(is_punctuation);
    // Beside other stars, they would be ambiguous.
    let is_clear = !text.starts_with('*') && !text.ends_with('*') && !text.contains("\n");
    let stands_alone = before != Some('*') && after != Some('*');
    if text.is_empty() || !opens || !closes || !is_clear || !stands_alone {
        return format!("{space_before}{text}{space_after}");
    }
    format!("{space_before}{sign}{text}{sign}{space_after}")
}

fn is_punctuation(c: char) -> bool {
    // CommonMark counts symbols too.
    !c.is_alphanumeric() && !c.is_whitespace()
}

/// Splits a text into leading space, content and trailing space.
fn apart(text: &str) -> (&str, &str, &str) {
    let inner = text.trim_matches(' ');
    let before = text.len() - text.trim_start_matches(' ').len();
    let (before, rest) = text.split_at(before.min(text.len()));
    (before, inner, rest.get(inner.len()..).unwrap_or_default())
}

fn code_span(pieces: &[Piece]) -> String {
    let text = line_text(pieces).replace('\n', " ");
    let (before, code, after) = apart(&text);
    if code.is_empty() {
        return text;
    }
    let runs: Vec<usize> = code.split(|c| c != '`').map(str::len).collect();
    let ticks = "`".repeat((1..).find(|length| !runs.contains(length)).unwrap_or(1));
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{before}{ticks}{pad}{code}{pad}{ticks}{after}")
}

fn plain(pieces: &[Piece], (before, _): Around) -> String {
    let mut written = String::new();
    let mut before = before;
    for piece in pieces {
        match &piece.kind {
            PieceKind::Text(text) => {
                escape(text, before, &mut written);
                before = text.chars().next_back();
            }
            PieceKind::Break => {
                written.push_str("\\\n");
                before = None;
            }
            PieceKind::Picture { url, alt } => {
                let mut text = String::new();
                escape(alt, None, &mut text);
                written.push_str(&format!("![{text}]({})", destination(url)));
                before = Some(')');
            }
        }
    }
    written
}

/// Appends a text with its special characters escaped.
fn escape(text: &str, before: Option<char>, out: &mut String) {
    let mut before = before;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, c)| *c);
        let is_sign = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' => true,
            '_' => {
                let is_in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                !(is_in_word(before) && is_in_word(after))
            }
            // Before a link, it would turn that into an image.
            '!' => after.is_none_or(|after| after == '['),
            '&' => is_reference(text.get(at + 1..).unwrap_or_default()),
            _ => false,
        };
        if is_sign {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
}

/// Whether the text after a `&` makes it a character reference.
fn is_reference(rest: &str) -> bool {
    let name = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '#');
    // The text may continue in another style, so the reference need not be complete here.
    name.is_empty() || name.starts_with(';') && name.len() < rest.len()
}

/// Escapes a line that would begin a block: a heading, quotation, item, fence, rule or code.
fn as_text_at_start(line: &str) -> String {
    let line = line.trim_start_matches([' ', '\t']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at(digits);
    if digits > 0 && (rest.starts_with('.') || rest.starts_with(')')) {
        return format!("{number}\\{rest}");
    }
    let is_sign = line.starts_with(['#', '>', '+', '-', '=']) || line.starts_with('|');
    if is_sign { format!("\\{line}") } else { line.to_owned() }
}

/// Writes the URL of a link. In an absolute one only parentheses need escaping.
fn destination(url: &str) -> String {
    url.replace('(', "%28")
        .replace(')', "%29")
        .replace('<', "%3C")
        .replace('>', "%3E")
        .replace(' ', "%20")
        .replace('\\', "%5C")
}
