//! Rows as a Parquet file.

use std::io::Write;
use std::sync::Arc;

use dragline_ports::row::{Cell, Column, ColumnKind};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::times;

/// The number of rows per row group, which is buffered.
const GROUP_ROWS: usize = 2_000;

/// The maximum number of buffered bytes of text.
const GROUP_BYTES: usize = 16 << 20;

/// Writes rows of cells in groups.
pub struct RowsParquet<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<ColumnKind>,
    rows: Vec<Vec<Option<Cell>>>,
    bytes: usize,
}

impl<W: Write + Send> RowsParquet<W> {
    /// Begins a file with these columns. `name` labels the rows for people.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(out: W, name: &str, columns: &[Column<'_>]) -> Result<Self> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = SerializedFileWriter::new(out, schema(name, columns)?, Arc::new(properties))?;
        Ok(Self { file, columns: columns.iter().map(|(_, kind)| *kind).collect(), rows: Vec::new(), bytes: 0 })
    }

    /// Adds a row with a cell for each column.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, row: Vec<Option<Cell>>) -> Result<()> {
        let text = |cell: &Cell| if let Cell::Text(text) = cell { text.len() } else { 0 };
        self.bytes += row.iter().flatten().map(text).sum::<usize>();
        self.rows.push(row);
        if self.rows.len() >= GROUP_ROWS || self.bytes >= GROUP_BYTES { self.write_group() } else { Ok(()) }
    }

    /// Writes the buffered rows and the footer.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<()> {
        self.into_inner().map(drop)
    }

    /// Writes the buffered rows and the footer, and returns what it wrote to.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn into_inner(mut self) -> Result<W> {
        self.write_group()?;
        self.file.into_inner()
    }

    /// Returns how many bytes of text are buffered.
    #[must_use]
    pub const fn buffered_bytes(&self) -> usize {
        self.bytes
    }

    /// Writes the buffered rows as a group.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_group(&mut self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let mut group = self.file.next_row_group()?;
        for (place, kind) in self.columns.iter().enumerate() {
            write_column(&mut group, *kind, rows.iter().map(|row| row.get(place).and_then(Option::as_ref)))?;
        }
        group.close().map(drop)
    }
}

/// Returns the schema of the columns. All values are optional.
fn schema(name: &str, columns: &[Column<'_>]) -> Result<TypePtr> {
    let field = |(name, kind): &Column<'_>| {
        let builder = match kind {
            ColumnKind::Bool => Type::primitive_type_builder(name, PhysicalType::BOOLEAN),
            ColumnKind::Integer => Type::primitive_type_builder(name, PhysicalType::INT64),
            ColumnKind::Number => Type::primitive_type_builder(name, PhysicalType::DOUBLE),
            ColumnKind::Day => {
                Type::primitive_type_builder(name, PhysicalType::INT32).with_logical_type(Some(LogicalType::Date))
            }
            ColumnKind::Instant => Type::primitive_type_builder(name, PhysicalType::INT64)
                .with_logical_type(Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
            ColumnKind::Text => Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String)),
        };
        builder.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(Type::group_type_builder(name).with_fields(fields).build()?))
}

/// Writes the next column of a row group. Values that the column cannot hold become null.
fn write_column<'c, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    kind: ColumnKind,
    cells: impl Iterator<Item = Option<&'c Cell>>,
) -> Result<()> {
    let mut column = group.next_column()?.ok_or_else(|| ParquetError::General("a column too many".to_owned()))?;
    let text = |cell: &'c Cell| if let Cell::Text(text) = cell { Some(text.as_str()) } else { None };
    let number = |cell: &'c Cell| if let Cell::Number(number) = cell { Some(number) } else { None };
    match column.untyped() {
        ColumnWriter::BoolColumnWriter(writer) => {
            write_values(writer, cells.map(|cell| cell.map(|cell| matches!(cell, Cell::Bool(true)))))?;
        }
        ColumnWriter::Int32ColumnWriter(writer) => {
            write_values(writer, cells.map(|cell| times::days(text(cell?)?)))?;
        }
        ColumnWriter::Int64ColumnWriter(writer) => {
            write_values(
                writer,
                cells.map(|cell| match kind {
                    ColumnKind::Instant => times::micros(text(cell?)?),
                    _ => number(cell?)?.as_i64(),
                }),
            )?;
        }
        ColumnWriter::DoubleColumnWriter(writer) => {
            write_values(writer, cells.map(|cell| number(cell?)?.as_f64()))?;
        }
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            write_values(writer, cells.map(|cell| Some(ByteArray::from(cell?.to_string().into_bytes()))))?;
        }
        _ => return Err(ParquetError::General("a column of another type".to_owned())),
    }
    column.close()
}

/// Writes optional values.
fn write_values<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<()> {
    let (mut levels, mut present) = (Vec::new(), Vec::new());
    for value in values {
        levels.push(i16::from(value.is_some()));
        present.extend(value);
    }
    writer.write_batch(&present, Some(&levels), None).map(drop)
}
