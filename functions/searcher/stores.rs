//! The crawls of a stack, as the API reads them.

use std::sync::Arc;

use axum::http::StatusCode;
use dragline_definition::TEXT_BYTES_MAX;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_lambda::{DynamoFrontier, DynamoReader, RunError, S3Definitions, S3Documents, S3Editions, S3Publications};
use dragline_ports::clock::Clock as _;
use dragline_ports::error::{PortErrorKind, PortResult};
use dragline_ports::frontier::{CrawlRow, Crawls as _};
use dragline_ports::reader::Reader as _;
use dragline_ports::system::SystemClock;
use dragline_search::Index;
use dragline_service::{AddCrawl, Freshness, Link, Output, Printout, Problem, ReportFormat, ReportQuery, Stores};
use tokio::runtime::Handle;

use super::indexes::OpenIndexes;
use super::printouts;

/// The crawls of a stack.
pub(crate) struct StackCrawls {
    /// The stack's name.
    pub(crate) stack: String,
    pub(crate) frontier: DynamoFrontier,
    pub(crate) documents: S3Documents,
    pub(crate) indexes: OpenIndexes<S3Editions>,
    pub(crate) publications: S3Publications,
    pub(crate) definitions: S3Definitions,
    /// By it, the open indexes know how long they are open.
    pub(crate) clock: SystemClock,
}

impl StackCrawls {
    /// Returns the page that the publisher made of an iteration, or of the latest.
    async fn report(&self, crawl: &CrawlId, wanted: Option<Iteration>) -> Result<Output, Problem> {
        let wanted = match wanted {
            Some(wanted) => Some(wanted),
            None => self.reader(crawl)?.latest_iteration().await?.map(|row| row.number),
        };
        let Some(number) = wanted else { return Err(Problem::not_found(format!("`{crawl}` has not begun"))) };
        let missing = || {
            Problem::not_found(format!("there is no report on iteration {number} of `{crawl}`"))
                .with_hint("it is written when the iteration is over")
        };
        Ok(printouts::output(self.publications.report(crawl, number).await?.ok_or_else(missing)?))
    }
}

impl Stores for StackCrawls {
    type Reader = DynamoReader;

    async fn crawls(&self) -> PortResult<Vec<CrawlId>> {
        self.frontier.crawls().await
    }

    async fn load_crawl(&self, crawl: &CrawlId) -> PortResult<Option<CrawlRow>> {
        self.frontier.load_crawl(crawl).await
    }

    /// The publisher makes it when an iteration is over.
    async fn index(&self, crawl: &CrawlId, freshness: Freshness) -> Result<Option<Arc<Index>>, Problem> {
        let failed = |error: RunError| {
            tracing::error!(%error, "a word index cannot be opened");
            let title = "unavailable";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, title, "the word index cannot be opened; the log says why")
        };
        self.indexes.index(crawl, freshness, self.clock.monotonic()).await.map_err(failed)
    }

    async fn link(&self, crawl: &CrawlId) -> Result<Option<AddCrawl>, Problem> {
        let Some(call) = self.frontier.load_link(crawl).await? else { return Ok(None) };
        let damaged = |error| {
            tracing::error!(%error, "a link is damaged");
            Problem::internal("where the definition came from is damaged")
        };
        serde_json::from_str(&call).map(Some).map_err(damaged)
    }

    async fn keep_link(&self, crawl: &CrawlId, Link { version, call }: Link) -> Result<(), Problem> {
        let call = call.map(|call| serde_json::to_string(&call)).transpose();
        let call = call.map_err(|error| Problem::bad_request(error.to_string()))?;
        Ok(self.frontier.put_link(crawl, version, call.as_deref()).await?)
    }

    /// Buckets have no end.
    fn free_bytes(&self) -> Option<u64> {
        None
    }

    async fn read_link(&self, url: &str) -> Result<String, Problem> {
        let Some(key) = self.definitions.key(url) else {
            let place = self.definitions.place();
            return Err(Problem::bad_request(format!(
                "`definition_url` is not below {place}, from where alone it is read"
            )));
        };
        let long =
            || Problem::bad_request(format!("{url} is longer than {TEXT_BYTES_MAX} bytes, which no definition is"));
        let stored = match self.definitions.read(&key).await {
            Err(error) if error.kind == PortErrorKind::TooLarge => return Err(long()),
            stored => stored?,
        };
        let text = stored.ok_or_else(|| Problem::not_found(format!("there is no {url}")))?;
        if text.len() > TEXT_BYTES_MAX {
            return Err(long());
        }
        String::from_utf8(text).map_err(|_| Problem::bad_request(format!("{url} is no text in UTF-8")))
    }

    async fn print(&self, crawl: &CrawlId, printout: Printout) -> Result<Output, Problem> {
        match printout {
            Printout::History { url } => printouts::history(&self.reader(crawl)?, crawl, &url).await,
            Printout::Diff(query) => {
                let (reader, crawl, runtime) = (self.reader(crawl)?, crawl.clone(), Handle::current());
                // It combines what it reads, and its future stays on one thread.
                let differences = move || runtime.block_on(printouts::diff(&reader, &crawl, &query));
                tokio::task::spawn_blocking(differences).await.map_err(|error| {
                    tracing::error!(%error, "a comparison failed");
                    Problem::internal("the comparison broke off")
                })?
            }
            Printout::Report(ReportQuery { iteration, format: ReportFormat::Html }) => {
                self.report(crawl, iteration).await
            }
            other => Err(printouts::by_command(&self.stack, crawl, &other)),
        }
    }

    fn reader(&self, crawl: &CrawlId) -> PortResult<DynamoReader> {
        Ok(DynamoReader::new(self.frontier.clone(), self.documents.clone(), crawl.clone()))
    }
}
