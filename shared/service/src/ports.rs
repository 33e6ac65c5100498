//! A backend over the ports.

use std::collections::BTreeMap;
use std::sync::Arc;

use dragline_domain::command::Command;
use dragline_domain::definition::{Definition, RunsWhere};
use dragline_domain::frontier::{CrawlPut, IterationRow, Switch};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::schedule::{CommandResult, Defaults, handle};
use dragline_ports::clock::{Clock as _, Rng as _};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{CrawlRow, Crawls as _, Iterations as _, MoveSchedule, OwedNotices as _, PutCrawl};
use dragline_ports::reader::{Batch, Cursor, Filter, Reader, Rest};
use dragline_ports::row::Row;
use dragline_ports::system::SystemClock;
use dragline_report::{ItemRow, Summary, summary};
use dragline_search::{Index, Request, SearchError, SearchReport};
use jiff::Timestamp;

use crate::backend::{
    Answer, Backend, CrawlStanding, IterationView, ProgressView, RowBatch, RowKind, RowsQuery, ScheduleState,
};
use crate::bodies::AddCrawl;
use crate::links::Link;
use crate::printouts::{Output, Printout};
use crate::problem::Problem;
use crate::rows::{ROWS, line};

/// The most waiting notices that are counted.
const NOTICES_MAX: usize = 1_000;

/// How often to try to switch a schedule while somebody else changes the crawl.
const SWITCHES_MAX: u32 = 8;

/// How fresh a word index must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It was the newest a short while ago.
    Recent,
    /// It is the newest now.
    Newest,
}

/// The crawls of a store, each with a reader.
pub trait Stores: Send + Sync + 'static {
    /// The reader of a crawl.
    type Reader: Reader + 'static;

    /// Returns the names of all crawls.
    fn crawls(&self) -> impl Future<Output = PortResult<Vec<CrawlId>>> + Send;

    /// Returns the row of a crawl; `None` if there is none of this name.
    ///
    /// # Errors
    /// The store cannot be opened.
    fn load_crawl(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Option<CrawlRow>>> + Send;

    /// Returns the word index of a crawl, as fresh as it must be; `None` while there is none.
    ///
    /// # Errors
    /// The index cannot be read or written.
    fn index(
        &self,
        crawl: &CrawlId,
        freshness: Freshness,
    ) -> impl Future<Output = Result<Option<Arc<Index>>, Problem>> + Send;

    /// Prints something of a crawl, and ends that when its output is dropped.
    ///
    /// # Errors
    /// It failed before it printed anything, or this store does not print it.
    fn print(&self, crawl: &CrawlId, printout: Printout) -> impl Future<Output = Result<Output, Problem>> + Send;

    /// Returns the call that gave a crawl a file elsewhere as its definition; `None` if none did.
    ///
    /// # Errors
    /// It cannot be read.
    fn link(&self, crawl: &CrawlId) -> impl Future<Output = Result<Option<AddCrawl>, Problem>> + Send;

    /// Keeps where a version of a crawl's definition came from, unless a later one is known.
    ///
    /// # Errors
    /// It cannot be written.
    fn keep_link(&self, crawl: &CrawlId, link: Link) -> impl Future<Output = Result<(), Problem>> + Send;

    /// Reads the file at a URL as text.
    ///
    /// # Errors
    /// The server does not answer, or what it answers is no text, or too long, or files are not
    /// read from there.
    fn read_link(&self, url: &str) -> impl Future<Output = Result<String, Problem>> + Send;

    /// Returns the free bytes on the disk of the crawls; `None` if that cannot be told.
    fn free_bytes(&self) -> Option<u64>;

    /// Returns where the crawls run, whose limits their definitions must keep.
    fn runs(&self) -> RunsWhere;

    /// Returns the reader of a crawl, which must exist.
    ///
    /// # Errors
    /// The store cannot be opened.
    fn reader(&self, crawl: &CrawlId) -> PortResult<Self::Reader>;
}

/// A backend over the ports of the steps, and the readers of their crawls.
pub struct PortsBackend<W, S> {
    commands: Commands<W>,
    stores: S,
}

/// What is done with commands.
enum Commands<W> {
    Handled(Box<Handler<W>>),
    Refused,
}

/// What handles commands.
struct Handler<W> {
    world: Arc<W>,
    contexts: Contexts,
    defaults: Defaults,
}

impl<W: World, S: Stores> PortsBackend<W, S> {
    /// Returns a backend over these ports. The defaults are for what a command leaves out.
    pub fn new(world: Arc<W>, stores: S, defaults: Defaults) -> Self {
        let handler = Handler { world, contexts: Contexts::default(), defaults };
        Self { commands: Commands::Handled(Box::new(handler)), stores }
    }

