//! Items as a Parquet file.

use std::io::Write;
use std::sync::Arc;

use dragline_domain::item::{COMMON, Cell};
use dragline_report::ItemRow;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use super::items::{Columns, Kind};

/// How many rows are held in memory and written together.
const GROUP_ROWS: usize = 2_000;

/// Writes items in groups of rows.
pub(super) struct ItemsParquet<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Columns,
    rows: Vec<ItemRow>,
}

impl<W: Write + Send> ItemsParquet<W> {
    /// Begins a file with these columns after the common ones.
    pub(super) fn new(out: W, columns: Columns) -> Result<Self> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = SerializedFileWriter::new(out, schema(&columns)?, Arc::new(properties))?;
        Ok(Self { file, columns, rows: Vec::new() })
    }

    /// Adds a row.
    pub(super) fn write(&mut self, row: ItemRow) -> Result<()> {
        self.rows.push(row);
        if self.rows.len() >= GROUP_ROWS { self.write_group() } else { Ok(()) }
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
        let mut group = self.file.next_row_group()?;
        for place in 0..COMMON.len() {
            let cells: Vec<Option<Cell>> = rows.iter().map(|row| row.common()[place].clone()).collect();
            write_column(&mut group, cells.iter().map(Option::as_ref))?;
        }
        for name in self.columns.keys() {
            write_column(&mut group, rows.iter().map(|row| row.cell(name)))?;
        }
        group.close().map(drop)
    }
}

/// Describes the columns: each value may be missing.
fn schema(columns: &Columns) -> Result<TypePtr> {
    let common = COMMON
        .into_iter()
        .map(|name| (name, if matches!(name, "iteration" | "n") { Kind::Number } else { Kind::Text }));
    let of_type = columns.iter().map(|(name, kind)| (name.as_str(), *kind));
    let field = |(name, kind): (&str, Kind)| {
        let builder = match kind {
            Kind::Bool => Type::primitive_type_builder(name, PhysicalType::BOOLEAN),
            Kind::Number => Type::primitive_type_builder(name, PhysicalType::DOUBLE),
            Kind::Text => Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String)),
        };
        builder.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    };
    let fields = common.chain(of_type).map(field).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(Type::group_type_builder("item").with_fields(fields).build()?))
}

/// Writes the next column of a group of rows.
fn write_column<'c, W: Write + Send>(
    group: &mut parquet::file::writer::SerializedRowGroupWriter<'_, W>,
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
