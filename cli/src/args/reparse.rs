//! `dragline reparse`.

use std::path::Path;

use clap::Args;
use dragline_domain::definition::Condition;
use dragline_domain::frontier::Selection;
use dragline_domain::ids::CrawlId;

use super::crawl::OutputArgs;
use super::read::OfArgs;
use super::{CrawlArgs, values};

/// Make the documents again from the stored bodies, without a request
#[derive(Debug, Args)]
#[command(
    long_about = "Make the documents again from the stored bodies, without a request: after an update of Dragline that reads pages better, or after a change \
                  of `strip_query_parameters`.\n\n\
                  Each page that is shown gets its title, text and links anew, from the body of its last visit. What is found and was not followed before \
                  is followed by the next crawl. The same command again gives the same documents. It may be interrupted; then the same command goes on. On a stack, a message begins it.",
    after_help = "\
Examples:
  dragline reparse
  dragline reparse --where 'path: {prefix: /archive/}'"
)]
pub(crate) struct ReparseArgs {
    /// Only for URLs for which this condition holds, written as under `when` in a definition (docs/definition.md)
    #[arg(long = "where", value_name = "CONDITION", value_parser = values::condition)]
    condition: Option<Condition>,
    #[command(flatten)]
    pub(crate) of: OfArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl ReparseArgs {
    /// Returns which documents are made again.
    pub(crate) fn selection(&self) -> Selection {
        Selection::of(self.condition.clone())
    }

    /// Returns the arguments of the run in a data directory, which is like that of a crawl.
    pub(crate) fn in_directory(&self, data: &Path, crawl: Option<&CrawlId>) -> CrawlArgs {
        CrawlArgs::to_reparse(data, crawl, self.selection(), self.output.clone())
    }
}
