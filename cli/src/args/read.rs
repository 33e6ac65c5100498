//! `dragline status` and `dragline export`, and which crawl they read.

use clap::{Args, ValueEnum};
#[cfg(feature = "stack")]
use dragline_domain::ids::CrawlId;

#[cfg(feature = "stack")]
use super::StackArgs;
use super::{Answer, DataArgs};
#[cfg(feature = "stack")]
use crate::stack::DeployedError;

/// Show how far a crawl is and how it went
#[derive(Debug, Args)]
#[command(
    long_about = "Show how far a crawl is and how it went. This works while the crawl is running.",
    after_help = "\
Examples:
  dragline status
  dragline status --data example-data --json"
)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) of: OfArgs,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

impl StatusArgs {
    /// Returns the form of the answer.
    pub(crate) const fn answer(&self) -> Answer {
        Answer::of(self.json)
    }
}

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
    /// The iteration to read, counted from 1 [default: pages and links as they are now, the log of the latest]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) iteration: Option<u32>,
}

/// The rows to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// One row per page of the site as it is now: title, text, when it was checked and changed, and where its body is stored;
    /// with `--iteration`, one row per answer that the iteration got
    Pages,
    /// One row per link of those pages
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

/// The crawl to read: the one in a data directory or, if a name is given, one of a deployed stack.
#[derive(Debug, Args)]
pub(crate) struct OfArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[cfg(feature = "stack")]
    #[command(flatten)]
    deployed: DeployedArgs,
}

#[cfg(feature = "stack")]
impl OfArgs {
    /// Returns the deployed crawl to read and its stack; `None` for the crawl in the data directory.
    ///
    /// # Errors
    /// A stack is named, but no crawl.
    pub(crate) fn deployed(&self) -> Result<Option<(&CrawlId, &StackArgs)>, DeployedError> {
        let DeployedArgs { crawl, stack } = &self.deployed;
        match crawl {
            Some(crawl) => Ok(Some((crawl, stack))),
            None => stack.given().map_or(Ok(None), |stack| Err(DeployedError::WhichCrawl(stack.clone()))),
        }
    }
}

/// A crawl of a deployed stack.
#[cfg(feature = "stack")]
#[derive(Debug, Args)]
#[group(skip)]
struct DeployedArgs {
    /// The name of a deployed crawl [default: the crawl in the data directory]
    #[arg(value_name = "CRAWL", conflicts_with = "data")]
    crawl: Option<CrawlId>,
    #[command(flatten)]
    stack: StackArgs,
}
