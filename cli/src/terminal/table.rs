//! Columns of text.

use super::width::{columns, cut_end, cut_middle};
use super::{Colour, Shade, Width, safe};

/// The space between two columns.
const GAP: &str = "  ";

/// The fewest columns to which a text is shortened beside others. Shorter ones say nothing.
const SHORT_MIN: usize = 12;

/// The contents of a column, which decide how it is aligned and shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text, on the left; shortened at its end.
    Left,
    /// A URL or the name of a file, on the left; shortened in its middle.
    Path,
    /// A word or a time, on the left; never shortened beside other columns.
    Whole,
    /// A number, on the right; never shortened beside other columns.
    Right,
}

impl Align {
    /// Returns the fewest columns of a cell whose text takes this many.
    fn columns_min(self, columns: usize) -> usize {
        match self {
            Self::Left | Self::Path => columns.min(SHORT_MIN),
            Self::Whole | Self::Right => columns,
        }
    }

    fn cut(self, text: &str, columns_max: usize) -> String {
        match self {
            Self::Path => cut_middle(text, columns_max),
            Self::Left | Self::Whole | Self::Right => cut_end(text, columns_max),
        }
    }

    fn pad(self, text: &str, width: usize) -> String {
        let space = " ".repeat(width.saturating_sub(columns(text)));
        if self == Self::Right { space + text } else { text.to_owned() + &space }
    }
}

/// Renders rows as lines below a heading, each column as wide as its widest cell. All texts are
/// escaped.
///
/// If the lines are too long, the widest texts are shortened. If that is not enough, each row
/// becomes a block, with a line for each cell that is not empty.
pub(crate) fn table<const COLUMNS: usize>(
    heads: [(&str, Align); COLUMNS],
    rows: &[[String; COLUMNS]],
    (width, colour): (Width, Colour),
) -> String {
    let aligns = heads.map(|(_, align)| align);
    let heads = heads.map(|(head, _)| safe(head).into_owned());
    let rows: Vec<[String; COLUMNS]> =
        rows.iter().map(|row| row.each_ref().map(|cell| safe(cell).into_owned())).collect();
    let natural: [usize; COLUMNS] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| columns(&row[column]));
        cells.chain([columns(&heads[column])]).max().unwrap_or_default()
    });
    let widths = match width {
        Width::Unlimited => natural,
        Width::Columns(line) => match shorten(natural, aligns, line.saturating_sub(gaps(COLUMNS))) {
            Some(widths) => widths,
            None => return blocks(&heads, aligns, &rows, (line, colour)),
        },
    };
    let line = |cells: &[String; COLUMNS]| {
        let cells = cells.iter().zip(widths).zip(aligns);
        let padded = cells.map(|((cell, width), align)| align.pad(&align.cut(cell, width), width));
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    };
    let head = colour.paint(Shade::Head, &line(&heads));
    [head].into_iter().chain(rows.iter().map(line)).collect::<Vec<_>>().join("\n")
}

/// Returns the columns that the space between this many columns takes.
const fn gaps(number: usize) -> usize {
    GAP.len() * number.saturating_sub(1)
}

/// Returns the widths of columns that fit in `room` together: only the widest are narrower than
/// their texts, and all of these equally. `None` if a text would become too short.
fn shorten<const COLUMNS: usize>(
    natural: [usize; COLUMNS],
    aligns: [Align; COLUMNS],
    room: usize,
) -> Option<[usize; COLUMNS]> {
    let with_max = |max: usize| -> [usize; COLUMNS] {
        std::array::from_fn(|column| natural[column].min(max.max(aligns[column].columns_min(natural[column]))))
    };
    let total = |max: usize| with_max(max).iter().sum::<usize>();
    if total(usize::MAX) <= room {
        return Some(natural);
    }
    if total(0) > room {
        return None;
    }
    // The largest maximum that fits; no more than the whole room does.
    let mut too_much = room + 1;
    let mut fits = 0;
    while too_much - fits > 1 {
        let middle = usize::midpoint(fits, too_much);
        if total(middle) <= room { fits = middle } else { too_much = middle }
    }
    let mut widths = with_max(fits);
    // What is left over is less than a column for each.
    let mut left = room - total(fits);
    for (width, natural) in widths.iter_mut().zip(natural) {
        if left > 0 && *width == fits && *width < natural {
            *width += 1;
            left -= 1;
        }
    }
    Some(widths)
}

