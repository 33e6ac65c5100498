//! `dragline status`.

use clap::Args;

use super::{Answer, OfArgs};

/// Say how far a crawl is and how it went
#[derive(Debug, Args)]
#[command(
    long_about = "Say how far a crawl is and how it went. Works while it runs.",
    after_help = "\
Examples:
  dragline status
  dragline status --data example-data --json"
)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) of: OfArgs,
    /// Print it as one JSON object
    #[arg(long)]
    json: bool,
}

impl StatusArgs {
    /// How the answer is given.
    pub(crate) const fn answer(&self) -> Answer {
        Answer::of(self.json)
    }
}
