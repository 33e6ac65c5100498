//! `dragline schedule`: what begins when.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use dragline_domain::ids::CrawlId;

use super::data_directory;

/// Add, list, pause and run scheduled crawls
#[derive(Debug, Args)]
#[command(
    long_about = "Add, list, pause and run scheduled crawls. `dragline serve` follows their schedules; it may be running or not.\n\n\
                  A definition has the schedule in its key `schedule`, or --cron gives one.",
    after_help = "\
Examples:
  dragline schedule add crawl.yaml --cron '0 3 * * *' --time-zone Europe/Berlin
  dragline schedule add https://example.org --cron '30 6 * * 1'
  dragline schedule list
  dragline schedule pause docs
  dragline schedule resume docs
  dragline schedule run docs
  dragline schedule remove docs"
)]
pub(crate) struct ScheduleArgs {
    #[command(subcommand)]
    pub(crate) action: ScheduleAction,
    /// The directory where crawls are stored [default: `$DRAGLINE_DATA`, or dragline-data]
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<PathBuf>,
    /// Print the answer as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

impl ScheduleArgs {
    /// Returns the data directory.
    pub(crate) fn data(&self) -> &Path {
        data_directory(self.data.as_deref())
    }
}

/// What is done with schedules.
#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleAction {
    /// Add a crawl, or change it
    Add(AddArgs),
    /// List the crawls, and when each begins
    List,
    /// Follow no longer the schedule of a crawl
    Pause {
        /// The crawl
        crawl: CrawlId,
    },
    /// Follow it again
    Resume {
        /// The crawl
        crawl: CrawlId,
    },
    /// Begin an iteration now
    Run {
        /// The crawl
        crawl: CrawlId,
    },
    /// Remove a crawl: nothing of it begins, and what it stored stays
    Remove {
        /// The crawl
        crawl: CrawlId,
    },
}

/// The crawl to add.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// A definition, or the URLs or hosts where the crawl begins
    #[arg(required_unless_present = "definition_url", value_name = "FILE|URL")]
    pub(crate) targets: Vec<String>,
    /// Take the definition from this URL instead, now and whenever it changes there
    #[arg(long, value_name = "URL", conflicts_with = "targets")]
    pub(crate) definition_url: Option<String>,
    /// The crawl's name [default: that of the definition, or its first host]
    #[arg(long)]
    pub(crate) name: Option<CrawlId>,
    /// When it begins: minute, hour, day of month, month, day of week
    #[arg(long, value_name = "EXPRESSION")]
    pub(crate) cron: Option<String>,
    /// The time zone of the expression, such as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "NAME", requires = "cron")]
    pub(crate) time_zone: Option<String>,
    /// The user to whom the crawl belongs
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
}
