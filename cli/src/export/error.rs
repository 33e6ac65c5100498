//! Why rows cannot be written in the way that was asked for.

use std::collections::BTreeSet;

use crate::args::ExportFormat;

/// Why rows cannot be written in the way that was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportError {
    /// Items of several types have no columns in common.
    #[error("a table of items is of one type: add `--type`")]
    NoType {
        /// The types that there are, or some of them.
        types: BTreeSet<String>,
    },
    /// The format does not fit the rows.
    #[error("{what} cannot be written as {format}")]
    Format {
        /// What the rows are.
        what: &'static str,
        /// The format.
        format: ExportFormat,
    },
    /// A graph is of the site as it is now.
    #[error("a graph is of the site as it is now: leave out `--iteration`")]
    GraphOfIteration,
    /// The rows have no such column.
    #[error("the rows have no column `{name}`")]
    NoColumn {
        /// What was asked for.
        name: String,
        /// The columns that there are.
        columns: Vec<String>,
    },
    /// Documents and graphs have no columns.
    #[error("`--columns` is for pages, links, log, candidates and items as rows")]
    ColumnsOfOthers,
    /// Only items have a type.
    #[error("only items have a type: leave out `--type`, or add `--what items`")]
    TypeOfOthers,
    /// A terminal cannot show the format.
    #[error("a Parquet file is not text, which a terminal could not show")]
    NotText,
    /// The file cannot be made.
    #[error("the Parquet file cannot be written: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
}

impl ExportError {
    /// Returns what to do about it; `None` if the message is enough.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::NoType { types } if types.is_empty() => Some("this crawl has no items so far".to_owned()),
            Self::NoType { types } => {
                let types: Vec<&str> = types.iter().map(String::as_str).collect();
                Some(format!("there are: {}", types.join(", ")))
            }
            Self::Format { .. } => Some("leave out `--format`: JSON lines hold everything".to_owned()),
            Self::NotText => Some("write it to a file: add `> FILE`".to_owned()),
            Self::NoColumn { columns, .. } => Some(format!("there are: {}", columns.join(", "))),
            Self::GraphOfIteration | Self::ColumnsOfOthers | Self::TypeOfOthers | Self::Parquet(_) => None,
        }
    }
}
