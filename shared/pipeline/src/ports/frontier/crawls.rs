//! What is stored of a crawl and its iterations.

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{IterationRow, OriginCursor, Reserve, Switch, Walk};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use dragline_domain::url::Origin;
use jiff::Timestamp;

/// A crawl's definition as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawlRow {
    /// The definition.
    pub definition: Definition,
    /// Its version, from 1; grows with each change.
    pub version: u32,
    /// Origins that joined the scope because a seed redirects to them permanently.
    pub joined: Vec<Origin>,
    /// Whether it begins iterations, and when its schedule does so next.
    pub switch: Switch,
}

impl CrawlRow {
    /// A definition as it stands once it is stored for the first time, with no schedule kept.
    #[must_use]
    pub const fn first(definition: Definition) -> Self {
        Self { definition, version: 1, joined: Vec::new(), switch: Switch::On { next: None } }
    }
}

/// A crawl's definition to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct PutCrawl {
    /// The definition.
    pub definition: Definition,
    /// The version that it was changed from; absent: there was no such crawl.
    pub seen: Option<u32>,
    /// When the schedule begins the next iteration; absent: there is no schedule, or nobody keeps to it.
    pub next: Option<Timestamp>,
}

/// A schedule's time that was passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveSchedule {
    /// The crawl.
    pub crawl: CrawlId,
    /// The time that came due.
    pub seen: Timestamp,
    /// The one after it; absent: there is none.
    pub next: Option<Timestamp>,
}

/// What became of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrawlPut {
    /// It is stored as this version, now or by an earlier try of which no answer came.
    Stored(u32),
    /// Somebody else changed the definition since: read again, decide again.
    Changed,
}

/// The wish for an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeginIteration {
    /// The crawl.
    pub crawl: CrawlId,
    /// What asks for it.
    pub trigger: TriggerId,
    /// The version of the definition that it is to keep to.
    pub version: u32,
    /// The budget of the whole iteration.
    pub budget: Reserve,
    /// The time of now.
    pub now: Timestamp,
    /// When it is stopped at the latest; absent: never.
    pub ends_at: Option<Timestamp>,
    /// When the command is to be sent again if the token is still out.
    pub due: Timestamp,
}

impl BeginIteration {
    /// The row of the iteration, which begins under this number.
    #[must_use]
    pub fn row(&self, number: Iteration) -> IterationRow {
        let (crawl, trigger) = (self.crawl.clone(), self.trigger.clone());
        let row = IterationRow::begin(crawl, number, trigger, self.budget, self.now, self.ends_at, self.due);
        IterationRow { version: Some(self.version), ..row }
    }
}

/// What became of the wish for an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It began now, or this trigger began it earlier.
    Iteration(IterationRow),
    /// Another trigger's iteration still runs.
    Busy(IterationRow),
}

/// How much further work came that goes through origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveCursor {
    /// The crawl.
    pub crawl: CrawlId,
    /// The iteration.
    pub iteration: Iteration,
    /// The work.
    pub walk: Walk,
    /// Up to which origin it was done when this part of it began.
    pub seen: OriginCursor,
    /// Up to which it is done now.
    pub to: OriginCursor,
}

/// What became of moving a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorMoved {
    /// It stands there.
    Moved,
    /// It was not where it was seen, and stays: somebody else does the same work, and goes on with it.
    Elsewhere,
}

/// What became of closing an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IterationClosed {
    /// It closed now.
    Now(IterationRow),
    /// It was closed before.
    Before(IterationRow),
    /// Origins are open.
    NotYet(IterationRow),
}
