//! `dragline export`.

use clap::{Args, ValueEnum};

use super::OfArgs;

/// Write pages, links, the log or the known URLs to standard output
#[derive(Debug, Args)]
#[command(
    long_about = "Write pages, links, the log or the known URLs to standard output, row by row. This works while a crawl is running.\n\n\
                  In CSV, text that a spreadsheet would run as a formula is prefixed with `'`; JSON lines are not changed. \
                  On a terminal, control characters are escaped; in files and pipes they are kept.",
    after_help = "\
Examples:
  dragline export --what pages > pages.jsonl
  dragline export --what links --format csv --iteration 2 > links.csv
  dragline export --what log | jq -r 'select(.outcome_name == \"file_not_found\") | .url'"
)]
pub(crate) struct ExportArgs {
    /// Which rows to write
    #[arg(long)]
    pub(crate) what: What,
    /// The format of the rows
    #[arg(long, default_value = "jsonl")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) of: OfArgs,
    /// The iteration to read, counted from 1 [default: the latest]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) iteration: Option<u32>,
}

/// The rows to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// One row per fetched page: title, text, and where its body is stored
    Pages,
    /// One row per link
    Links,
    /// One row per visit, and per URL that was not visited, with the outcome
    Log,
    /// One row per known URL, with its state for the next crawl; covers all iterations
    Candidates,
}

/// The format of exported rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object per line
    Jsonl,
    /// Comma-separated values with a header line (RFC 4180)
    Csv,
}
