//! `dragline cdx`: the index of the WARC files as they are stored.

use clap::Args;

use super::read::CrawlSourceArgs;

/// Print an index of the stored WARC files, by which other programs replay them
#[derive(Debug, Args)]
#[command(
    long_about = "Print an index of the stored WARC files in CDXJ, sorted (docs/reference/wacz.md#the-files-in-their-places). With it, pywb and other programs replay the \
                  files below `raw/` in their places, without a copy. The names of files are relative to the data directory.",
    after_help = "\
Examples:
  dragline cdx > index.cdxj
  dragline cdx --data example-data --crawl docs > docs.cdxj"
)]
pub(crate) struct CdxArgs {
    #[command(flatten)]
    pub(crate) of: CrawlSourceArgs,
}
