//! `dragline archive`: exports a crawl as archive files for other programs.

use std::path::PathBuf;

use clap::Args;
use dragline_domain::definition::Condition;
use dragline_domain::ids::Iteration;
use jiff::Timestamp;

use super::read::CrawlSourceArgs;
use super::values;

/// Write what a crawl archived to a WACZ file, or to merged WARC files
#[derive(Debug, Args)]
#[command(
    long_about = "Write everything that a crawl archived to one WACZ file (docs/reference/wacz.md), which ReplayWeb.page, pywb and other programs replay: the answers of \
                  the servers, their index, and the pages with their texts. A body that several URLs or iterations have is in it once.\n\n\
                  With --warc, write the answers alone to a folder, merged to WARC files named by crawl, time, \
                  number and machine. Files of earlier archives of the crawl in it are removed afterwards, unless a part is archived.\n\n\
                  With --iteration, --since and --where, which can be combined, write a part: the visits for which all of them hold, the \
                  pictures, styles and scripts that their pages need, and the bodies that unchanged visits confirm, from whichever iteration.",
    after_help = "\
Examples:
  dragline archive -o site.wacz             open it at https://replayweb.page
  dragline archive --crawl docs -o docs.wacz
  dragline archive --warc -o warc           WARC files in the folder warc
  dragline archive --iteration 3 -o 3.wacz  what the third crawl got
  dragline archive --since 2026-11-01 --where 'path: {prefix: /news/}' -o news.wacz"
)]
pub(crate) struct ArchiveArgs {
    #[command(flatten)]
    pub(crate) of: CrawlSourceArgs,
    /// The file to write; with --warc, the folder
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: PathBuf,
    /// Write WARC files to a folder
    #[arg(long)]
    pub(crate) warc: bool,
    /// Begin another WARC file where one would become larger than this, such as `500MB`; records of
    /// one segment are never separated
    #[arg(long, value_name = "SIZE", value_parser = values::size, default_value = "1GB")]
    pub(crate) file_size: u64,
    /// Archive the visits of this iteration, counted from 1, with what they need from earlier ones
    /// [default: all]
    #[arg(long, value_name = "N", value_parser = values::iteration())]
    pub(crate) iteration: Option<Iteration>,
    /// Archive visits from this day or time on, such as 2026-11-27 or 2026-11-27T08:00:00Z; days
    /// begin in UTC
    #[arg(long, value_name = "DATE", value_parser = values::instant)]
    pub(crate) since: Option<Timestamp>,
    /// Archive visits of URLs for which this condition holds, as under `when` in a definition, with
    /// what they need
    #[arg(long = "where", value_name = "CONDITION", value_parser = values::condition)]
    pub(crate) condition: Option<Condition>,
}