    /// Returns a backend that only reads: it may do so beside a process that writes.
    pub fn read_only(stores: S) -> Self {
        Self { commands: Commands::Refused, stores }
    }

    /// Returns the ports of the steps.
    ///
    /// # Errors
    /// The backend only reads.
    fn world(&self) -> Result<&Arc<W>, Problem> {
        match &self.commands {
            Commands::Handled(handler) => Ok(&handler.world),
            Commands::Refused => Err(read_only()),
        }
    }

    async fn load_crawl(&self, crawl: &CrawlId) -> PortResult<Option<CrawlRow>> {
        match &self.commands {
            Commands::Handled(handler) => handler.world.frontier().load_crawl(crawl).await,
            Commands::Refused => self.stores.load_crawl(crawl).await,
        }
    }

    async fn row(&self, crawl: &CrawlId) -> Result<CrawlRow, Problem> {
        let row = self.load_crawl(crawl).await?;
        row.ok_or_else(|| Problem::not_found(format!("there is no crawl `{crawl}`")))
    }
}

impl<W: World, S: Stores> PortsBackend<W, S> {
    /// Asks the word index of a crawl. If it cannot be read, its files may be gone, as it was
    /// superseded some time ago: then the newest one is asked.
    async fn ask<T: Send + 'static>(
        &self,
        crawl: &CrawlId,
        question: impl Fn(&Index) -> Result<T, SearchError> + Send + Sync + 'static,
    ) -> Result<T, Problem> {
        let (question, mut freshness) = (Arc::new(question), Freshness::Recent);
        let failed = |error: &dyn std::fmt::Display| {
            tracing::error!(%error, "a search failed");
            Problem::internal("the word index cannot be read")
        };
        loop {
            let Some(index) = self.stores.index(crawl, freshness).await? else {
                return Err(Problem::not_found(format!("`{crawl}` has nothing to search yet"))
                    .with_hint("it has once an iteration of it is over"));
            };
            let question = Arc::clone(&question);
            // It blocks on reads.
            let answered = tokio::task::spawn_blocking(move || question(&index)).await;
            match answered.map_err(|error| failed(&error))? {
                Ok(answer) => return Ok(answer),
                Err(error) if freshness == Freshness::Recent => {
                    tracing::info!(%error, "looking for a newer word index");
                    freshness = Freshness::Newest;
                }
                Err(error) => return Err(failed(&error)),
            }
        }
    }
}

fn read_only() -> Problem {
    Problem::conflict("the crawls are only read here")
}

fn standing(
    crawl: &CrawlId,
    row: CrawlRow,
    definition_url: Option<String>,
    latest: Option<&IterationRow>,
) -> CrawlStanding {
    let CrawlRow { definition, version, switch } = row;
    let schedule = definition.schedule.as_ref();
    let state = match switch {
        Switch::Off => ScheduleState::Off,
        Switch::On { next: None } if schedule.is_some() => ScheduleState::Paused,
        Switch::On { .. } => ScheduleState::On,
    };
    CrawlStanding {
        name: crawl.clone(),
        version,
        state,
        definition_url,
        user: definition.user.as_ref().map(|user| user.as_str().to_owned()),
        cron_expression: schedule.map(|schedule| schedule.cron().to_owned()),
        time_zone: schedule.map(|schedule| schedule.time_zone().to_owned()),
        next: switch.next(),
        iteration: latest.map(IterationView::from),
    }
}

