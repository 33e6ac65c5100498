//! Rows as comma-separated values that are safe to open in a spreadsheet.

use std::borrow::Cow;
use std::io::{self, Write};

use csv::Writer;
use dragline_ports::row::Cell;

use crate::terminal::safe;

/// The reader of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// A program, for which every character is data.
    Program,
    /// A person at a terminal, which acts on control characters.
    Person,
}

/// How to treat cells that a spreadsheet would run as formulas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Formulas {
    /// Prefix them with `'`, so that they are shown and not run.
    #[default]
    Disarmed,
    /// Write them unchanged.
    Kept,
}

/// Writes rows as CSV (RFC 4180, with LF line ends).
pub(super) struct SafeCsv<W: Write> {
    reader: Audience,
    formulas: Formulas,
    out: Writer<W>,
    head: Head,
}

/// Whether the header line was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    Written,
    Missing,
}

impl<W: Write> SafeCsv<W> {
    /// Returns a writer for this reader, which disarms formulas.
    pub(super) fn new(out: W, reader: Audience) -> Self {
        Self { reader, formulas: Formulas::default(), out: Writer::from_writer(out), head: Head::Missing }
    }

    /// Returns the same writer with this treatment of formulas.
    pub(super) fn with_formulas(self, formulas: Formulas) -> Self {
        Self { formulas, ..self }
    }

    /// Writes the header, unless it is written.
    pub(super) fn write_head<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> io::Result<()> {
        if std::mem::replace(&mut self.head, Head::Written) == Head::Missing {
            self.out.write_record(names)?;
        }
        Ok(())
    }

    /// Writes the cells of a row. The header must be written before.
    pub(super) fn write_cells(&mut self, cells: &[Option<Cell>]) -> io::Result<()> {
        for cell in cells {
            let cell = cell.as_ref().map_or_else(String::new, Cell::to_string);
            let cell = match self.formulas {
                Formulas::Disarmed => disarm_formula(&cell),
                Formulas::Kept => cell.as_str().into(),
            };
            let shown = match self.reader {
                Audience::Program => cell,
                Audience::Person => safe(&cell).into_owned().into(),
            };
            self.out.write_field(shown.as_bytes())?;
        }
        Ok(self.out.write_record(None::<&[u8]>)?)
    }

    /// Writes what is buffered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Prefixes the cell with `'` if a spreadsheet would run it as a formula (OWASP, CSV injection).
/// Numbers are not formulas.
fn disarm_formula(cell: &str) -> Cow<'_, str> {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number(cell);
    if is_formula { Cow::Owned(format!("'{cell}")) } else { Cow::Borrowed(cell) }
}

/// Returns whether the cell is a number as this program writes it: digits, with an optional minus
/// sign and fraction.
fn is_number(cell: &str) -> bool {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    [whole, fraction].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns what is written for rows of an outcome, a title and a link, with their header.
    fn written(mut csv: SafeCsv<Vec<u8>>, rows: &[(i16, Option<&str>, &str)]) -> String {
        let text = |text: &str| Some(Cell::Text(text.to_owned()));
        for (outcome, title, link) in rows {
            csv.write_head(["outcome", "title", "link"].into_iter()).unwrap();
            csv.write_cells(&[Some(Cell::Number((*outcome).into())), title.and_then(text), text(link)]).unwrap();
        }
        csv.write_head(["outcome", "title", "link"].into_iter()).unwrap();
        csv.flush().unwrap();
        String::from_utf8(csv.out.into_inner().unwrap()).unwrap()
    }

    #[test]
    fn cells_that_look_like_formulas_are_disarmed() {
        for (cell, expected, why) in [
            ("plain", "plain", "nothing to do"),
            ("", "", "empty"),
            ("=1+1", "'=1+1", "a formula"),
            ("+49 30 1234", "'+49 30 1234", "taken for one by some"),
            ("-2+3", "'-2+3", "the same"),
            ("@SUM(A1)", "'@SUM(A1)", "the same in old ones"),
            ("\t=1", "'\t=1", "the tab is thrown away, the formula stays"),
            ("\r=1", "'\r=1", "so is the return"),
            ("-999", "-999", "an outcome's number"),
            ("-19.99", "-19.99", "a price"),
            ("-19.99.1", "'-19.99.1", "no number"),
            ("a=b", "a=b", "only the first character counts"),
            (" =1", " =1", "a text to every spreadsheet"),
            ("-", "'-", "a minus alone is not a number"),
        ] {
            assert_eq!(disarm_formula(cell), expected, "{why}");
        }
    }

    #[test]
    fn the_header_is_written_once_and_absent_values_are_empty() {
        let rows = [
            (-999, None, "https://example.org/"),
            (20, Some("=HYPERLINK(\"https://example.com\", \"a, b\")"), "https://example.org/b"),
            (20, Some("two\nlines"), ""),
        ];
        insta::assert_snapshot!(written(SafeCsv::new(Vec::new(), Audience::Program), &rows), @r#"
        outcome,title,link
        -999,,https://example.org/
        20,"'=HYPERLINK(""https://example.com"", ""a, b"")",https://example.org/b
        20,"two
        lines",
        "#);
    }

    #[test]
    fn the_header_is_written_without_rows_too() {
        assert_eq!(written(SafeCsv::new(Vec::new(), Audience::Program), &[]), "outcome,title,link\n");
    }

    #[test]
    fn control_characters_are_escaped() {
        for (reader, expected) in [(Audience::Program, "20,a\u{1b}[2J,\n"), (Audience::Person, "20,a\\u{1b}[2J,\n")] {
            let text = written(SafeCsv::new(Vec::new(), reader), &[(20, Some("a\u{1b}[2J"), "")]);
            assert_eq!(text.split_once('\n').unwrap().1, expected, "{reader:?}");
        }
    }

    proptest! {
        #[test]
        fn kept_cells_round_trip(title in any::<String>(), link in "[-=+@'].*") {
            let csv = SafeCsv::new(Vec::new(), Audience::Program).with_formulas(Formulas::Kept);
            let text = written(csv, &[(20, Some(&title), &link)]);
            let record = ::csv::Reader::from_reader(text.as_bytes()).records().next().unwrap().unwrap();
            prop_assert_eq!(record.iter().skip(1).collect::<Vec<_>>(), [&title, &link]);
        }

        #[test]
        fn cells_round_trip_and_none_is_a_formula(title in any::<String>(), link in any::<String>()) {
            let text = written(SafeCsv::new(Vec::new(), Audience::Program), &[(20, Some(&title), &link)]);
            let record = ::csv::Reader::from_reader(text.as_bytes()).records().next().unwrap().unwrap();
            for (cell, original) in record.iter().skip(1).zip([&title, &link]) {
                prop_assert!(is_number(cell) || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?}");
                prop_assert_eq!(cell.strip_prefix('\'').filter(|rest| rest == original).unwrap_or(cell), original.as_str());
            }
        }
    }
}
