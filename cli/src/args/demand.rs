//! URLs on demand: options of `dragline crawl`.

use std::path::PathBuf;

use clap::Args;
use dragline_domain::definition::UrlPattern;
use dragline_domain::frontier::{Demand, DemandTooLong, Visits};

use super::values;
use crate::error::Failure;

/// Which URLs to visit now, and what of the pages that they lead to. Each of these options makes
/// the URLs a demand: they are visited whatever the definition's seeds are, and the definition
/// stays as it is.
#[derive(Debug, Args)]
#[command(next_help_heading = "On demand")]
pub(crate) struct DemandArgs {
    /// Visit the URLs in this file, one per line, however many; `-` for standard input. Empty lines
    /// and lines that begin with `#` are skipped
    #[arg(long, short, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Follow a link only if this matches its URL; what it leads to is followed in the same way
    #[arg(long, value_name = "RE", value_parser = values::pattern)]
    pattern: Option<UrlPattern>,
    /// Do not follow links whose URL this matches; may be repeated
    #[arg(long, value_name = "RE", value_parser = values::pattern)]
    skip: Vec<UrlPattern>,
    /// How many links away from these URLs to go; 0 visits them alone
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Visit known URLs although they are not due
    #[arg(long)]
    force: bool,
}

impl DemandArgs {
    /// Returns the demand; `None` if none of its options was given.
    ///
    /// # Errors
    /// The patterns are too long.
    pub(crate) fn demand(&self) -> Result<Option<Demand>, DemandTooLong> {
        let visits = if self.force { Visits::All } else { Visits::Due };
        let demand = Demand { pattern: self.pattern.clone(), skip: self.skip.clone(), depth: self.depth, visits };
        let is_given = self.input.is_some() || demand != Demand::default();
        is_given.then(|| demand.validate()).transpose()
    }
}

impl From<DemandTooLong> for Failure {
    fn from(error: DemandTooLong) -> Self {
        Self::from_error(&error)
    }
}
