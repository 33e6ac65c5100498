//! The report of a run, and what it left.

use std::collections::BTreeSet;
use std::time::Duration;

use dragline_domain::definition::Definition;
use dragline_domain::ids::Iteration;
use dragline_ports::frontier::Progress;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::faults::Struck;
use crate::invariants::{Evidence, Violation};
use crate::setup::Setup;
use crate::trace::Trace;
use crate::web::{Access, Site};

/// The report of a run.
#[derive(Debug)]
pub struct Report {
    /// The setup of the run.
    pub setup: Setup,
    /// What happened.
    pub trace: Trace,
    /// The faults that struck.
    pub struck: Struck,
    /// The violations found.
    pub violations: Vec<Violation>,
    /// What the run left.
    pub remains: Remains,
}

/// What a run left.
#[derive(Debug)]
pub struct Remains {
    /// The data directory, which is deleted on drop.
    pub directory: TempDir,
    /// The servers' log.
    pub accesses: Vec<Access>,
    /// How many of its entries belong to earlier iterations.
    pub accesses_before: usize,
    /// How many requests for addresses that cannot exist no server saw.
    pub unsent: u64,
    /// The largest difference between the clocks of two workers.
    pub clocks_apart: Duration,
    /// The largest error of any clock.
    pub clocks_wrong_by: Duration,
    /// The site that was crawled, in its last edition.
    pub site: Site,
    /// The definition of the crawl.
    pub definition: Definition,
    /// How long turns waited for parses, at most.
    pub parse_wait: Duration,
    /// The last iteration.
    pub iteration: Iteration,
    /// The frontier's row of that iteration.
    pub progress: Progress,
    /// The keys of objects that were deleted or truncated.
    pub lost: BTreeSet<String>,
}

impl Remains {
    /// The evidence for the invariants, given a connection to the directory's database.
    #[must_use]
    pub fn evidence<'a>(&'a self, database: &'a Connection) -> Evidence<'a> {
        Evidence {
            database,
            directory: self.directory.path(),
            accesses_before: self.accesses_before,
            unsent: self.unsent,
            clocks_apart: self.clocks_apart,
            clocks_wrong_by: self.clocks_wrong_by,
            accesses: &self.accesses,
            definition: &self.definition,
            iteration: self.iteration,
            lost: &self.lost,
        }
    }
}

impl Report {
    /// # Panics
    /// If an invariant is violated, with all that is needed to investigate it.
    pub fn assert_holds(&self) {
        assert!(
            self.violations.is_empty(),
            "run {} violates {:#?}\n{}\nto repeat it: DRAGLINE_RUN='{}' cargo nextest run -p dragline-simulation --no-capture one_run",
            self.setup,
            self.violations,
            self.trace.end(),
            self.setup
        );
    }
}
