//! Rows as a Parquet file.

use std::io::Write;
use std::sync::Arc;

use dragline_domain::item::{COMMON, Cell};
use dragline_report::ItemRow;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::items::{Columns, Kind};
use super::table::Column;

/// How many rows are held in memory and written together.
const GROUP_ROWS: usize = 2_000;

/// How many bytes of texts are held in memory, at most, before they are written.
const GROUP_BYTES: usize = 16 << 20;

/// Writes rows of cells in groups.
pub(super) struct RowsParquet<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: usize,
    rows: Vec<Vec<Option<Cell>>>,
    bytes: usize,
}

impl<W: Write + Send> RowsParquet<W> {
    /// Begins a file with these columns. The name of its rows is for people.
    pub(super) fn new(out: W, name: &str, columns: &[Column<'_>]) -> Result<Self> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = SerializedFileWriter::new(out, schema(name, columns)?, Arc::new(properties))?;
        Ok(Self { file, columns: columns.len(), rows: Vec::new(), bytes: 0 })
    }

    /// Adds a row with a cell for each column.
    pub(super) fn write(&mut self, row: Vec<Option<Cell>>) -> Result<()> {
        let text = |cell: &Cell| if let Cell::Text(text) = cell { text.len() } else { 0 };
        self.bytes += row.iter().flatten().map(text).sum::<usize>();
        self.rows.push(row);
        if self.rows.len() >= GROUP_ROWS || self.bytes >= GROUP_BYTES { self.write_group() } else { Ok(()) }
    }

    /// Writes what is left, and the end of the file.
    pub(super) fn finish(mut self) -> Result<()> {
        self.write_group()?;
        self.file.close().map(drop)
    }

    fn write_group(&mut self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let mut group = self.file.next_row_group()?;
        for place in 0..self.columns {
            write_column(&mut group, rows.iter().map(|row| row.get(place).and_then(Option::as_ref)))?;
        }
        group.close().map(drop)
    }
}

/// The columns of items of one type.
pub(super) fn of_items(columns: &Columns) -> Vec<Column<'_>> {
    let common = COMMON
        .into_iter()
        .map(|name| (name, if matches!(name, "iteration" | "n") { Kind::Number } else { Kind::Text }));
    common.chain(columns.iter().map(|(name, kind)| (name.as_str(), *kind))).collect()
}

/// The cells of an item in these columns.
pub(super) fn cells(item: &ItemRow, columns: &[Column<'_>]) -> Vec<Option<Cell>> {
    let common = item.common();
    let cell = |(name, _): &Column<'_>| match COMMON.iter().position(|known| known == name) {
        Some(place) => common[place].clone(),
        None => item.cell(name).cloned(),
    };
    columns.iter().map(cell).collect()
}

/// Describes the columns: each value may be missing.
fn schema(name: &str, columns: &[Column<'_>]) -> Result<TypePtr> {
    let field = |(name, kind): &Column<'_>| {
        let builder = match kind {
            Kind::Bool => Type::primitive_type_builder(name, PhysicalType::BOOLEAN),
            Kind::Integer => Type::primitive_type_builder(name, PhysicalType::INT64),
            Kind::Number => Type::primitive_type_builder(name, PhysicalType::DOUBLE),
            Kind::Text => Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String)),
        };
        builder.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(Type::group_type_builder(name).with_fields(fields).build()?))
}

/// Writes the next column of a group of rows.
fn write_column<'c, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: impl Iterator<Item = Option<&'c Cell>> + Clone,
) -> Result<()> {
    let mut column = group.next_column()?.ok_or_else(|| ParquetError::General("a column too many".to_owned()))?;
    let levels: Vec<i16> = cells.clone().map(|cell| i16::from(cell.is_some())).collect();
    let cells = cells.flatten();
    match column.untyped() {
        ColumnWriter::BoolColumnWriter(writer) => {
            let values: Vec<bool> = cells.map(|cell| matches!(cell, Cell::Bool(true))).collect();
            writer.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::Int64ColumnWriter(writer) => {
            // Numbers of rows are counts, sizes and times: none is as large as half of all numbers of 64 bits.
            let number = |cell: &Cell| if let Cell::Number(number) = cell { number.as_i64() } else { None };
            let values: Vec<i64> = cells.map(|cell| number(cell).unwrap_or(i64::MAX)).collect();
            writer.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::DoubleColumnWriter(writer) => {
            let number = |cell: &Cell| match cell {
                Cell::Number(number) => number.as_f64(),
                Cell::Bool(_) | Cell::Text(_) => None,
            };
            let values: Vec<f64> = cells.map(|cell| number(cell).unwrap_or(f64::NAN)).collect();
            writer.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            let values: Vec<ByteArray> = cells.map(|cell| ByteArray::from(cell.to_string().into_bytes())).collect();
            writer.write_batch(&values, Some(&levels), None)?;
        }
        _ => return Err(ParquetError::General("a column of another type".to_owned())),
    }
    column.close()
}
