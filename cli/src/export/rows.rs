//! Writes rows to standard output in the requested format.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::ops::ControlFlow;

use dragline_domain::item::Cell;
use dragline_report::ItemRow;
use serde::{Serialize, Serializer};

use super::csv::{Audience, Formulas, SafeCsv};
use super::items::Columns;
use super::table::Column;
use crate::args::Format;
use crate::terminal::{unless_closed, write_json};

/// A writer of rows.
pub(crate) struct Rows {
    to: RowSink,
    /// The field names, for the header of an empty export.
    fields: Vec<String>,
    /// The first error. Nothing is written after it.
    failed: Option<io::Error>,
}

enum RowSink {
    Jsonl(BufWriter<StdoutLock<'static>>),
    Csv(Box<SafeCsv<StdoutLock<'static>>>),
}

/// Cells with their column names, in order.
struct SelectedCells<'c> {
    columns: &'c [Column<'c>],
    cells: &'c [Option<Cell>],
}

impl Serialize for SelectedCells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().map(|(name, _)| name).zip(self.cells))
    }
}

impl Rows {
    /// Returns a writer of rows with these fields.
    pub(crate) fn new(format: Format, fields: Vec<String>) -> Self {
        let out = io::stdout().lock();
        let reader = if out.is_terminal() { Audience::Person } else { Audience::Program };
        let to = match format {
            Format::Jsonl => RowSink::Jsonl(BufWriter::new(out)),
            Format::Csv => RowSink::Csv(Box::new(SafeCsv::new(out, reader))),
        };
        Self { to, fields, failed: None }
    }

    /// Returns the same writer with this treatment of formulas in CSV.
    pub(super) fn with_formulas(self, formulas: Formulas) -> Self {
        let to = match self.to {
            RowSink::Csv(csv) => RowSink::Csv(Box::new(csv.with_formulas(formulas))),
            jsonl @ RowSink::Jsonl(_) => jsonl,
        };
        Self { to, ..self }
    }

    /// Writes a row, and returns whether to go on.
    pub(crate) fn write(&mut self, row: &impl Serialize) -> ControlFlow<()> {
        let written = match &mut self.to {
            RowSink::Jsonl(out) => write_json(out, row),
            RowSink::Csv(out) => out.write(row),
        };
        self.record_result(written)
    }

    fn record_result(&mut self, written: io::Result<()>) -> ControlFlow<()> {
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Writes the cells of a row in these columns, and returns whether to go on.
    pub(super) fn write_cells(&mut self, columns: &[Column<'_>], cells: &[Option<Cell>]) -> ControlFlow<()> {
        let written = match &mut self.to {
            RowSink::Jsonl(out) => write_json(out, &SelectedCells { columns, cells }),
            RowSink::Csv(out) => {
                let texts: Vec<String> =
                    cells.iter().map(|cell| cell.as_ref().map_or_else(String::new, Cell::to_string)).collect();
                out.write_head(&self.fields).and_then(|()| out.write_texts(&texts))
            }
        };
        self.record_result(written)
    }

    /// Writes an item with these columns, and returns whether to go on.
    pub(super) fn write_item(&mut self, item: &ItemRow, columns: &Columns) -> ControlFlow<()> {
        let written = match &mut self.to {
            RowSink::Jsonl(out) => write_json(out, item),
            RowSink::Csv(out) => {
                out.write_head(&self.fields).and_then(|()| out.write_texts(&item.texts(columns.keys())))
            }
        };
        self.record_result(written)
    }

    /// Flushes the buffer, and returns the first error. A closed pipe is not an error.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let flushed = match &mut self.to {
            RowSink::Jsonl(out) => out.flush(),
            RowSink::Csv(out) => out.write_head(&self.fields).and_then(|()| out.flush()),
        };
        unless_closed(self.failed.map_or(flushed, Err))
    }
}
