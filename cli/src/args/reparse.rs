//! `dragline reparse`.

use std::path::PathBuf;

use clap::Args;
use dragline_domain::definition::Condition;
use dragline_domain::frontier::Selection;
use dragline_domain::ids::CrawlId;

use super::crawl::Progress;
use super::{CrawlArgs, DATA, values};
use crate::terminal::{Form, Verbosity};

/// Make the documents again from the stored bodies, without a request
#[derive(Debug, Args)]
#[command(
    long_about = "Make the documents again from the stored bodies, without a request: after an update of Dragline that reads pages better, or after a change \
                  of `strip_query_parameters`.\n\n\
                  Each page that is shown gets its title, text and links anew, from the body of its last visit. What is found and was not followed before \
                  is followed by the next crawl. The same command again gives the same documents. It may be interrupted; then the same command goes on.",
    after_help = "\
Examples:
  dragline reparse
  dragline reparse --where 'path: { prefix: /archive/ }'
  dragline reparse --where 'any: [{ host: { equals: docs.example.org } }, { url: { regex: \"\\?id=\" } }]'"
)]
pub(crate) struct ReparseArgs {
    /// Only for URLs for which this condition holds, written as under `when` in a definition (docs/definition.md)
    #[arg(long = "where", value_name = "CONDITION", value_parser = values::condition)]
    condition: Option<Condition>,
    /// The directory where crawls are stored
    #[arg(long, value_name = "DIR", default_value = DATA)]
    data: PathBuf,
    /// The crawl, if the directory holds several
    #[arg(long, value_name = "NAME")]
    crawl: Option<CrawlId>,
    /// Print the summary to standard output as one JSON object
    #[arg(long)]
    json: bool,
    /// Print errors only
    #[arg(long, short, conflicts_with = "progress")]
    quiet: bool,
    /// How to report progress on standard error
    #[arg(long, value_name = "FORM", default_value = "auto")]
    progress: Progress,
}

impl ReparseArgs {
    /// Returns the arguments of the run, which is like that of a crawl.
    pub(crate) fn as_crawl(&self) -> CrawlArgs {
        let selection = Selection::of(self.condition.clone());
        let (data, crawl) = (self.data.clone(), self.crawl.clone());
        CrawlArgs::to_reparse(data, crawl, selection, self.json, self.quiet, self.progress)
    }

    /// Returns how much to print.
    pub(crate) fn verbosity(&self, verbose: u8) -> Verbosity {
        self.as_crawl().verbosity(verbose)
    }

    /// Returns the form of what is printed on standard error.
    pub(crate) fn form(&self) -> Form {
        self.as_crawl().form()
    }
}
