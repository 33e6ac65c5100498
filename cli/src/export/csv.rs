//! Rows as comma-separated values that are safe to open in a spreadsheet.

use std::borrow::Cow;
use std::io::{self, Write};

use csv::{ReaderBuilder, StringRecord, Writer};
use serde::Serialize;

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
    /// Turns each row into cells, and the first one also into a header.
    cells: Writer<Vec<u8>>,
    out: Writer<W>,
    record: StringRecord,
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
        Self {
            reader,
            formulas: Formulas::default(),
            cells: Writer::from_writer(Vec::new()),
            out: Writer::from_writer(out),
            record: StringRecord::new(),
            head: Head::Missing,
        }
    }

    /// Returns the same writer with this treatment of formulas.
    pub(super) fn with_formulas(self, formulas: Formulas) -> Self {
        Self { formulas, ..self }
    }

    /// Writes a row. The field names precede the first one.
    pub(super) fn write(&mut self, row: &impl Serialize) -> io::Result<()> {
        self.write_cells(row).map_err(into_io_error)
    }

    /// Writes the header, unless a row already did.
    pub(super) fn write_head(&mut self, fields: &[impl AsRef<str>]) -> io::Result<()> {
        if std::mem::replace(&mut self.head, Head::Written) == Head::Missing {
            self.out.write_record(fields.iter().map(AsRef::as_ref))?;
        }
        Ok(())
    }

    fn write_cells(&mut self, row: &impl Serialize) -> csv::Result<()> {
        self.head = Head::Written;
        self.cells.serialize(row)?;
        self.pass_on()
    }

    /// Writes a row of cells. The header must be written before.
    pub(super) fn write_texts(&mut self, texts: &[String]) -> io::Result<()> {
        self.cells.write_record(texts)?;
        self.pass_on().map_err(into_io_error)
    }

    /// Checks and writes the pending cells.
    fn pass_on(&mut self) -> csv::Result<()> {
        self.cells.flush()?;
        // Only the csv crate knows how to turn a row into cells, so it writes them, and they are
        // read back to be checked.
        let cells = std::mem::replace(&mut self.cells, writer_without_header());
        let bytes = cells.into_inner().map_err(csv::IntoInnerError::into_error)?;
        let mut reader = ReaderBuilder::new().has_headers(false).from_reader(bytes.as_slice());
        while reader.read_record(&mut self.record)? {
            for cell in &self.record {
                let cell = match self.formulas {
                    Formulas::Disarmed => disarm_formula(cell),
                    Formulas::Kept => cell.into(),
                };
                let shown = match self.reader {
                    Audience::Program => cell,
                    Audience::Person => safe(&cell).into_owned().into(),
                };
                self.out.write_field(shown.as_bytes())?;
            }
            self.out.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }

    /// Writes what is buffered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn into_io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        // Passed on, to distinguish a closed pipe from a full disk.
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Returns a writer for the rows after the first.
fn writer_without_header() -> Writer<Vec<u8>> {
    csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new())
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

    #[derive(Serialize)]
    struct Row {
        outcome: i16,
        title: Option<String>,
        link: String,
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
        let mut csv = SafeCsv::new(Vec::new(), Audience::Program);
        let row = |outcome, title: Option<&str>, link: &str| Row {
            outcome,
            title: title.map(str::to_owned),
            link: link.to_owned(),
        };
        csv.write(&row(-999, None, "https://example.org/")).unwrap();
        csv.write(&row(20, Some("=HYPERLINK(\"https://example.com\", \"a, b\")"), "https://example.org/b")).unwrap();
        csv.write(&row(20, Some("two\nlines"), "")).unwrap();
        csv.flush().unwrap();
        let text = String::from_utf8(csv.out.into_inner().unwrap()).unwrap();
        insta::assert_snapshot!(text, @r#"
        outcome,title,link
        -999,,https://example.org/
        20,"'=HYPERLINK(""https://example.com"", ""a, b"")",https://example.org/b
        20,"two
        lines",
        "#);
    }

    #[test]
    fn the_header_is_written_without_rows_too() {
        let mut csv = SafeCsv::new(Vec::new(), Audience::Program);
        csv.write_head(&["outcome", "title", "link"]).unwrap();
        csv.write_head(&["outcome", "title", "link"]).unwrap();
        csv.flush().unwrap();
        assert_eq!(csv.out.into_inner().unwrap(), b"outcome,title,link\n");
        let mut csv = SafeCsv::new(Vec::new(), Audience::Program);
        csv.write(&Row { outcome: 20, title: None, link: String::new() }).unwrap();
        csv.write_head(&["outcome", "title", "link"]).unwrap();
        csv.flush().unwrap();
        assert_eq!(csv.out.into_inner().unwrap(), b"outcome,title,link\n20,,\n", "but not twice");
    }

    #[test]
    fn control_characters_are_escaped() {
        for (reader, expected) in [(Audience::Program, "20,a\u{1b}[2J,\n"), (Audience::Person, "20,a\\u{1b}[2J,\n")] {
            let mut csv = SafeCsv::new(Vec::new(), reader);
            csv.write(&Row { outcome: 20, title: Some("a\u{1b}[2J".to_owned()), link: String::new() }).unwrap();
            csv.flush().unwrap();
            let text = String::from_utf8(csv.out.into_inner().unwrap()).unwrap();
            assert_eq!(text.split_once('\n').unwrap().1, expected, "{reader:?}");
        }
    }

    proptest! {
        #[test]
        fn kept_cells_round_trip(title in any::<String>(), link in "[-=+@'].*") {
            let mut csv = SafeCsv::new(Vec::new(), Audience::Program).with_formulas(Formulas::Kept);
            csv.write(&Row { outcome: 20, title: Some(title.clone()), link: link.clone() }).unwrap();
            csv.flush().unwrap();
            let bytes = csv.out.into_inner().unwrap();
            let record = ::csv::Reader::from_reader(bytes.as_slice()).records().next().unwrap().unwrap();
            prop_assert_eq!(record.iter().skip(1).collect::<Vec<_>>(), [&title, &link]);
        }

        #[test]
        fn cells_round_trip_and_none_is_a_formula(title in any::<String>(), link in any::<String>()) {
            let mut csv = SafeCsv::new(Vec::new(), Audience::Program);
            csv.write(&Row { outcome: 20, title: Some(title.clone()), link: link.clone() }).unwrap();
            csv.flush().unwrap();
            let bytes = csv.out.into_inner().unwrap();
            let mut reader = ::csv::Reader::from_reader(bytes.as_slice());
            let record = reader.records().next().unwrap().unwrap();
            for (cell, original) in record.iter().skip(1).zip([&title, &link]) {
                prop_assert!(is_number(cell) || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?}");
                prop_assert_eq!(cell.strip_prefix('\'').filter(|rest| rest == original).unwrap_or(cell), original.as_str());
            }
        }
    }
}
