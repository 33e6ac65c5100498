//! The [`Reader`] over SQLite.
//!
//! Streams walk segments in commit order, and skip whole segments by the filter. A batch stops when
//! it is full, so its cost is proportional to its rows. Commits of a running crawl between two
//! batches appear in the second.

mod leftovers;
mod pulse;
mod rows;
mod streams;

use std::sync::{Arc, Mutex, PoisonError};

use dragline_domain::frontier::{IterationRow, OriginKey};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::Progress;
use dragline_ports::reader::{
    Batch, CandidateRow, Cursor, DocumentRow, Filter, LeftoverRow, LinkRow, LogRow, PageRow, Reader, SeenPageRow,
    StoredSegment,
};

use crate::db::{CrawlRowId, Db, OriginRowId, StoreError};
use crate::open::Reading;

pub use pulse::Pulse;

/// Reads a crawl in a data directory, whether it is running or not.
#[derive(Clone, Debug)]
pub struct SqliteReader {
    /// One operation at a time.
    reading: Arc<Mutex<Reading>>,
    crawl: CrawlId,
}

impl Reading {
    /// Returns the reader of this crawl.
    #[must_use]
    pub fn into_reader(self, crawl: CrawlId) -> SqliteReader {
        SqliteReader { reading: Arc::new(Mutex::new(self)), crawl }
    }
}

impl Reader for SqliteReader {
    async fn latest_iteration(&self) -> PortResult<Option<IterationRow>> {
        self.run("read latest iteration", Db::latest_iteration).await
    }

    async fn load_iteration(&self, number: Iteration) -> PortResult<Option<IterationRow>> {
        self.run("read iteration", move |db, crawl| db.iteration(crawl, number)).await
    }

    async fn progress(&self, number: Iteration) -> PortResult<Progress> {
        self.run("read progress", move |db, crawl| crate::frontier::progress::progress(db, crawl, number)).await
    }

    async fn times_forgotten(&self) -> PortResult<u64> {
        self.run("read settings", |db, _| db.forgotten()).await
    }

    async fn unvisited(&self) -> PortResult<u64> {
        self.run("count unvisited URLs", Db::unvisited).await
    }

    async fn pages(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<PageRow>> {
        self.stream("read pages", filter, after, limit, streams::pages).await
    }

    async fn links(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<LinkRow>> {
        self.stream("read links", filter, after, limit, streams::links).await
    }

    async fn seen_pages(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<SeenPageRow>> {
        self.stream("read seen pages", filter, after, limit, streams::seen_pages).await
    }

    async fn seen_links(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<LinkRow>> {
        self.stream("read seen links", filter, after, limit, streams::seen_links).await
    }

    async fn log(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<LogRow>> {
        self.stream("read log", filter, after, limit, streams::log).await
    }

    async fn candidates(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<CandidateRow>> {
        self.stream("read candidates", filter, after, limit, streams::candidates).await
    }

    async fn documents(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<DocumentRow>> {
        self.stream("read documents", filter, after, limit, streams::documents).await
    }

    async fn shown_documents(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<DocumentRow>> {
        self.stream("read shown documents", filter, after, limit, streams::shown_documents).await
    }

    async fn leftovers(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<LeftoverRow>> {
        self.stream("read leftovers", filter, after, limit, leftovers::leftovers).await
    }

    async fn segments(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<StoredSegment>> {
        self.stream("read segments", filter, after, limit, streams::segments).await
    }
}

impl SqliteReader {
    /// Runs a read on a thread that may wait for the disk.
    async fn run<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Db, &CrawlId) -> Result<T, StoreError> + Send + 'static,
    ) -> PortResult<T> {
        let (reading, crawl) = (Arc::clone(&self.reading), self.crawl.clone());
        let failed = |kind, source: Box<dyn std::error::Error + Send + Sync>| {
            PortError::new(kind, operation, &self.crawl, source)
        };
        let read = tokio::task::spawn_blocking(move || {
            // A read that panicked changed nothing.
            let reading = reading.lock().unwrap_or_else(PoisonError::into_inner);
            work(reading.db(), &crawl)
        });
        match read.await {
            Ok(read) => read.map_err(|error| failed(error.kind(), error.into())),
            Err(stopped) => Err(failed(PortErrorKind::Other, stopped.into())),
        }
    }

    async fn stream<T: Send + 'static>(
        &self,
        operation: &'static str,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        read: fn(&Db, &WantedRows) -> Result<Batch<T>, StoreError>,
    ) -> PortResult<Batch<T>> {
        let (filter, after) = (filter.clone(), after.cloned());
        self.run(operation, move |db, crawl| match WantedRows::find(db, crawl, filter, after.as_ref(), limit)? {
            Some(wanted) => read(db, &wanted),
            None => Ok(streams::none(after)),
        })
        .await
    }
}

/// The wanted rows of a stream, by the ids of their crawl and origin.
struct WantedRows {
    crawl: CrawlRowId,
    name: CrawlId,
    /// The filter's origin.
    origin: Option<OriginRowId>,
    filter: Filter,
    after: Option<Cursor>,
    limit: usize,
}

impl WantedRows {
    /// Returns `None` if there is no such crawl or origin, and thus no row.
    fn find(
        db: &Db,
        crawl: &CrawlId,
        filter: Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Option<Self>, StoreError> {
        let Some(id) = db.crawl_id(crawl)? else { return Ok(None) };
        let origin = match filter.origin() {
            None => None,
            Some(origin) => match db.origin_id(&OriginKey { crawl: crawl.clone(), origin })? {
                None => return Ok(None),
                found => found,
            },
        };
        Ok(Some(Self { crawl: id, name: crawl.clone(), origin, filter, after: after.cloned(), limit }))
    }
}
