//! What the API needs from the crawls behind it.

use std::collections::BTreeMap;
use std::pin::Pin;

use dragline_domain::command::Command;
use dragline_domain::definition::{Definition, RunsWhere};
use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use dragline_domain::outcome::{Outcome, OutcomeClass};
use dragline_domain::url::CrawlUrl;
use dragline_pipeline::schedule::CommandResult;
use dragline_ports::frontier::Progress;
use dragline_ports::reader::Cursor;
use dragline_report::Summary;
use dragline_search::Request;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::bodies::AddCrawl;
use crate::links::Link;
use crate::printouts::{Output, Printout};
use crate::problem::Problem;

/// A future of an answer.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Problem>> + Send + 'a>>;

/// The crawls of a data directory or a stack. [`PortsBackend`](crate::PortsBackend) is one over
/// the ports.
pub trait Backend: Send + Sync + 'static {
    /// Returns the names of all crawls, in order.
    fn crawls(&self) -> Answer<'_, Vec<CrawlId>>;

    /// Returns the state of a crawl; `None` if there is none of this name.
    fn standing<'a>(&'a self, crawl: &'a CrawlId) -> Answer<'a, Option<CrawlStanding>>;

    /// Returns the current definition of a crawl as YAML; `None` if there is none of this name.
    fn definition<'a>(&'a self, crawl: &'a CrawlId) -> Answer<'a, Option<String>>;

    /// Returns an iteration, or the latest one if none is named; `None` if there is no such.
    fn iteration<'a>(&'a self, crawl: &'a CrawlId, number: Option<Iteration>) -> Answer<'a, Option<IterationRow>>;

    /// Returns the summary of an iteration. Reads its whole log.
    fn summary<'a>(&'a self, crawl: &'a CrawlId, iteration: IterationRow) -> Answer<'a, Summary>;

    /// Returns the progress of an iteration, at a cost that does not depend on its size.
    fn progress<'a>(&'a self, iteration: &'a IterationRow) -> Answer<'a, ProgressView>;

    /// Returns rows, each as a line of JSON, after a cursor.
    fn rows<'a>(
        &'a self,
        crawl: &'a CrawlId,
        kind: RowKind,
        query: &'a RowsQuery,
        after: Option<Cursor>,
    ) -> Answer<'a, RowBatch>;

    /// Searches the pages of a crawl, and returns the results as JSON. The word index is brought up
    /// to date first, which reads what is new.
    fn search<'a>(&'a self, crawl: &'a CrawlId, request: Request) -> Answer<'a, String>;

    /// Returns up to this many pages that are similar to one, as JSON. The word index is brought up
    /// to date first.
    fn similar<'a>(&'a self, crawl: &'a CrawlId, url: String, count: u32) -> Answer<'a, String>;

    /// Prints something of a crawl, which exists. The printing is ended when its output is dropped.
    fn print<'a>(&'a self, crawl: &'a CrawlId, printout: Printout) -> Answer<'a, Output>;

    /// Returns the call that gave a crawl a file elsewhere as its definition; `None` if none did.
    fn link<'a>(&'a self, crawl: &'a CrawlId) -> Answer<'a, Option<AddCrawl>>;

    /// Keeps where a version of a crawl's definition came from.
    fn keep_link<'a>(&'a self, crawl: &'a CrawlId, link: Link) -> Answer<'a, ()>;

    /// Reads the file at a URL as text.
    fn read_link<'a>(&'a self, url: &'a str) -> Answer<'a, String>;

    /// Returns how many notices wait to be sent, by crawl, up to a thousand together; `None` if
    /// only another process knows.
    fn notices_waiting(&self) -> Answer<'_, Option<BTreeMap<CrawlId, u64>>>;

    /// Returns the free bytes on the disk of the crawls; `None` if that cannot be told.
    fn free_bytes(&self) -> Answer<'_, Option<u64>>;

    /// Returns where its crawls run.
    fn runs(&self) -> RunsWhere;

    /// Returns the present time.
    fn now(&self) -> Timestamp;

    /// Returns a trigger that no other command has.
    fn fresh_trigger(&self) -> TriggerId;

    /// Handles a command, once for each trigger.
    fn command<'a>(&'a self, command: &'a Command, trigger: &'a TriggerId) -> Answer<'a, CommandResult>;

    /// Gives a crawl that is paused another definition; it stays paused at every moment.
    fn put_paused<'a>(&'a self, definition: &'a Definition) -> Answer<'a, ()>;

    /// Switches the schedule of a crawl to this state.
    fn set_schedule<'a>(&'a self, crawl: &'a CrawlId, state: ScheduleState) -> Answer<'a, ()>;
}

