//! Rows with the selected columns, as lines or as a Parquet file.

use std::io::{self, BufWriter, Stdout};
use std::ops::ControlFlow;

use dragline_domain::ids::Iteration;
use dragline_ports::reader::{CandidateRow, LinkRow, LogRow, PageRow, SeenPageRow};
use dragline_ports::row::{Cell, Column, Row as _};
use dragline_report::FeedRow;
use dragline_sink::parquet::{ParquetError, RowsParquet};
use serde::Serialize;

use super::chunks::ChunkRow;
use super::{Formulas, Rows};
use crate::args::{Format, RowKind};
use crate::error::{Failure, while_writing};

/// Returns the columns of the rows: of an iteration, or of the current state. Items and documents
/// have columns of their own.
pub(super) fn columns(what: RowKind, iteration: Option<Iteration>) -> Vec<Column<'static>> {
    match what {
        RowKind::Pages if iteration.is_some() => SeenPageRow::columns(),
        RowKind::Pages => PageRow::columns(),
        RowKind::Links => LinkRow::columns(),
        RowKind::Log => LogRow::columns(),
        RowKind::Candidates => CandidateRow::columns(),
        RowKind::Chunks => ChunkRow::columns(),
        RowKind::Feeds => FeedRow::columns(),
        RowKind::Items | RowKind::Documents => Vec::new(),
    }
}

/// The selected columns of rows, in the requested order.
pub(super) struct Selection<'c> {
    pub(super) columns: Vec<Column<'c>>,
    /// Their places in a row; `None` if they are all of its columns.
    places: Option<Vec<usize>>,
}

impl<'c> Selection<'c> {
    /// Selects columns by name; all if none are named.
    pub(super) fn new(all: Vec<Column<'c>>, wanted: &[String]) -> Result<Self, Failure> {
        if wanted.is_empty() {
            return Ok(Self { columns: all, places: None });
        }
        let find = |name: &String| {
            let columns = || all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            let place = all.iter().position(|(known, _)| known == name);
            place.ok_or_else(|| {
                Failure::new(format!("the rows have no column `{name}`")).with_hint(format!("there are: {}", columns()))
            })
        };
        let places = wanted.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { columns: places.iter().map(|place| all[*place]).collect(), places: Some(places) })
    }

    fn select(&self, cells: Vec<Option<Cell>>) -> Vec<Option<Cell>> {
        match &self.places {
            Some(places) => places.iter().map(|place| cells[*place].clone()).collect(),
            None => cells,
        }
    }
}

/// The destination of rows.
pub(super) enum Table {
    /// Lines of text or JSON.
    Lines(Rows),
    /// A Parquet file on standard output, and the first error.
    Parquet(Box<RowsParquet<BufWriter<Stdout>>>, Option<ParquetError>),
}

impl Table {
    /// Begins lines with these columns.
    pub(super) fn lines(format: Format, formulas: Formulas, columns: &[Column<'_>]) -> Self {
        Self::Lines(Rows::new(format, columns).with_formulas(formulas))
    }

    /// Begins a Parquet file with these columns.
    pub(super) fn parquet(name: &str, columns: &[Column<'_>]) -> Result<Self, ParquetError> {
        Ok(Self::Parquet(Box::new(RowsParquet::new(BufWriter::new(io::stdout()), name, columns)?), None))
    }

    /// Writes the selected cells of a row, and returns whether to go on.
    pub(super) fn write(&mut self, selection: &Selection<'_>, cells: Vec<Option<Cell>>) -> ControlFlow<()> {
        let cells = selection.select(cells);
        match self {
            Self::Lines(rows) => rows.write_cells(&selection.columns, &cells),
            Self::Parquet(file, failed) => {
                *failed = file.write(cells).err();
                if failed.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            }
        }
    }

    /// Writes a value as a line of JSON, and returns whether to go on.
    pub(super) fn write_json(&mut self, value: &impl Serialize) -> ControlFlow<()> {
        match self {
            Self::Lines(rows) => rows.write_json(value),
            Self::Parquet(..) => ControlFlow::Break(()),
        }
    }

    /// Writes the buffered rows.
    pub(super) fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Lines(rows) => rows.finish().map_err(while_writing),
            Self::Parquet(file, failed) => failed.map_or_else(|| file.finish(), Err).map_err(Failure::from),
        }
    }
}
