//! `dragline export --to`: the database or the directory to write to.

use std::time::Duration;

use clap::Args;
use dragline_sink::{RoleName, SchemaName, Start};

use super::values;

/// Where and how to write to a database.
#[derive(Debug, Args)]
pub(crate) struct DatabaseArgs {
    /// Write everything to a PostgreSQL database (`postgres://USER@HOST/DATABASE`, `env:NAME` or
    /// `file:PATH`) or to Parquet files in a directory, and what is new when it is run again
    /// (docs/reference/sink.md)
    #[arg(
        long,
        value_name = "PLACE",
        conflicts_with_all = ["what", "item_type", "format", "raw", "columns", "iteration"]
    )]
    pub(crate) to: Option<String>,
    /// The schema of the tables [default: dragline]
    #[arg(long, value_name = "NAME", requires = "to")]
    pub(crate) schema: Option<SchemaName>,
    /// An existing role that may read the tables, now and later
    #[arg(long, value_name = "ROLE", requires = "to")]
    pub(crate) reader: Option<RoleName>,
    /// Compare every row again instead of only what is new, and create missing tables and columns
    #[arg(long, requires = "to")]
    from_start: bool,
    /// How long to wait for a database that does not answer [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = values::duration, requires = "to")]
    wait: Option<Duration>,
}

impl DatabaseArgs {
    /// Returns whether any of them is given that only a database has.
    pub(crate) const fn are_given(&self) -> bool {
        self.schema.is_some() || self.reader.is_some() || self.from_start || self.wait.is_some()
    }

    /// Returns where to start.
    pub(crate) const fn start(&self) -> Start {
        if self.from_start { Start::FromStart } else { Start::Continue }
    }

    /// Returns how long to wait for the database.
    pub(crate) fn patience(&self) -> Duration {
        self.wait.unwrap_or(Duration::from_mins(60))
    }
}
