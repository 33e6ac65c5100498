//! What must hold after every run, recomputed from what is stored and from the servers' own log; never from the crawler's word.
//!
//! Each invariant is one function over the [`Evidence`] of one iteration that is over, and gives what it found wrong. Numbers 1 to 9 are
//! the design's; the tenth holds what was found against the site's truth, the eleventh what was asked for against the budget, the twelfth what
//! was given up against what died, the thirteenth what people were told, the fourteenth what is in the archive, the fifteenth
//! how many hosts of a domain were asked at once.

mod archive;
mod budget;
mod commits;
mod completeness;
mod log;
mod notices;
mod redelivery;
mod requests;
mod robots;
mod stuck;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use dragline_domain::definition::Definition;
use dragline_domain::ids::Iteration;
use dragline_ports::frontier::Progress;
use rusqlite::Connection;

pub use archive::{captures_are_readable, no_object_is_left};
pub use budget::the_budget_is_kept;
pub use commits::only_the_holder_commits;
pub use completeness::everything_in_reach_is_found;
pub use log::{is_over, nothing_is_lost, progress_equals_the_log};
pub use notices::the_end_is_told;
pub use redelivery::{Snapshot, redelivery_changes_nothing, snapshot};
pub use requests::{Deaths, few_hosts_of_a_domain_are_asked_at_once, the_delay_is_kept, visited_once};
pub use robots::robots_txt_allows_each_request;
pub use stuck::stuck_only_by_deaths;

use crate::web::Access;

/// What a run left behind, and what the servers saw.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// The database of the data directory.
    pub database: &'a Connection,
    /// The data directory.
    pub directory: &'a Path,
    /// The servers' log, of all iterations.
    pub accesses: &'a [Access],
    /// How much of it is of earlier iterations.
    pub accesses_before: usize,
    /// By how much the clocks of two workers differed at most: so much too early may one of them ask after another.
    pub clocks_apart: Duration,
    /// By how much clocks were wrong at most.
    pub clocks_wrong_by: Duration,
    /// What was crawled.
    pub definition: &'a Definition,
    /// The newest iteration, which is over.
    pub iteration: Iteration,
    /// The keys of objects that a fault deleted or cut short.
    pub lost: &'a BTreeSet<String>,
}

/// Which invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Invariant {
    /// 1.
    NothingLost,
    /// 2.
    VisitedOnce,
    /// 3.
    DelayKept,
    /// 4.
    RobotsObeyed,
    /// 5.
    OnlyTheHolderCommits,
    /// 6.
    ProgressEqualsLog,
    /// 7.
    Over,
    /// 8.
    CapturesReadable,
    /// 9.
    RedeliveryChangesNothing,
    /// 10.
    ReachFound,
    /// 11.
    BudgetKept,
    /// 12.
    StuckOnlyByDeaths,
    /// 13.
    EndTold,
    /// 14.
    NoObjectLeft,
    /// 15.
    DomainKept,
}

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Of which invariant.
    pub invariant: Invariant,
    /// What is wrong, for a person, on one line.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant {} ({:?}): {}", self.invariant as u8 + 1, self.invariant, self.what)
    }
}

/// What an invariant found wrong, or why the database could not be read.
pub type Checked = rusqlite::Result<Vec<Violation>>;

/// The invariants that hold at any time: 2 to 5, 8, 11 and 15.
///
/// # Errors
/// The database cannot be read.
pub fn at_any_time(evidence: &Evidence<'_>, deaths: Deaths) -> Checked {
    let found = [
        visited_once(evidence, deaths)?,
        the_delay_is_kept(evidence)?,
        few_hosts_of_a_domain_are_asked_at_once(evidence),
        robots_txt_allows_each_request(evidence),
        only_the_holder_commits(evidence)?,
        the_budget_is_kept(evidence)?,
        captures_are_readable(evidence)?,
    ];
    Ok(found.concat())
}

/// The invariants that hold once an iteration is closed: 1, 6 and 7.
///
/// # Errors
/// The database cannot be read.
pub fn at_the_end(evidence: &Evidence<'_>, progress: &Progress) -> Checked {
    let found = [nothing_is_lost(evidence)?, progress_equals_the_log(evidence, progress)?, is_over(evidence)?];
    Ok(found.concat())
}

impl Evidence<'_> {
    /// The first column of each row of all iterations, a text.
    fn all_texts(&self, sql: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.database.prepare(sql)?;
        let rows = statement.query_map([], |row| row.get(0))?;
        rows.collect()
    }

    /// The first column of each row, a text. `?1` is the crawl's name, `?2` the iteration's number.
    fn texts(&self, sql: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.database.prepare(sql)?;
        let rows = statement.query_map(self.crawl_and_iteration(), |row| row.get(0))?;
        rows.collect()
    }

    /// Each row of a query whose rows are messages, as a violation.
    fn violations(&self, invariant: Invariant, sql: &str) -> Checked {
        Ok(self.texts(sql)?.into_iter().map(|what| Violation { invariant, what }).collect())
    }

    /// The one number that a query gives.
    fn number(&self, sql: &str) -> rusqlite::Result<u64> {
        self.database.query_row(sql, self.crawl_and_iteration(), |row| row.get(0))
    }

    fn crawl_and_iteration(&self) -> (String, u32) {
        (self.definition.name.to_string(), self.iteration.number())
    }
}
