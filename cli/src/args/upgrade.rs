//! `dragline upgrade`: bringing a data directory up to date.

use std::path::PathBuf;

use clap::Args;

use super::DATA;
use crate::opening::Waiting;

/// Bring a data directory of an older version up to date, without a request
#[derive(Debug, Args)]
#[command(
    long_about = "Bring a data directory that an older version wrote up to date, without a request. Commands that read do not change its format, and cannot read an \
                  older one; `dragline crawl`, `prune` and `forget` bring it up to date by themselves. An older dragline cannot read it afterwards.\n\n\
                  It is done in one transaction: if it is interrupted, everything is as it was.",
    after_help = "\
Examples:
  dragline upgrade
  dragline upgrade --data example-data"
)]
pub(crate) struct UpgradeArgs {
    /// The directory where crawls are stored
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
}
