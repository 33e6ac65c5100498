//! Where results are written besides the data directory.

use clap::Args;

/// Where results are written besides the data directory, and where definitions say.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct SinkArgs {
    /// Keep the results of every crawl up to date there, too: a PostgreSQL database
    /// (`postgres://USER@HOST/DATABASE`, `env:NAME` or `file:PATH`), or a directory for Parquet
    /// files (docs/reference/sink.md)
    #[arg(long = "sink", value_name = "PLACE")]
    pub(crate) places: Vec<String>,
}
