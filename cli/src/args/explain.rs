//! `dragline explain`.

use std::path::PathBuf;

use clap::Args;
use dragline_domain::outcome::Outcome;

use super::{Answer, NetworkArgs, values};

/// Say whether a URL would be crawled, and which rule decides; or what an outcome means
#[derive(Debug, Args)]
#[command(
    long_about = "Say whether a URL would be crawled, and which rule decides; or what an outcome means.\n\n\
                  The rules are asked in the order in which a crawl asks them: scope, traps, do_not_crawl, query parameters, \
                  private addresses, robots.txt. Unless a robots.txt is given as a file, the site's own is fetched.",
    after_help = "\
Examples:
  dragline explain https://example.org/private/page
  dragline explain https://example.org/search?q=a --spec crawl.yaml
  dragline explain https://example.org/a --robots-file robots.txt     no network needed
  dragline explain --outcome 173
  dragline explain --outcome blocked_by_robots_txt --json"
)]
pub(crate) struct ExplainArgs {
    /// The URL to ask about
    #[arg(required_unless_present = "outcome")]
    pub(crate) url: Option<String>,
    /// Say instead what an outcome means, by its number or its name
    #[arg(long, value_name = "CODE|NAME", value_parser = values::outcome, allow_negative_numbers = true, conflicts_with_all = ["url", "spec", "robots_file", "user_agent", "ca_file", "allow_private"])]
    pub(crate) outcome: Option<Outcome>,
    /// The definition to go by. Left out: a crawl of this URL with every default
    #[arg(long, value_name = "crawl.yaml")]
    pub(crate) spec: Option<PathBuf>,
    /// Take this file for the site's robots.txt
    #[arg(long, value_name = "FILE")]
    pub(crate) robots_file: Option<PathBuf>,
    /// Print it as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
}

impl ExplainArgs {
    /// How the answer is given.
    pub(crate) const fn answer(&self) -> Answer {
        Answer::of(self.json)
    }
}
