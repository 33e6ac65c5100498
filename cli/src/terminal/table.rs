//! Columns of text.

use super::{Colour, Shade, safe};

/// The space between two columns.
const GAP: &str = "  ";

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Renders rows as lines below a heading, each column as wide as its widest cell. All cells are
/// escaped.
pub(crate) fn table<const COLUMNS: usize>(
    heads: [(&str, Align); COLUMNS],
    rows: &[[String; COLUMNS]],
    colour: Colour,
) -> String {
    let rows: Vec<[String; COLUMNS]> =
        rows.iter().map(|row| row.each_ref().map(|cell| safe(cell).into_owned())).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].0.chars().count()]).max().unwrap_or_default()
    };
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let line = |cells: [&str; COLUMNS]| {
        let padded = cells.iter().zip(widths).zip(heads).map(|((cell, width), (_, align))| match align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        });
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    };
    let head = colour.paint(Shade::Head, &line(heads.map(|(head, _)| head)));
    let lines = rows.iter().map(|row| line(row.each_ref().map(String::as_str)));
    [head].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [
            ["a".to_owned(), "1,000".to_owned(), "last".to_owned()],
            ["longer".to_owned(), "7".to_owned(), String::new()],
            ["a\u{1b}[2J\tb".to_owned(), "30".to_owned(), "ä".to_owned()],
        ];
        let heads = [("name", Align::Left), ("n", Align::Right), ("", Align::Left)];
        insta::assert_snapshot!(table(heads, &rows, Colour::Off), @r"
        name               n
        a              1,000  last
        longer             7
        a\u{1b}[2J\tb     30  ä
        ");
        assert_eq!(table([("name", Align::Left)], &[], Colour::Off), "name", "a heading alone");
    }
}