/// Whether a schedule is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ScheduleState {
    /// It is. Also the state of a crawl without a schedule, which begins when it is told to.
    On,
    /// It is not, until it is resumed. The crawl can still be started by a call.
    Paused,
    /// The crawl was removed: nothing of it begins. Its data stays.
    Off,
}

/// A crawl, its schedule, and its latest iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct CrawlStanding {
    /// The crawl's name.
    #[schema(value_type = String)]
    pub name: CrawlId,
    /// The version of its definition, from 1.
    pub version: u32,
    /// Whether it begins iterations.
    pub state: ScheduleState,
    /// The user to whom it belongs; absent if that is nobody in particular.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Where its definition is read; absent if it was given itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition_url: Option<String>,
    /// The cron expression; absent if it has no schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron_expression: Option<String>,
    /// The time zone of the expression, by its IANA name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// When the schedule begins the next iteration; absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next: Option<Timestamp>,
    /// Its latest iteration; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration: Option<IterationView>,
}

/// An iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct IterationView {
    /// The crawl's name.
    #[schema(value_type = String)]
    pub crawl: CrawlId,
    /// Its number, from 1.
    pub iteration: u32,
    /// `open`, `paused`, `stopping` or `closed`.
    pub status: &'static str,
    /// Its task: `crawl`, `demand`, `import` or `reparse`.
    pub task: &'static str,
    /// What began it.
    pub trigger: String,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// When it was over; absent until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub closed_at: Option<Timestamp>,
}

impl From<&IterationRow> for IterationView {
    fn from(row: &IterationRow) -> Self {
        Self {
            crawl: row.crawl.clone(),
            iteration: row.number.number(),
            status: row.status.name(),
            task: row.task.name(),
            trigger: row.trigger.to_string(),
            started_at: row.started_at,
            closed_at: row.closed_at,
        }
    }
}

/// The progress of an iteration: its columns in the view `iteration_progress`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProgressView {
    /// The iteration.
    #[serde(flatten)]
    pub iteration: IterationView,
    /// URLs that were found and queued.
    pub found: u64,
    /// URLs that were visited.
    pub crawled: u64,
    /// URLs that wait to be visited.
    pub waiting: u64,
    /// Visits whose answers were processed.
    pub processed: u64,
    /// Documents that could not be made of an answer.
    pub stuck: u64,
    /// URLs that failed for good.
    pub failed: u64,
    /// Requests sent.
    pub requests: u64,
    /// Bytes of bodies received.
    pub body_bytes: u64,
    /// Sites with work left.
    pub origins_open: u64,
}

impl ProgressView {
    /// Returns the progress of an iteration.
    #[must_use]
    pub fn new(row: &IterationRow, progress: &Progress) -> Self {
        let failed = |(outcome, urls): (&Outcome, &u64)| (outcome.class() == OutcomeClass::Failed).then_some(*urls);
        Self {
            iteration: row.into(),
            found: progress.added,
            crawled: progress.crawler.requests.saturating_sub(progress.crawler.retries),
            waiting: progress.waiting(),
            processed: progress.parser.processed,
            stuck: progress.parser.stuck,
            failed: progress.parser.outcomes.iter().filter_map(failed).sum(),
            requests: progress.crawler.requests,
            body_bytes: progress.crawler.body_bytes,
            origins_open: progress.origins_open,
        }
    }
}

/// The kinds of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// Pages as they are now or, of an iteration, as it saw them.
    Pages,
    /// Their links.
    Links,
    /// The items in them.
    Items,
    /// Every visit.
    Log,
    /// Every known URL.
    Candidates,
}

impl RowKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Pages, Self::Links, Self::Items, Self::Log, Self::Candidates];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Links => "links",
            Self::Items => "items",
            Self::Log => "log",
            Self::Candidates => "candidates",
        }
    }
}

/// Which rows to return.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct RowsQuery {
    /// The iteration; without one, pages, links and items are those of the site as it is now, and
    /// the log is that of the latest iteration.
    #[param(value_type = Option<u32>)]
    pub iteration: Option<Iteration>,
    /// The URL; of links, that of the page that has them.
    #[param(value_type = Option<String>)]
    pub url: Option<CrawlUrl>,
    /// The most rows in one answer, up to 1,000; a few more may come. Lines of JSON come all.
    pub limit: Option<usize>,
    /// Where to go on: `next` of the answer before.
    #[param(value_type = Option<String>)]
    pub cursor: Option<Cursor>,
    /// Of items: their type.
    #[serde(rename = "type")]
    pub item_type: Option<String>,
}

/// A batch of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowBatch {
    /// The rows, each as a JSON object.
    pub rows: Vec<String>,
    /// Where to go on; `None` if there are no more.
    pub next: Option<Cursor>,
}
