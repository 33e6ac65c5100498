//! `dragline definition`: the stored definition of a crawl.

use clap::Args;
use dragline_domain::ids::Iteration;

use super::read::CrawlSourceArgs;
use super::values;

/// Print the stored definition of a crawl as YAML
#[derive(Debug, Args)]
#[command(
    long_about = "Print the stored definition of a crawl as YAML, which `dragline crawl FILE` takes again: the keys that differ from their defaults.\n\n\
                  Each change of a definition is a version of its own, and all of them are kept. An iteration keeps to that of its beginning.",
    after_help = "\
Examples:
  dragline definition > crawl.yaml
  dragline definition --iteration 1
  dragline definition --version 2 | diff - crawl.yaml"
)]
pub(crate) struct DefinitionArgs {
    #[command(flatten)]
    pub(crate) of: CrawlSourceArgs,
    /// The version to print, counted from 1 [default: the newest]
    #[arg(long = "version", id = "version_wanted", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) version: Option<u32>,
    /// Print the version that this iteration keeps to, counted from 1
    #[arg(long, value_name = "N", value_parser = values::iteration(), conflicts_with = "version_wanted")]
    pub(crate) iteration: Option<Iteration>,
}
