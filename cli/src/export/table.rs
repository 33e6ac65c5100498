//! Rows with the selected columns, as lines or as a Parquet file.

use std::io::{self, BufWriter, Stdout};
use std::ops::ControlFlow;

use dragline_domain::ids::Iteration;
use dragline_domain::item::Cell;
use dragline_ports::reader::{CandidateRow, FieldType, LinkRow, LogRow, PageRow, SeenPageRow};
use dragline_report::FeedRow;
use parquet::errors::ParquetError;
use serde::Serialize;
use serde_json::Value;

use super::Rows;
use super::chunks::ChunkRow;
use super::items::ColumnKind;
use super::parquet::RowsParquet;
use crate::args::RowKind;
use crate::error::{Failure, while_writing};

/// A column: its name, and the type of its values.
pub(super) type Column<'c> = (&'c str, ColumnKind);

/// Returns the columns of the rows: of an iteration, or of the current state. Items and documents
/// have columns of their own.
pub(super) fn columns(what: RowKind, iteration: Option<Iteration>) -> Vec<Column<'static>> {
    let fields: Vec<(&'static str, FieldType)> = match what {
        RowKind::Pages if iteration.is_some() => SeenPageRow::typed_fields().collect(),
        RowKind::Pages => PageRow::typed_fields().collect(),
        RowKind::Links => LinkRow::typed_fields().collect(),
        RowKind::Log => LogRow::typed_fields().collect(),
        RowKind::Candidates => CandidateRow::typed_fields().collect(),
        RowKind::Chunks => ChunkRow::typed_fields().collect(),
        RowKind::Feeds => FeedRow::typed_fields().into(),
        RowKind::Items | RowKind::Documents => Vec::new(),
    };
    let kind = |holds| match holds {
        FieldType::Text => ColumnKind::Text,
        FieldType::Integer => ColumnKind::Integer,
        FieldType::Bool => ColumnKind::Bool,
        FieldType::Instant => ColumnKind::Instant,
    };
    fields.into_iter().map(|(name, holds)| (name, kind(holds))).collect()
}

/// Returns the selected columns, in the requested order; all if none are selected.
pub(super) fn select_columns<'c>(all: Vec<Column<'c>>, wanted: &[String]) -> Result<Vec<Column<'c>>, Failure> {
    if wanted.is_empty() {
        return Ok(all);
    }
    let find = |name: &String| {
        let known = all.iter().find(|(known, _)| known == name).copied();
        let columns = || all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        known.ok_or_else(|| {
            Failure::new(format!("the rows have no column `{name}`")).with_hint(format!("there are: {}", columns()))
        })
    };
    wanted.iter().map(find).collect()
}

/// The destination of rows.
pub(super) enum Table {
    /// Lines with all columns.
    Whole(Rows),
    /// Lines with these columns.
    Picked(Rows, Vec<Column<'static>>),
    /// A Parquet file.
    Parquet(Box<ParquetTable>),
}

/// A Parquet file on standard output.
pub(super) struct ParquetTable {
    file: RowsParquet<BufWriter<Stdout>>,
    columns: Vec<Column<'static>>,
    failed: Option<ParquetError>,
}

impl Table {
    /// Begins a Parquet file with these columns.
    pub(super) fn parquet(name: &str, columns: Vec<Column<'static>>) -> Result<Self, ParquetError> {
        let file = RowsParquet::new(BufWriter::new(io::stdout()), name, &columns)?;
        Ok(Self::Parquet(Box::new(ParquetTable { file, columns, failed: None })))
    }

    /// Writes a row, and returns whether to go on.
    pub(super) fn write(&mut self, row: &impl Serialize) -> ControlFlow<()> {
        match self {
            Self::Whole(rows) => rows.write(row),
            Self::Picked(rows, columns) => rows.write_cells(columns, &cells(row, columns)),
            Self::Parquet(table) => match table.file.write(cells(row, &table.columns)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    table.failed = Some(error);
                    ControlFlow::Break(())
                }
            },
        }
    }

    /// Writes the buffered rows.
    pub(super) fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Whole(rows) | Self::Picked(rows, _) => rows.finish().map_err(while_writing),
            Self::Parquet(table) => {
                let ParquetTable { file, failed, .. } = *table;
                failed.map_or_else(|| file.finish(), Err).map_err(Failure::from)
            }
        }
    }
}

/// Returns the cells of a row in these columns.
fn cells(row: &impl Serialize, columns: &[Column<'_>]) -> Vec<Option<Cell>> {
    // Rows are structs of plain values, which always serialise to JSON.
    let row = serde_json::to_value(row).unwrap_or_default();
    let cell = |(name, _): &Column<'_>| match row.get(name)? {
        Value::String(text) => Some(Cell::Text(text.clone())),
        Value::Number(number) => Some(Cell::Number(number.clone())),
        Value::Bool(yes) => Some(Cell::Bool(*yes)),
        Value::Null => None,
        other => Some(Cell::Text(other.to_string())),
    };
    columns.iter().map(cell).collect()
}
