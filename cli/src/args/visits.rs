//! `dragline history`: what is stored of the visits of one URL.

use clap::Args;

#[cfg(feature = "stack")]
use super::StackName;
use super::read::{Format, Of, StoredArgs};
use crate::error::CliError;

/// Show every visit of a URL, over all iterations
#[derive(Debug, Args)]
#[command(
    long_about = "Show every visit of a URL, over all iterations, the oldest first. This works while a crawl is running.\n\n\
                  Each has its iteration, time, outcome, status, body size and detail, whether the outcome was final for the iteration, and where \
                  the WARC record with the answer is: the object, the offset in it and the length, in bytes. A URL that was found, but not requested, \
                  is listed with the reason.",
    after_help = "\
Examples:
  dragline history https://example.org/news
  dragline history https://example.org/news --crawl docs
  dragline history https://example.org/news --format csv > visits.csv"
)]
pub(crate) struct HistoryArgs {
    /// The URL, as the crawl knows it
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) of: VisitedArgs,
    /// The format of the visits [default: a table]
    #[arg(long)]
    pub(crate) format: Option<Format>,
}

/// The crawl that visited a URL: one in a data directory or, if a stack is named, one of that.
#[derive(Debug, Args)]
pub(crate) struct VisitedArgs {
    #[command(flatten)]
    stored: StoredArgs,
    /// Read a crawl of this deployed stack, which `--crawl` names
    #[cfg(feature = "stack")]
    #[arg(long, value_name = "NAME", help_heading = "Deployed stack")]
    stack: Option<StackName>,
}

impl VisitedArgs {
    /// Returns the crawl to read.
    ///
    /// # Errors
    /// A stack is named, but no crawl.
    #[cfg_attr(not(feature = "stack"), expect(clippy::unnecessary_wraps, reason = "only a stack may lack a crawl"))]
    pub(crate) fn which(&self) -> Result<Of<'_>, CliError> {
        #[cfg(feature = "stack")]
        if let Some(stack) = &self.stack {
            return self.stored.of_stack(stack);
        }
        Ok(self.stored.of_directory())
    }
}
