//! `dragline export`.

use clap::{Args, ValueEnum};

use super::OfArgs;

/// Write pages, links, the log or the known URLs to standard output
#[derive(Debug, Args)]
#[command(
    long_about = "Write pages, links, the log or the known URLs to standard output, row by row. Works while a crawl runs.\n\n\
                  In CSV, texts that a spreadsheet would take for a formula get a `'` before them; JSON lines are left as they are. \
                  On a terminal, control characters are shown escaped; in files and pipes they are data.",
    after_help = "\
Examples:
  dragline export --what pages > pages.jsonl
  dragline export --what links --format csv --iteration 2 > links.csv
  dragline export --what log | jq -r 'select(.outcome_name == \"file_not_found\") | .url'"
)]
pub(crate) struct ExportArgs {
    /// Which rows
    #[arg(long)]
    pub(crate) what: What,
    /// In which form
    #[arg(long, default_value = "jsonl")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) of: OfArgs,
    /// Of which iteration, counted from 1 [default: the latest]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) iteration: Option<u32>,
}

/// Which rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// One row a page that was fetched: title, text, where its body is
    Pages,
    /// One row a link
    Links,
    /// One row a visit, or a URL that was not visited, with the outcome
    Log,
    /// One row a known URL, with what the next crawl must know; of all iterations together
    Candidates,
}

/// In which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values with a head line (RFC 4180)
    Csv,
}
