//! What must hold after every run, recomputed from what is stored and from the servers' own log,
//! never from what the crawler reports.
//!
//! Each invariant is one function over the [`Evidence`] of one finished iteration, and returns the
//! violations it found. Numbers 1 to 9 are the design's. The others compare what was found with the
//! site's truth, requests with the budget, stuck captures with what died, and check notices, orphan
//! objects, how many hosts of a domain were visited at once, what is shown of the site, what is
//! reported as changed, and in which order known URLs are visited.

mod archive;
mod budget;
mod commits;
mod completeness;
mod links;
mod log;
mod notices;
mod order;
mod redelivery;
mod requests;
mod robots;
mod state;
mod stuck;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use dragline_domain::definition::Definition;
use dragline_domain::ids::Iteration;
use dragline_ports::frontier::Progress;
use rusqlite::Connection;

pub use archive::{answers_to_pages_are_archived, captures_are_readable, no_object_is_left};
pub use budget::the_budget_is_kept;
pub use commits::only_the_holder_commits;
pub use completeness::everything_in_reach_is_found;
pub(crate) use links::are_judged;
pub use links::{
    every_link_is_recorded, few_origins_are_opened, links_are_counted, pages_lead_to_few_origins,
    seeds_and_joined_are_claimed,
};
pub use log::{is_over, nothing_is_lost, progress_equals_the_log, who_is_given_up_leaves_nothing};
pub use notices::the_end_is_told;
pub use order::{KnownBefore, known_urls, never_visited_go_first};
pub use redelivery::{Snapshot, redelivery_changes_nothing, snapshot};
pub use requests::{Deaths, few_hosts_of_a_domain_are_asked_at_once, the_delay_is_kept, visited_once};
pub use robots::robots_txt_allows_each_request;
pub use state::{ShownBefore, State, Truth, gaps, shown_now, state_is_fresh, state_is_kept};
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
    /// How many of its entries belong to earlier iterations.
    pub accesses_before: usize,
    /// How many requests for addresses that cannot exist, and of pages, no server saw, in all
    /// iterations.
    pub unsent: u64,
    /// The largest difference between the clocks of two workers: one may ask this much too early
    /// after another.
    pub clocks_apart: Duration,
    /// The largest error of any clock.
    pub clocks_wrong_by: Duration,
    /// The definition of the crawl.
    pub definition: &'a Definition,
    /// The newest iteration, which is closed.
    pub iteration: Iteration,
    /// The keys of objects that a fault deleted or truncated.
    pub lost: &'a BTreeSet<String>,
}

/// An invariant, by its number in `docs/internals/simulation.md`.
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
    /// 16.
    CurrentStateIsFresh,
    /// 17.
    EachChangeIsReportedOnce,
    /// 18.
    NeverVisitedGoFirst,
    /// 19.
    SchedulesKept,
    /// 20.
    CallsKept,
    /// 21.
    RemovedRests,
    /// 22.
    NoticesKept,
}

/// A violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The invariant that is violated.
    pub invariant: Invariant,
    /// What is wrong, on one line.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant {} ({:?}): {}", self.invariant as u8 + 1, self.invariant, self.what)
    }
}

/// The violations that an invariant found, or why the database could not be read.
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
        answers_to_pages_are_archived(evidence, deaths)?,
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
    /// The first column, a text, of each row, over all iterations.
    fn all_texts(&self, sql: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.database.prepare(sql)?;
        let rows = statement.query_map([], |row| row.get(0))?;
        rows.collect()
    }

    /// The first column, a text, of each row. `?1` is the crawl's name, `?2` the iteration's
    /// number.
    fn texts(&self, sql: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.database.prepare(sql)?;
        let rows = statement.query_map(self.crawl_and_iteration(), |row| row.get(0))?;
        rows.collect()
    }

    /// Makes a violation of each row of a query, whose rows are messages.
    fn violations(&self, invariant: Invariant, sql: &str) -> Checked {
        Ok(self.texts(sql)?.into_iter().map(|what| Violation { invariant, what }).collect())
    }

    /// The only number that a query returns.
    fn number(&self, sql: &str) -> rusqlite::Result<u64> {
        self.database.query_row(sql, self.crawl_and_iteration(), |row| row.get(0))
    }

    fn crawl_and_iteration(&self) -> (String, u32) {
        (self.definition.name.to_string(), self.iteration.number())
    }
}
