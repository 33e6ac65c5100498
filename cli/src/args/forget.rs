//! `dragline forget`: the URLs to forget, and their crawl.

use clap::Args;
use dragline_domain::definition::Condition;

use super::visits::VisitedArgs;
use super::{Answer, values};
use crate::open_directory::WaitArgs;

/// Delete everything that is stored of URLs
#[derive(Debug, Args)]
#[command(
    long_about = "Delete everything that is stored of URLs, in all iterations: what is known of them, every visit in the log, documents and their \
                  links, and their records in the WARC files, which are overwritten in place.\n\n\
                  What stays is what other pages say: links to the URLs. The counters of iterations stay, too. A seed, or a URL that a new or changed \
                  page links to, is found again by the next crawl, unless the definition excludes it.\n\n\
                  --where takes a condition as in a definition (docs/reference/definition.md): in YAML, over the host, path, query, scheme, port or \
                  the whole URL. No iteration of the crawl may be under way.",
    after_help = "\
Examples:
  dragline forget https://example.org/staff/jane
  dragline forget --where 'path: {prefix: /private/}'
  dragline forget --where 'any: [{path: {equals: /a}}, {query: {contains: s=}}]'"
)]
pub(crate) struct ForgetArgs {
    /// The URLs, as the crawl knows them
    #[arg(value_name = "URL", required_unless_present = "condition")]
    pub(crate) urls: Vec<String>,
    /// Forget each known URL for which this condition holds, such as `path: {prefix: /private/}`
    #[arg(long = "where", id = "condition", value_name = "CONDITION", value_parser = values::condition)]
    pub(crate) condition: Option<Condition>,
    #[command(flatten)]
    pub(crate) of: VisitedArgs,
    #[command(flatten)]
    pub(crate) waiting: WaitArgs,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

impl ForgetArgs {
    /// Returns the form of the answer.
    pub(crate) const fn answer(&self) -> Answer {
        Answer::from_flag(self.json)
    }
}