impl<W: World + 'static, S: Stores> Backend for PortsBackend<W, S> {
    fn crawls(&self) -> Answer<'_, Vec<CrawlId>> {
        Box::pin(async { Ok(self.stores.crawls().await?) })
    }

    fn standing<'a>(&'a self, crawl: &'a CrawlId) -> Answer<'a, Option<CrawlStanding>> {
        Box::pin(async move {
            let Some(row) = self.load_crawl(crawl).await? else { return Ok(None) };
            let latest = match &self.commands {
                Commands::Handled(handler) => handler.world.frontier().latest_iteration(crawl).await?,
                Commands::Refused => self.stores.reader(crawl)?.latest_iteration().await?,
            };
            let link = self.stores.link(crawl).await?.and_then(|call| call.definition_url);
            Ok(Some(standing(crawl, row, link, latest.as_ref())))
        })
    }

    fn definition<'a>(&'a self, crawl: &'a CrawlId) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            let row = self.load_crawl(crawl).await?;
            Ok(row.map(|row| dragline_definition::write(&row.definition)))
        })
    }

    fn iteration<'a>(&'a self, crawl: &'a CrawlId, number: Option<Iteration>) -> Answer<'a, Option<IterationRow>> {
        Box::pin(async move {
            let reader = self.stores.reader(crawl)?;
            Ok(match number {
                Some(number) => reader.load_iteration(number).await?,
                None => reader.latest_iteration().await?,
            })
        })
    }

    fn summary<'a>(&'a self, crawl: &'a CrawlId, iteration: IterationRow) -> Answer<'a, Summary> {
        Box::pin(async move { Ok(summary(&self.stores.reader(crawl)?, iteration).await?) })
    }

    fn progress<'a>(&'a self, iteration: &'a IterationRow) -> Answer<'a, ProgressView> {
        Box::pin(async move {
            let progress = self.stores.reader(&iteration.crawl)?.progress(iteration.number).await?;
            Ok(ProgressView::new(iteration, &progress))
        })
    }

    fn rows<'a>(
        &'a self,
        crawl: &'a CrawlId,
        kind: RowKind,
        query: &'a RowsQuery,
        after: Option<Cursor>,
    ) -> Answer<'a, RowBatch> {
        Box::pin(async move {
            let reader = self.stores.reader(crawl)?;
            let limit = query.limit.unwrap_or(ROWS);
            let mut filter = Filter { iteration: query.iteration, url: query.url.clone(), origin: None };
            let after = after.as_ref();
            let batch = match (kind, query.iteration) {
                (RowKind::Pages, None) => batch(reader.pages(&filter, after, limit).await?),
                (RowKind::Pages, Some(_)) => batch(reader.seen_pages(&filter, after, limit).await?),
                (RowKind::Links, None) => batch(reader.links(&filter, after, limit).await?),
                (RowKind::Links, Some(_)) => batch(reader.seen_links(&filter, after, limit).await?),
                (RowKind::Log, number) => {
                    if number.is_none() {
                        filter.iteration = reader.latest_iteration().await?.map(|latest| latest.number);
                    }
                    batch(reader.log(&filter, after, limit).await?)
                }
                (RowKind::Candidates, _) => batch(reader.candidates(&filter, after, limit).await?),
                (RowKind::Items, number) => {
                    let documents = match number {
                        None => reader.shown_documents(&filter, after, limit).await?,
                        Some(_) => reader.documents(&filter, after, limit).await?,
                    };
                    let is_wanted = |item: &dragline_domain::item::Item| {
                        query.item_type.as_ref().is_none_or(|wanted| item.types.contains(wanted))
                    };
                    let items = documents
                        .rows
                        .iter()
                        .flat_map(|row| ItemRow::rows_of_document(crawl, row, is_wanted).collect::<Vec<_>>());
                    let rows = items.filter_map(|item| serde_json::to_string(&item).ok()).collect();
                    RowBatch { rows, next: next(documents.rest, documents.cursor) }
                }
            };
            Ok(batch)
        })
    }

    fn search<'a>(&'a self, crawl: &'a CrawlId, request: Request) -> Answer<'a, String> {
        Box::pin(self.ask(crawl, move |index| {
            let results = index.search(&request)?;
            let report = SearchReport { query: &request.query, pages_indexed: index.pages(), results: &results };
            // Texts and numbers can always be written.
            Ok(serde_json::to_string(&report).unwrap_or_default())
        }))
    }

    fn similar<'a>(&'a self, crawl: &'a CrawlId, url: String, count: u32) -> Answer<'a, String> {
        Box::pin(async move {
            let urls = [UrlRules::keep_all(), UrlRules::default()].map(|rules| CrawlUrl::parse(&url, &rules));
            let [written, stripped] = urls.map(|url| url.map_err(|error| Problem::bad_request(error.to_string())));
            let urls = [written?, stripped?];
            let asked = self.ask(crawl, move |index| {
                for url in &urls {
                    if let Some(similar) = index.similar(url.as_str(), count)? {
                        return Ok(Some(serde_json::to_string(&similar).unwrap_or_default()));
                    }
                }
                Ok(None)
            });
            let missing = || Problem::not_found(format!("{} is not in the word index", url.escape_debug()));
            asked.await?.ok_or_else(missing)
        })
    }

    fn print<'a>(&'a self, crawl: &'a CrawlId, printout: Printout) -> Answer<'a, Output> {
        Box::pin(self.stores.print(crawl, printout))
    }

    fn link<'a>(&'a self, crawl: &'a CrawlId) -> Answer<'a, Option<AddCrawl>> {
        Box::pin(self.stores.link(crawl))
    }

    fn keep_link<'a>(&'a self, crawl: &'a CrawlId, link: Link) -> Answer<'a, ()> {
        Box::pin(self.stores.keep_link(crawl, link))
    }

    fn read_link<'a>(&'a self, url: &'a str) -> Answer<'a, String> {
        Box::pin(self.stores.read_link(url))
    }

    fn notices_waiting(&self) -> Answer<'_, Option<BTreeMap<CrawlId, u64>>> {
        Box::pin(async {
            let Commands::Handled(handler) = &self.commands else { return Ok(None) };
            let mut counts = BTreeMap::new();
            for owed in handler.world.frontier().owed_notices(Timestamp::MAX, NOTICES_MAX).await? {
                *counts.entry(owed.crawl().clone()).or_default() += 1;
            }
            Ok(Some(counts))
        })
    }

    fn runs(&self) -> RunsWhere {
        self.stores.runs()
    }

    fn free_bytes(&self) -> Answer<'_, Option<u64>> {
        Box::pin(async { Ok(self.stores.free_bytes()) })
    }

    fn now(&self) -> Timestamp {
        SystemClock::new().now()
    }

    fn fresh_trigger(&self) -> TriggerId {
        match &self.commands {
            Commands::Handled(handler) => TriggerId(format!("call-{:032x}", handler.world.rng().bits())),
            // The command will be refused.
            Commands::Refused => TriggerId("call".to_owned()),
        }
    }

    fn command<'a>(&'a self, command: &'a Command, trigger: &'a TriggerId) -> Answer<'a, CommandResult> {
        Box::pin(async move {
            let Commands::Handled(handler) = &self.commands else { return Err(read_only()) };
            let Handler { world, contexts, defaults } = &**handler;
            let handled = Box::pin(handle(&**world, contexts, defaults, command, trigger)).await?;
            match handled {
                CommandResult::Refused(refusal) => Err(refusal.into()),
                done => Ok(done),
            }
        })
    }

    fn put_paused<'a>(&'a self, definition: &'a Definition) -> Answer<'a, ()> {
        Box::pin(async move {
            let row = self.row(&definition.name).await?;
            if row.switch != (Switch::On { next: None }) {
                return Err(Problem::conflict(format!("the crawl `{}` is not paused", definition.name)));
            }
            let put = PutCrawl { definition: definition.clone(), seen: Some(row.version), next: None };
            match self.world()?.frontier().put_crawl(&put).await? {
                CrawlPut::Stored(_) => Ok(()),
                _ => Err(Problem::conflict("somebody else has changed the definition meanwhile")),
            }
        })
    }

    fn set_schedule<'a>(&'a self, crawl: &'a CrawlId, state: ScheduleState) -> Answer<'a, ()> {
        Box::pin(async move {
            let world = self.world()?;
            let frontier = world.frontier();
            // Others may change the crawl after it was looked at.
            for _ in 0..SWITCHES_MAX {
                let CrawlRow { definition, version, switch } = self.row(crawl).await?;
                let schedule = definition.schedule.as_ref();
                match (state, switch) {
                    (ScheduleState::Off, _) => return Ok(frontier.switch_off(crawl).await?),
                    (ScheduleState::Paused, _) if schedule.is_none() => {
                        return Err(Problem::conflict(format!("the crawl `{crawl}` has no schedule to pause")));
                    }
                    (ScheduleState::Paused, Switch::Off) => {
                        return Err(Problem::conflict(format!("the crawl `{crawl}` was removed")));
                    }
                    (ScheduleState::Paused, Switch::On { next: None })
                    | (ScheduleState::On, Switch::On { next: Some(_) }) => return Ok(()),
                    (ScheduleState::On, Switch::On { next: None }) if schedule.is_none() => return Ok(()),
                    (ScheduleState::Paused, Switch::On { next: Some(seen) }) => {
                        let passed = MoveSchedule { crawl: crawl.clone(), seen, next: None };
                        frontier.move_schedule(&passed).await?;
                    }
                    (ScheduleState::On, _) => {
                        let next = schedule.and_then(|schedule| schedule.next_after(world.clock().now()));
                        let put = PutCrawl { definition, seen: Some(version), next };
                        if let CrawlPut::Stored(_) = frontier.put_crawl(&put).await? {
                            return Ok(());
                        }
                    }
                }
            }
            let why = "others keep changing the crawl";
            Err(PortError::new(PortErrorKind::Unavailable, "set schedule", crawl, why).into())
        })
    }
}

fn batch<R: Row>(batch: Batch<R>) -> RowBatch {
    let columns = R::columns();
    let rows = batch.rows.into_iter().map(|row| line(&columns, &row.cells())).collect();
    RowBatch { rows, next: next(batch.rest, batch.cursor) }
}

fn next(rest: Rest, cursor: Option<Cursor>) -> Option<Cursor> {
    match rest {
        Rest::More => cursor,
        Rest::Nothing => None,
    }
}