/// Renders each row as lines of a heading and a cell, with an empty line between rows.
fn blocks<const COLUMNS: usize>(
    heads: &[String; COLUMNS],
    aligns: [Align; COLUMNS],
    rows: &[[String; COLUMNS]],
    (line, colour): (usize, Colour),
) -> String {
    let head_max = line.saturating_sub(GAP.len()) / 2;
    let width = heads.iter().map(|head| columns(head)).max().unwrap_or_default().min(head_max);
    let room = line.saturating_sub(width + GAP.len());
    let block = |row: &[String; COLUMNS]| {
        let cells = heads.iter().zip(row).zip(aligns).filter(|((_, cell), _)| !cell.is_empty());
        let lines = cells.map(|((head, cell), align)| {
            let head = Align::Left.pad(&cut_end(head, width), width);
            let line = format!("{}{GAP}{}", colour.paint(Shade::Head, &head), align.cut(cell, room));
            line.trim_end().to_owned()
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    rows.iter().map(block).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain<const COLUMNS: usize>(
        heads: [(&str, Align); COLUMNS],
        rows: &[[String; COLUMNS]],
        width: Width,
    ) -> String {
        table(heads, rows, (width, Colour::Off))
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [
            ["a".to_owned(), "1,000".to_owned(), "last".to_owned()],
            ["longer".to_owned(), "7".to_owned(), String::new()],
            ["a\u{1b}[2J\tb".to_owned(), "30".to_owned(), "ä".to_owned()],
            ["日本語".to_owned(), "4".to_owned(), "日本語".to_owned()],
        ];
        let heads = [("name", Align::Left), ("n", Align::Right), ("", Align::Left)];
        insta::assert_snapshot!(plain(heads, &rows, Width::Unlimited), @r"
        name               n
        a              1,000  last
        longer             7
        a\u{1b}[2J\tb     30  ä
        日本語             4  日本語
        ");
        assert_eq!(plain([("name", Align::Left)], &[], Width::Unlimited), "name", "a heading alone");
    }

    const HEADS: [(&str, Align); 4] =
        [("URL", Align::Path), ("bytes", Align::Right), ("when", Align::Whole), ("detail", Align::Left)];

    fn rows() -> [[String; 4]; 3] {
        let row = |url: &str, bytes: &str, when: &str, detail: &str| [url, bytes, when, detail].map(str::to_owned);
        [
            row("https://example.org/", "1,024", "2026-03-01T12:00:00Z", ""),
            row(
                "https://example.org/a/very/long/way/to/a/page/about/nothing/in/particular?page=17",
                "104,857,600",
                "2026-03-02T12:00:00Z",
                "the connection ended before the body did, and then nobody answered any more at all",
            ),
            row(
                "https://例え.テスト/長い道/それから/もっと長い道/そして/とても/とても/長い/ページ",
                "7",
                "",
                "日本語の長い長い長い長い長い長い長い説明がここにあります",
            ),
        ]
    }

    #[test]
    fn what_is_too_wide_for_a_terminal_is_shortened() {
        insta::assert_snapshot!("columns_200", plain(HEADS, &rows(), Width::Columns(200)));
        insta::assert_snapshot!("columns_80", plain(HEADS, &rows(), Width::Columns(80)));
        insta::assert_snapshot!("columns_60", plain(HEADS, &rows(), Width::Columns(60)));
    }

    #[test]
    fn nothing_is_cut_off_a_terminal() {
        let text = plain(HEADS, &rows(), Width::Unlimited);
        for cell in rows().iter().flatten() {
            assert!(text.contains(cell), "{cell}");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            rows in prop::collection::vec(prop::array::uniform4("[a-z日本 é\u{1b}]{0,90}"), 0..5),
            line in 1_usize..240,
        ) {
            let text = plain(HEADS, &rows, Width::Columns(line));
            for shown in text.lines() {
                prop_assert!(columns(shown) <= line, "{line}: {shown:?}");
            }
        }
    }
}
