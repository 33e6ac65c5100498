//! `dragline init`.

use std::path::PathBuf;

use clap::Args;

use super::NetworkArgs;

/// Look at a site, and write a commented definition for crawling it
#[derive(Debug, Args)]
#[command(
    long_about = "Look at a site, and write a commented definition for crawling it (docs/reference/definition.md).\n\n\
                  Requests robots.txt, the page, and up to two sitemaps, one after the other with a second between them or as long as robots.txt asks for. \
                  Redirects are followed, and nothing is requested that robots.txt forbids. What was found is told on standard error; \
                  the file says why a key is set, and has examples of the others.",
    after_help = "\
Examples:
  dragline init https://example.org/             write crawl.yaml, for `dragline crawl crawl.yaml`
  dragline init https://example.org/docs/ -o docs.yaml
  dragline init https://example.org/ -o -        print the definition instead"
)]
pub(crate) struct InitArgs {
    /// The page where the crawl is to begin
    pub(crate) url: String,
    /// The file to write, which must not exist; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "crawl.yaml")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
}
