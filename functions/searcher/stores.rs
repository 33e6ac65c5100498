//! The crawls of a stack, as the API reads them.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::StatusCode;
use dragline_definition::TEXT_BYTES_MAX;
use dragline_domain::address::AddressPolicy;
use dragline_domain::definition::{RunsWhere, StackBrowsers};
use dragline_domain::ids::CrawlId;
use dragline_http::HttpFetchers;
use dragline_lambda::{
    DynamoFrontier, DynamoReader, RunError, S3Archive, S3Definitions, S3Documents, S3Editions, S3Publications,
};
use dragline_ports::clock::Clock as _;
use dragline_ports::error::{PortErrorKind, PortResult};
use dragline_ports::frontier::{CrawlRow, Crawls as _};
use dragline_ports::publications::ReportForm;
use dragline_ports::system::SystemClock;
use dragline_search::Index;
use dragline_service::{
    AddCrawl, ArchiveQuery, Freshness, Link, Output, Printout, Problem, ReportFormat, ReportQuery, Stores,
};
use tokio::runtime::Handle;

use super::archive::wacz;
use super::backlinks::backlinks;
use super::explain::explain;
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
    /// The bodies.
    pub(crate) archive: S3Archive,
    /// For the robots.txt of explanations.
    pub(crate) fetchers: Arc<HttpFetchers>,
    pub(crate) addresses: AddressPolicy,
    pub(crate) browsers: StackBrowsers,
    /// Where link graphs are made.
    pub(crate) folder: PathBuf,
    /// By it, the open indexes know how long they are open.
    pub(crate) clock: SystemClock,
}

impl StackCrawls {
    /// Returns what the publisher made of an iteration, or of the latest.
    async fn report(&self, crawl: &CrawlId, query: ReportQuery) -> Result<Bytes, Problem> {
        let number = printouts::known_iteration(&self.reader(crawl)?, crawl, query.iteration).await?.number;
        let form = match query.format {
            ReportFormat::Html => ReportForm::Html,
            ReportFormat::Md => ReportForm::Markdown,
            ReportFormat::Json => ReportForm::Json,
        };
        let missing = || {
            Problem::not_found(format!("there is no report on iteration {number} of `{crawl}`"))
                .with_hint("it is written when the iteration is over")
        };
        self.publications.report(crawl, number, form).await?.ok_or_else(missing)
    }

    /// Returns what is printed. What computes, or combines what it reads, does so on a thread of
    /// its own, as its future stays on one.
    async fn text(&self, crawl: &CrawlId, printout: Printout) -> Result<Bytes, Problem> {
        let (reader, archive, clock) = (self.reader(crawl)?, self.archive.clone(), self.clock);
        let (crawl, folder) = (crawl.clone(), self.folder.clone());
        let text = match printout {
            Printout::Report(query) => return self.report(&crawl, query).await,
            Printout::History { url } => printouts::history(&reader, &crawl, &url).await,
            Printout::Explain { url } => {
                let missing = || Problem::not_found(format!("there is no crawl `{crawl}`"));
                let row = self.load_crawl(&crawl).await?.ok_or_else(missing)?;
                explain(&reader, row, (&crawl, &url), (&*self.fetchers, self.addresses)).await
            }
            Printout::Diff(query) => on_a_thread(async move || printouts::diff(&reader, &crawl, &query).await).await,
            Printout::Body(query) => {
                on_a_thread(async move || printouts::body((&reader, &archive), &crawl, &query).await).await
            }
            Printout::Backlinks { url } => {
                on_a_thread(async move || backlinks(&reader, (&crawl, &url), &folder, &clock).await).await
            }
            Printout::Archive(ArchiveQuery { iteration }) => {
                on_a_thread(async move || Box::pin(wacz((&reader, &archive), &crawl, iteration, &clock)).await).await
            }
        };
        text.map(Bytes::from)
    }
}

async fn on_a_thread<T: Send + 'static>(
    print: impl AsyncFnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || runtime.block_on(print())).await.map_err(|error| {
        tracing::error!(%error, "a printout failed");
        Problem::internal("it broke off; the function's log says why")
    })?
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

    fn runs(&self) -> RunsWhere {
        RunsWhere::OnStack(self.browsers)
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
        let command = printouts::command(&self.stack, crawl, &printout);
        let printed = self.text(crawl, printout).await.and_then(printouts::output);
        printed.map_err(|problem| match problem.status {
            413 => problem.with_hint(format!("print it by `{command}`")),
            _ => problem,
        })
    }

    fn reader(&self, crawl: &CrawlId) -> PortResult<DynamoReader> {
        Ok(DynamoReader::new(self.frontier.clone(), self.documents.clone(), crawl.clone()))
    }
}
