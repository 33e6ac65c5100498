//! `dragline archive`: what was archived, as files for other programs.

use std::path::PathBuf;

use clap::Args;

use super::read::OfArgs;

/// Write what a crawl archived to a WACZ file, or to merged WARC files
#[derive(Debug, Args)]
#[command(
    long_about = "Write everything that a crawl archived to one WACZ file (docs/wacz.md), which ReplayWeb.page, pywb and other programs replay: the answers of \
                  the servers, their index, and the pages with their texts. A body that several URLs or iterations have is in it once.\n\n\
                  With --warc, write the answers alone to a folder, merged to WARC files of up to 1 GB.",
    after_help = "\
Examples:
  dragline archive -o site.wacz             open it at https://replayweb.page
  dragline archive docs -o docs.wacz
  dragline archive --warc -o warc           WARC files in the folder warc"
)]
pub(crate) struct ArchiveArgs {
    #[command(flatten)]
    pub(crate) of: OfArgs,
    /// The file to write; with --warc, the folder
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: PathBuf,
    /// Write WARC files of up to 1 GB to a folder
    #[arg(long)]
    pub(crate) warc: bool,
}
