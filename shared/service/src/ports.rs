//! A backend over the ports.

use std::sync::Arc;

use axum::http::StatusCode;
use dragline_domain::command::Command;
use dragline_domain::frontier::{IterationRow, Switch};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use dragline_domain::outcome::{Outcome, OutcomeClass};
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::schedule::{CommandResult, Defaults, handle, put};
use dragline_ports::clock::{Clock as _, Rng as _};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{CrawlRow, Crawls as _, Iterations as _, MoveSchedule, Progress};
use dragline_ports::reader::{Batch, Cursor, Filter, Reader, Rest};
use dragline_ports::row::Row;
use dragline_report::{ItemRow, Summary, summary};
use dragline_search::{Index, Request, SearchError, SearchReport};
use jiff::Timestamp;

use crate::backend::{
    Answer, Backend, CrawlStanding, IterationView, ProgressView, RowBatch, RowKind, RowsQuery, ScheduleState,
};
use crate::printouts::{Output, Printout};
use crate::problem::Problem;
use crate::rows::{ROWS, ROWS_MAX, line};

/// The crawls of a store, each with a reader.
pub trait Stores: Send + Sync + 'static {
    /// The reader of a crawl.
    type Reader: Reader + 'static;

    /// Returns the names of all crawls.
    fn crawls(&self) -> impl Future<Output = PortResult<Vec<CrawlId>>> + Send;

    /// Returns the word index of a crawl, brought up to date; `None` before its first iteration.
    ///
    /// # Errors
    /// The index cannot be read or written.
    fn index(&self, crawl: &CrawlId) -> impl Future<Output = Result<Option<Index>, Problem>> + Send;

    /// Runs a command that prints something of a crawl, and ends it when its output is dropped.
    ///
    /// # Errors
    /// The command failed before it printed anything.
    fn print(&self, crawl: &CrawlId, printout: Printout) -> impl Future<Output = Result<Output, Problem>> + Send;

    /// Returns the reader of a crawl, which must exist.
    ///
    /// # Errors
    /// The store cannot be opened.
    fn reader(&self, crawl: &CrawlId) -> PortResult<Self::Reader>;
}

/// A backend over the ports of the steps, and the readers of their crawls.
pub struct PortsBackend<W, S> {
    world: Arc<W>,
    stores: S,
    contexts: Contexts,
    defaults: Defaults,
}

impl<W: World, S: Stores> PortsBackend<W, S> {
    /// Returns a backend over these ports. The defaults are for what a command leaves out.
    pub fn new(world: Arc<W>, stores: S, defaults: Defaults) -> Self {
        Self { world, stores, contexts: Contexts::default(), defaults }
    }

    async fn row(&self, crawl: &CrawlId) -> Result<CrawlRow, Problem> {
        let row = self.world.frontier().load_crawl(crawl).await?;
        row.ok_or_else(|| Problem::not_found(format!("there is no crawl `{crawl}`")))
    }
}

fn standing(crawl: &CrawlId, row: CrawlRow, latest: Option<&IterationRow>) -> CrawlStanding {
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
        cron_expression: schedule.map(|schedule| schedule.cron().to_owned()),
        time_zone: schedule.map(|schedule| schedule.time_zone().to_owned()),
        next: switch.next(),
        iteration: latest.map(IterationView::from),
    }
}

fn progress_view(row: &IterationRow, progress: &Progress) -> ProgressView {
    let failed = |(outcome, urls): (&Outcome, &u64)| (outcome.class() == OutcomeClass::Failed).then_some(*urls);
    ProgressView {
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

impl<W: World + 'static, S: Stores> Backend for PortsBackend<W, S> {
    fn crawls(&self) -> Answer<'_, Vec<CrawlId>> {
        Box::pin(async { Ok(self.stores.crawls().await?) })
    }

    fn standing<'a>(&'a self, crawl: &'a CrawlId) -> Answer<'a, Option<CrawlStanding>> {
        Box::pin(async move {
            let frontier = self.world.frontier();
            let Some(row) = frontier.load_crawl(crawl).await? else { return Ok(None) };
            let latest = frontier.latest_iteration(crawl).await?;
            Ok(Some(standing(crawl, row, latest.as_ref())))
        })
    }

    fn definition<'a>(&'a self, crawl: &'a CrawlId) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            let row = self.world.frontier().load_crawl(crawl).await?;
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
            Ok(progress_view(iteration, &progress))
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
            let limit = query.limit.unwrap_or(ROWS).clamp(1, ROWS_MAX);
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
        Box::pin(async move {
            let Some(index) = self.stores.index(crawl).await? else {
                return Err(Problem::not_found(format!("`{crawl}` has not begun, so there is nothing to search")));
            };
            // It blocks on reads.
            let searched = tokio::task::spawn_blocking(move || {
                let results = index.search(&request)?;
                let report = SearchReport { query: &request.query, pages_indexed: index.pages(), results: &results };
                // Texts and numbers can always be written.
                Ok::<_, SearchError>(serde_json::to_string(&report).unwrap_or_default())
            });
            let failed = |error: &dyn std::fmt::Display| {
                tracing::error!(%error, "a search failed");
                Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error", "the word index cannot be read")
            };
            searched.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))
        })
    }

    fn print<'a>(&'a self, crawl: &'a CrawlId, printout: Printout) -> Answer<'a, Output> {
        Box::pin(self.stores.print(crawl, printout))
    }

    fn now(&self) -> Timestamp {
        self.world.clock().now()
    }

    fn fresh_trigger(&self) -> TriggerId {
        TriggerId(format!("call-{:032x}", self.world.rng().bits()))
    }

    fn command<'a>(&'a self, command: &'a Command, trigger: &'a TriggerId) -> Answer<'a, CommandResult> {
        Box::pin(async move {
            let handled = Box::pin(handle(&*self.world, &self.contexts, &self.defaults, command, trigger)).await?;
            match handled {
                CommandResult::Refused(refusal) => Err(refusal.into()),
                done => Ok(done),
            }
        })
    }

    fn set_schedule<'a>(&'a self, crawl: &'a CrawlId, state: ScheduleState) -> Answer<'a, ()> {
        Box::pin(async move {
            let row = self.row(crawl).await?;
            match (state, row.switch) {
                (ScheduleState::Off, _) => self.world.frontier().switch_off(crawl).await?,
                (ScheduleState::Paused, Switch::On { next: Some(seen) }) => {
                    let passed = MoveSchedule { crawl: crawl.clone(), seen, next: None };
                    self.world.frontier().move_schedule(&passed).await?;
                }
                (ScheduleState::Paused, Switch::Off) => {
                    return Err(Problem::conflict(format!("the crawl `{crawl}` was removed")));
                }
                (ScheduleState::Paused, Switch::On { next: None })
                | (ScheduleState::On, Switch::On { next: Some(_) }) => {}
                (ScheduleState::On, _) => {
                    put(&*self.world, &row.definition).await?;
                }
            }
            Ok(())
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
