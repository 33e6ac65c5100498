//! Rows as Parquet files: single ones, and the partitions of a directory.

mod kinds;
mod partition;
mod partitions;
mod rows;
mod times;

pub use kinds::{ItemColumns, item_cells};
pub use parquet::errors::ParquetError;
pub use partitions::write_parquet;
pub use rows::RowsParquet;
