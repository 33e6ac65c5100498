//! `dragline explain`.

use std::path::PathBuf;

use clap::Args;
use dragline_domain::outcome::Outcome;

use super::{Answer, NetworkArgs, values};

/// Explain whether a URL would be crawled and why, or what an outcome means
#[derive(Debug, Args)]
#[command(
    long_about = "Explain whether a URL would be crawled and why, or what an outcome means.\n\n\
                  The rules are applied in the same order as in a crawl: scope, traps, do_not_crawl, query parameters, \
                  private addresses, robots.txt. The site's robots.txt is fetched, unless --robots-file names a file to use instead.",
    after_help = "\
Examples:
  dragline explain https://example.org/private/page
  dragline explain https://example.org/search?q=a --spec crawl.yaml
  dragline explain https://example.org/a --robots-file robots.txt     no network needed
  dragline explain --outcome 173
  dragline explain --outcome blocked_by_robots_txt --json"
)]
pub(crate) struct ExplainArgs {
    /// The URL to explain
    #[arg(required_unless_present = "outcome")]
    pub(crate) url: Option<String>,
    /// Explain an outcome instead, given its number or name
    #[arg(long, value_name = "CODE|NAME", value_parser = values::outcome, allow_negative_numbers = true, conflicts_with_all = ["url", "spec", "robots_file", "user_agent", "ca_file", "allow_private"])]
    pub(crate) outcome: Option<Outcome>,
    /// The definition whose rules apply [default: a crawl of this site with default settings]
    #[arg(long, value_name = "crawl.yaml")]
    pub(crate) spec: Option<PathBuf>,
    /// Use this file as the site's robots.txt
    #[arg(long, value_name = "FILE")]
    pub(crate) robots_file: Option<PathBuf>,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
}

impl ExplainArgs {
    /// Returns the form of the answer.
    pub(crate) const fn answer(&self) -> Answer {
        Answer::of(self.json)
    }
}
