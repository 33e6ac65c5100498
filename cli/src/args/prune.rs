//! `dragline prune`: the iterations to drop, and their crawl.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use dragline_domain::ids::CrawlId;
use dragline_domain::retention::Retention;
use dragline_ports::retention::PruneMode;

#[cfg(feature = "stack")]
use super::StackName;
use super::{Answer, data_directory, values};
use crate::open_directory::WaitArgs;

/// Delete data of old iterations that is no longer used
#[derive(Debug, Args)]
#[command(
    long_about = "Delete data of old iterations that is no longer used: log, documents, and WARC objects.\n\n\
                  The site as it is now stays complete, and so do the iterations that are kept: the last good document of each URL stays, wherever \
                  it is, and so does each body that a later visit found unchanged. The newest iteration that is over is always kept. Afterwards, \
                  commands that read an iteration say that it was pruned.\n\n\
                  Interrupt it whenever you like: the same command goes on.",
    after_help = "\
Examples:
  dragline prune --keep 5
  dragline prune --older-than 90d --dry-run
  dragline prune --keep 10 --crawl docs --json"
)]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    which: RetentionArgs,
    #[command(flatten)]
    pub(crate) stored: LocalCrawlArgs,
    #[cfg(feature = "stack")]
    #[command(flatten)]
    deployed: PrunedStackArgs,
    /// Delete nothing, and say what would be deleted
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(crate) waiting: WaitArgs,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

impl PruneArgs {
    /// Returns which iterations to keep.
    pub(crate) fn retention(&self) -> Retention {
        match (self.which.keep, self.which.older_than) {
            (Some(newest), _) => Retention::Newest(newest),
            // Clap requires one of the two.
            (None, time) => Retention::Within(time.unwrap_or(Duration::MAX)),
        }
    }

    /// Returns whether to delete anything, or only to report it.
    pub(crate) const fn effect(&self) -> PruneMode {
        if self.dry_run { PruneMode::Count } else { PruneMode::Delete }
    }

    /// Returns the stack and its crawl to prune; `None` for a data directory.
    #[cfg(feature = "stack")]
    pub(crate) fn deployed(&self) -> Option<(&StackName, &CrawlId)> {
        self.deployed.stack.as_ref().zip(self.stored.crawl())
    }

    /// Returns the form of the answer.
    pub(crate) const fn answer(&self) -> Answer {
        Answer::from_flag(self.json)
    }
}

/// A crawl of a deployed stack. Its scheduler does the work, and logs what it did.
#[cfg(feature = "stack")]
#[derive(Debug, Args)]
struct PrunedStackArgs {
    /// Have this deployed stack prune the crawl that `--crawl` names
    #[arg(long, value_name = "NAME", help_heading = "Deployed stack", requires = "crawl", conflicts_with_all = ["data", "dry_run", "wait", "json"])]
    stack: Option<StackName>,
}

/// Which iterations are dropped.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct RetentionArgs {
    /// Keep this many iterations that are over, the newest
    #[arg(long, value_name = "N")]
    keep: Option<NonZeroU32>,
    /// Drop iterations that ended longer ago than this, such as `90d`
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    older_than: Option<Duration>,
}

/// A crawl in a data directory that is changed.
#[derive(Debug, Args)]
pub(crate) struct LocalCrawlArgs {
    /// The directory where crawls are stored [default: `$DRAGLINE_DATA`, or dragline-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The crawl, if there are several
    #[arg(long, value_name = "NAME")]
    crawl: Option<CrawlId>,
}

impl LocalCrawlArgs {
    /// Returns the data directory.
    pub(crate) fn data(&self) -> &Path {
        data_directory(self.data.as_deref())
    }

    /// Returns the crawl, if one is named.
    pub(crate) const fn crawl(&self) -> Option<&CrawlId> {
        self.crawl.as_ref()
    }
}
