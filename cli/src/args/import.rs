//! `dragline import`: the archives, and the crawl to import them into.

use std::path::{Path, PathBuf};

use clap::Args;
use dragline_domain::ids::CrawlId;

use super::{Answer, data_directory};
use crate::open_directory::WaitArgs;

/// Make a crawl of archives that other programs wrote
#[derive(Debug, Args)]
#[command(
    long_about = "Make a crawl of archives that other programs wrote: WARC files, as wget, warcprox and many others write them, and WACZ files, as \
                  Browsertrix does. Search, diff, export, report and all else work on it as on any crawl. Nothing is requested.\n\n\
                  Each answer becomes a visit at the time that its record says. The archives of one crawl belong into one command, as some of their \
                  records refer to others. A URL with several answers is taken in as many iterations, which can be compared.\n\n\
                  The same archive again changes nothing, and an interrupted import goes on with the same command. `dragline crawl` with the same data \
                  directory crawls the site from then on, beginning with the first page of the archive.",
    after_help = "\
Examples:
  dragline import site.warc.gz                   into ./dragline-data
  dragline import crawl.wacz --data old-site
  dragline import archives/2024/                 all WARC and WACZ files in a folder
  dragline import old/raw/shop -f crawl.yaml     a crawl of ours whose database is lost
  dragline search 'words' --data old-site        and then search it"
)]
pub(crate) struct ImportArgs {
    /// WARC files (`*.warc`, `*.warc.gz`), WACZ files (`*.wacz`), or folders of them
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The data directory; it is made if it does not exist [default: `$DRAGLINE_DATA`, or
    /// dragline-data]
    #[arg(long, short, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The definition of the crawl, such as that of a crawl whose database is lost [default: that
    /// of the crawl in the directory, or one that begins with the first page]
    #[arg(long, short = 'f', value_name = "crawl.yaml", conflicts_with = "crawl")]
    pub(crate) definition: Option<PathBuf>,
    /// The name of the crawl; by default it is named after the host of the first page
    #[arg(long, value_name = "NAME")]
    pub(crate) crawl: Option<CrawlId>,
    #[command(flatten)]
    pub(crate) waiting: WaitArgs,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

impl ImportArgs {
    /// Returns the data directory.
    pub(crate) fn data(&self) -> &Path {
        data_directory(self.data.as_deref())
    }

    /// Returns the form of the answer.
    pub(crate) const fn answer(&self) -> Answer {
        Answer::from_flag(self.json)
    }
}
