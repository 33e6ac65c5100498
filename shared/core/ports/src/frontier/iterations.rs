//! Iterations: beginning, changing and closing them, and their progress.

use std::future::Future;

use dragline_domain::frontier::{IterationBegun, IterationRow, OriginCursor, Reserve, StatusChange, Task, Walk};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use jiff::Timestamp;

use super::Progress;
use crate::error::PortResult;

/// Iterations: beginning, changing and closing them, and their progress.
pub trait Iterations: Send + Sync {
    /// Begins the next iteration, once per trigger. If an iteration of another trigger is still
    /// running, returns that one.
    fn begin_iteration(&self, begin: &BeginIteration) -> impl Future<Output = PortResult<IterationBegun>> + Send;

    /// Returns the newest iteration of a crawl; `None` before the first.
    fn latest_iteration(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// Returns one iteration; `None` if there is none with this number.
    fn load_iteration(
        &self,
        crawl: &CrawlId,
        number: Iteration,
    ) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// Returns the scheduler's token. Idempotent.
    fn return_token(&self, crawl: &CrawlId, number: Iteration) -> impl Future<Output = PortResult<()>> + Send;

    /// Advances a cursor of an iteration, if it is where it was seen. Retries succeed.
    fn move_cursor(&self, moved: &MoveCursor) -> impl Future<Output = PortResult<CursorMoved>> + Send;

    /// Pauses, resumes or stops an iteration; `None` if its status does not allow that.
    fn change_status(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        change: StatusChange,
    ) -> impl Future<Output = PortResult<Option<IterationRow>>> + Send;

    /// Closes an iteration without open origins, and records the owed notice about it:
    /// [`OwedNotice::iteration_closed`](super::OwedNotice::iteration_closed).
    fn close_iteration(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<IterationClosed>> + Send;

    /// Returns the sums over an iteration's origins. May lag.
    fn progress(&self, crawl: &CrawlId, iteration: Iteration) -> impl Future<Output = PortResult<Progress>> + Send;
}

/// A request to begin an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeginIteration {
    /// The crawl.
    pub crawl: CrawlId,
    /// Its trigger.
    pub trigger: TriggerId,
    /// The version of the definition that it uses.
    pub version: u32,
    /// How many origins had joined the crawl by then.
    pub joined: u64,
    /// The budget of the whole iteration.
    pub budget: Reserve,
    /// The current time.
    pub now: Timestamp,
    /// The deadline at which it is stopped; `None` for no limit.
    pub ends_at: Option<Timestamp>,
    /// When to send the command again if the token is still out.
    pub due: Timestamp,
    /// Its task.
    pub task: Task,
}

impl BeginIteration {
    /// Creates the row of the iteration that begins with this number.
    #[must_use]
    pub fn row(&self, number: Iteration) -> IterationRow {
        let (crawl, trigger) = (self.crawl.clone(), self.trigger.clone());
        let row = IterationRow::begin(crawl, number, trigger, self.budget, self.now, self.ends_at, self.due);
        IterationRow { version: Some(self.version), joined_before: Some(self.joined), task: self.task.clone(), ..row }
    }
}

/// A request to advance the cursor of a walk over an iteration's origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveCursor {
    /// The crawl.
    pub crawl: CrawlId,
    /// The iteration.
    pub iteration: Iteration,
    /// The walk.
    pub walk: Walk,
    /// The last finished origin when this part of the walk began.
    pub seen: OriginCursor,
    /// The last finished origin now.
    pub to: OriginCursor,
}

/// The result of moving a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorMoved {
    /// The cursor is there now.
    Moved,
    /// The cursor was elsewhere, and stays there: another worker does the same work, and continues
    /// with it.
    Elsewhere,
}

/// The result of closing an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IterationClosed {
    /// It closed now.
    Now(IterationRow),
    /// It was closed before.
    Before(IterationRow),
    /// Some origins are still open.
    NotYet(IterationRow),
}
