//! Crawls: their definitions, their schedules, and the commands sent to them.

use std::future::Future;
use std::ops::Range;

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{CrawlPut, CrawlStamp, OriginsJoined, Switch};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_domain::url::Origin;
use jiff::Timestamp;

use crate::error::PortResult;

/// Crawls: their definitions, their schedules, and the commands sent to them.
pub trait Crawls: Send + Sync {
    /// Stores a crawl's definition as the version after the one that was seen, which is kept beside it, and switches the crawl on. Origins that
    /// joined stay. Trying again succeeds.
    fn put_crawl(&self, put: &PutCrawl) -> impl Future<Output = PortResult<CrawlPut>> + Send;

    /// Returns a crawl's definition; `None` if there is no such crawl. Reads all of it: who works on a crawl asks for its stamp instead, again and
    /// again, and reads each version once.
    fn load_crawl(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Option<CrawlRow>>> + Send;

    /// Returns this version of a definition as it was stored; `None` if it never was.
    fn load_definition(
        &self,
        crawl: &CrawlId,
        version: u32,
    ) -> impl Future<Output = PortResult<Option<Definition>>> + Send;

    /// Returns what a crawl is made from, in short; `None` if there is no such crawl. Costs as little for a large one.
    fn load_stamp(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Option<CrawlStamp>>> + Send;

    /// Returns the origins that joined a crawl's scope, in the order in which they did: those at these places, counted from 0, that are taken.
    fn load_joined(&self, crawl: &CrawlId, places: Range<u64>) -> impl Future<Output = PortResult<Vec<Origin>>> + Send;

    /// Adds origins to those that joined a crawl's scope, unless others joined meanwhile. Trying again is refused once it succeeded: whoever is
    /// refused reads who joined.
    fn join_origins(&self, join: &JoinOrigins) -> impl Future<Output = PortResult<OriginsJoined>> + Send;

    /// Switches a crawl off: nothing of it comes due until a definition is put again. Idempotent, also where there is no such crawl.
    fn switch_off(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<()>> + Send;

    /// Returns the crawls whose schedule calls for an iteration by now, at most `limit`. Only a hint, and it may lag.
    fn due_crawls(&self, now: Timestamp, limit: usize) -> impl Future<Output = PortResult<Vec<CrawlId>>> + Send;

    /// Moves a schedule on to its next time, if it is still at the one that was seen. Does nothing otherwise.
    fn move_schedule(&self, passed: &MoveSchedule) -> impl Future<Output = PortResult<()>> + Send;

    /// Returns the crawls with an iteration that is not closed, those that began first in front, at most `limit`. Only a hint, and it may lag.
    fn running_crawls(&self, limit: usize) -> impl Future<Output = PortResult<Vec<CrawlId>>> + Send;

    /// Records that what a trigger asked for was done. Idempotent; a trigger that began an iteration keeps it.
    fn mark_handled(
        &self,
        crawl: &CrawlId,
        trigger: &TriggerId,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<()>> + Send;

    /// Whether what a trigger asked for was done, as recorded by [`Crawls::mark_handled`]. A trigger that began an iteration may still owe seeds,
    /// and counts only once that was recorded.
    fn was_handled(&self, crawl: &CrawlId, trigger: &TriggerId) -> impl Future<Output = PortResult<bool>> + Send;
}

/// A crawl's definition as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawlRow {
    /// The definition.
    pub definition: Definition,
    /// Its version, from 1; grows with each change.
    pub version: u32,
    /// Whether it begins iterations, and when its schedule begins the next.
    pub switch: Switch,
}

impl CrawlRow {
    /// Returns a definition as it stands when stored for the first time, with no schedule.
    #[must_use]
    pub const fn first(definition: Definition) -> Self {
        Self { definition, version: 1, switch: Switch::On { next: None } }
    }
}

/// A crawl's definition to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct PutCrawl {
    /// The definition.
    pub definition: Definition,
    /// The version that it was changed from; `None` if there was no such crawl.
    pub seen: Option<u32>,
    /// When the schedule begins the next iteration; `None` if there is no schedule, or nobody follows it.
    pub next: Option<Timestamp>,
}

/// Origins to be added to those that joined a crawl's scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinOrigins {
    /// The crawl.
    pub crawl: CrawlId,
    /// How many had joined when these were compared with them.
    pub seen: u64,
    /// Those that had not: at most as many as a segment has URLs, each once.
    pub origins: Vec<Origin>,
}

/// A schedule to be moved on to its next time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveSchedule {
    /// The crawl.
    pub crawl: CrawlId,
    /// The time that came due.
    pub seen: Timestamp,
    /// The one after it; `None` if there is none.
    pub next: Option<Timestamp>,
}
