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
    /// Stores a crawl's definition as the version after the one that was seen, which is retained,
    /// and switches the crawl on. Origins that joined stay. Retries succeed.
    fn put_crawl(&self, put: &PutCrawl) -> impl Future<Output = PortResult<CrawlPut>> + Send;

    /// Returns a crawl's definition; `None` if there is no such crawl. Reads the whole definition,
    /// so a worker polls the stamp instead and reads each version only once.
    fn load_crawl(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Option<CrawlRow>>> + Send;

    /// Returns one version of a definition as stored; `None` if there is no such version.
    fn load_definition(
        &self,
        crawl: &CrawlId,
        version: u32,
    ) -> impl Future<Output = PortResult<Option<Definition>>> + Send;

    /// Returns the stamp of a crawl; `None` if there is no such crawl. Its cost does not depend on
    /// the crawl's size.
    fn load_stamp(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Option<CrawlStamp>>> + Send;

    /// Returns the origins at these places, counted from 0, among those that joined a crawl's
    /// scope, in order of joining. Skips places beyond the last.
    fn load_joined(&self, crawl: &CrawlId, places: Range<u64>) -> impl Future<Output = PortResult<Vec<Origin>>> + Send;

    /// Adds origins to those that joined a crawl's scope, unless others joined meanwhile. A retry
    /// after success is refused: the caller then reads who joined.
    fn join_origins(&self, join: &JoinOrigins) -> impl Future<Output = PortResult<OriginsJoined>> + Send;

    /// Switches a crawl off: none of its work comes due until its definition is put again.
    /// Idempotent, also if there is no such crawl.
    fn switch_off(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<()>> + Send;

    /// Returns at most `limit` crawls whose schedule calls for an iteration by now. Only a hint,
    /// and it may lag.
    fn due_crawls(&self, now: Timestamp, limit: usize) -> impl Future<Output = PortResult<Vec<CrawlId>>> + Send;

    /// Advances a schedule to its next time, if it is still at the one that was seen. Does nothing
    /// otherwise.
    fn move_schedule(&self, passed: &MoveSchedule) -> impl Future<Output = PortResult<()>> + Send;

    /// Returns at most `limit` crawls with an open iteration, oldest iteration first. Only a hint,
    /// and it may lag.
    fn running_crawls(&self, limit: usize) -> impl Future<Output = PortResult<Vec<CrawlId>>> + Send;

    /// Records that a trigger's request has been handled. Idempotent; a trigger that began an
    /// iteration keeps it.
    fn mark_handled(
        &self,
        crawl: &CrawlId,
        trigger: &TriggerId,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<()>> + Send;

    /// Whether a trigger's request has been handled, as recorded by [`Crawls::mark_handled`]. A
    /// trigger that began an iteration may still owe seeds, and is handled only once this is
    /// recorded.
    fn was_handled(&self, crawl: &CrawlId, trigger: &TriggerId) -> impl Future<Output = PortResult<bool>> + Send;
}

/// A stored crawl definition.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawlRow {
    /// The definition.
    pub definition: Definition,
    /// Its version, from 1; incremented with each change.
    pub version: u32,
    /// Whether it begins iterations, and when its schedule begins the next one.
    pub switch: Switch,
}

impl CrawlRow {
    /// Creates the row of a new definition, without a schedule.
    #[must_use]
    pub const fn first(definition: Definition) -> Self {
        Self { definition, version: 1, switch: Switch::On { next: None } }
    }
}

/// A request to store a crawl's definition.
#[derive(Clone, Debug, PartialEq)]
pub struct PutCrawl {
    /// The definition.
    pub definition: Definition,
    /// The version on which it is based; `None` if there was no such crawl.
    pub seen: Option<u32>,
    /// When the schedule begins the next iteration; `None` if there is no schedule, or it is not
    /// followed.
    pub next: Option<Timestamp>,
}

/// A request to add origins to those that joined a crawl's scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinOrigins {
    /// The crawl.
    pub crawl: CrawlId,
    /// How many origins had joined when these were compared with them.
    pub seen: u64,
    /// The new origins, each once: at most as many as a segment has URLs.
    pub origins: Vec<Origin>,
}

/// A request to advance a schedule to its next time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveSchedule {
    /// The crawl.
    pub crawl: CrawlId,
    /// The time that came due.
    pub seen: Timestamp,
    /// The one after it; `None` if there is none.
    pub next: Option<Timestamp>,
}
