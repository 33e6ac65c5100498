//! How a run went, and what it left.

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

/// How a run went.
#[derive(Debug)]
pub struct Report {
    /// What was run.
    pub setup: Setup,
    /// What happened.
    pub trace: Trace,
    /// What befell it.
    pub struck: Struck,
    /// Which invariants do not hold.
    pub violations: Vec<Violation>,
    /// What is left of it.
    pub remains: Remains,
}

/// What a run left.
#[derive(Debug)]
pub struct Remains {
    /// The data directory. It is deleted with this.
    pub directory: TempDir,
    /// The servers' log.
    pub accesses: Vec<Access>,
    /// How much of it is of earlier iterations.
    pub accesses_before: usize,
    /// By how much the clocks of two workers differed at most.
    pub clocks_apart: Duration,
    /// By how much clocks were wrong at most.
    pub clocks_wrong_by: Duration,
    /// What there was to find.
    pub site: Site,
    /// What was crawled.
    pub definition: Definition,
    /// How long turns waited for parses at most.
    pub parse_wait: Duration,
    /// The last iteration.
    pub iteration: Iteration,
    /// What the frontier says of it.
    pub progress: Progress,
    /// The keys of objects that were deleted or cut short.
    pub lost: BTreeSet<String>,
}

impl Remains {
    /// What the invariants are recomputed from, given a connection to the directory's database.
    #[must_use]
    pub fn evidence<'a>(&'a self, database: &'a Connection) -> Evidence<'a> {
        Evidence {
            database,
            directory: self.directory.path(),
            accesses_before: self.accesses_before,
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
    /// If an invariant is violated: with all that is needed to look into it.
    pub fn assert_holds(&self) {
        assert!(
            self.violations.is_empty(),
            "run {} violates {:#?}\n{}\nAgain: DRAGLINE_RUN='{}' cargo nextest run -p dragline-simulation --no-capture one_run",
            self.setup,
            self.violations,
            self.trace.end(),
            self.setup
        );
    }
}
