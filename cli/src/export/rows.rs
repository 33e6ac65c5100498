//! Writes rows to standard output in the requested format.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::ops::ControlFlow;

use dragline_ports::row::{Cell, Column, NamedCells, Row};
use serde::Serialize;

use super::csv::{Audience, Formulas, SafeCsv};
use crate::args::Format;
use crate::terminal::{unless_closed, write_json};

/// A writer of rows.
pub(crate) struct Rows {
    to: RowSink,
    /// The column names, for the header of an empty export.
    head: Vec<String>,
    /// The first error. Nothing is written after it.
    failed: Option<io::Error>,
}

enum RowSink {
    Jsonl(BufWriter<StdoutLock<'static>>),
    Csv(Box<SafeCsv<StdoutLock<'static>>>),
}

impl Rows {
    /// Returns a writer of rows with these columns.
    pub(crate) fn new(format: Format, columns: &[Column<'_>]) -> Self {
        let out = io::stdout().lock();
        let reader = if out.is_terminal() { Audience::Person } else { Audience::Program };
        let to = match format {
            Format::Jsonl => RowSink::Jsonl(BufWriter::new(out)),
            Format::Csv => RowSink::Csv(Box::new(SafeCsv::new(out, reader))),
        };
        Self { to, head: columns.iter().map(|(name, _)| (*name).to_owned()).collect(), failed: None }
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
    pub(crate) fn write<R: Row>(&mut self, row: R) -> ControlFlow<()> {
        self.write_cells(&R::columns(), &row.cells())
    }

    /// Writes the cells of a row in these columns, and returns whether to go on.
    pub(super) fn write_cells(&mut self, columns: &[Column<'_>], cells: &[Option<Cell>]) -> ControlFlow<()> {
        let written = match &mut self.to {
            RowSink::Jsonl(out) => write_json(out, &NamedCells(columns, cells)),
            RowSink::Csv(out) => {
                out.write_head(columns.iter().map(|(name, _)| *name)).and_then(|()| out.write_cells(cells))
            }
        };
        self.record_result(written)
    }

    /// Writes a value that no row can hold as a line of JSON, and returns whether to go on.
    pub(super) fn write_json(&mut self, value: &impl Serialize) -> ControlFlow<()> {
        let written = match &mut self.to {
            RowSink::Jsonl(out) => write_json(out, value),
            RowSink::Csv(_) => Err(io::ErrorKind::Unsupported.into()),
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

    /// Flushes the buffer, and returns the first error. A closed pipe is not an error.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let flushed = match &mut self.to {
            RowSink::Jsonl(out) => out.flush(),
            RowSink::Csv(out) => out.write_head(self.head.iter().map(String::as_str)).and_then(|()| out.flush()),
        };
        unless_closed(self.failed.map_or(flushed, Err))
    }
}
