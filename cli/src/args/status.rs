//! `dragline status`.

use clap::Args;

use super::{Answer, OfArgs};

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
