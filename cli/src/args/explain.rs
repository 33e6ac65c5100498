//! `dragline explain`.

use std::path::PathBuf;

use clap::Args;
use dragline_domain::ids::CrawlId;
use dragline_domain::outcome::Outcome;
use dragline_local::DATABASE;

#[cfg(feature = "stack")]
use super::StackName;
use super::read::CrawlSource;
use super::{Answer, NetworkArgs, data_directory, values};
use crate::error::Failure;

/// Explain whether a URL would be crawled and why, or what an outcome means
#[derive(Debug, Args)]
#[command(
    long_about = "Explain whether a URL would be crawled and why, or what an outcome means.\n\n\
                  The rules are applied in the same order as in a crawl: scope, traps, do_not_crawl, query parameters, \
                  private addresses, robots.txt. The site's robots.txt is fetched, unless --robots-file names a file to use instead.\n\n\
                  In a directory with a data directory, the rules are those of the crawl there, and what became of the URL in it is told, too: when it was \
                  last visited and how that ended, or why it was not, and when it is due again. Elsewhere, or with -f, the answer is that for a new crawl.",
    after_help = "\
Examples:
  dragline explain https://example.org/private/page
  dragline explain https://example.org/private/page --crawl docs
  dragline explain https://example.org/search?q=a -f crawl.yaml
  dragline explain https://example.org/a --robots-file robots.txt     no network needed
  dragline explain --outcome 173
  dragline explain --outcome blocked_by_robots_txt --json"
)]
pub(crate) struct ExplainArgs {
    /// The URL to explain
    #[arg(required_unless_present = "outcome")]
    pub(crate) url: Option<String>,
    /// Explain an outcome instead, given its number or name
    #[arg(long, value_name = "CODE|NAME", value_parser = values::outcome, allow_negative_numbers = true, conflicts_with_all = ["url", "definition", "data", "crawl", "robots_file", "user_agent", "ca_file", "allow_private"])]
    pub(crate) outcome: Option<Outcome>,
    /// The definition of a new crawl whose rules apply [default: that of the stored crawl; without
    /// one, a crawl of this site with default settings]
    #[arg(long, short = 'f', value_name = "crawl.yaml", conflicts_with_all = ["data", "crawl"])]
    pub(crate) definition: Option<PathBuf>,
    /// The directory where crawls are stored [default: `$DRAGLINE_DATA`, or dragline-data, if it is
    /// there]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The crawl, if there are several
    #[arg(long, value_name = "NAME")]
    crawl: Option<CrawlId>,
    /// A crawl of this deployed stack, which `--crawl` names
    #[cfg(feature = "stack")]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["data", "definition"], help_heading = "Deployed stack")]
    stack: Option<StackName>,
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
    /// Returns the crawl whose rules apply; `None` if it is a new one.
    ///
    /// # Errors
    /// A stack is named, but no crawl.
    #[cfg_attr(not(feature = "stack"), expect(clippy::unnecessary_wraps, reason = "only a stack may lack a crawl"))]
    pub(crate) fn which(&self) -> Result<Option<CrawlSource<'_>>, Failure> {
        #[cfg(feature = "stack")]
        if let Some(stack) = &self.stack {
            let crawl = self.crawl.as_ref().ok_or_else(|| stack.which_crawl_error())?;
            return Ok(Some(CrawlSource::Stack { crawl, stack: stack.clone() }));
        }
        let (data, crawl) = (self.data.as_deref(), self.crawl.as_ref());
        let is_named = data.is_some() || crawl.is_some();
        let data = data_directory(data);
        let is_meant = is_named || self.definition.is_none() && data.join(DATABASE).is_file();
        Ok(is_meant.then_some(CrawlSource::Directory { data: data.into(), crawl }))
    }

    /// Returns the form of the answer.
    pub(crate) const fn answer(&self) -> Answer {
        Answer::from_flag(self.json)
    }
}
