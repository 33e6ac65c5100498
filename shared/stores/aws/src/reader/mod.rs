//! The [`Reader`] over a stack's tables and its bucket.
//!
//! Rows come by origin, and within an origin in storage order: complete segments as they were
//! committed, and candidates by key. Memory use does not grow with the crawl, except for the known
//! URLs of one origin.

mod canonical;
mod described;
mod leftovers;
mod place;
mod rows;
mod seek;
mod shown;
mod walk;

use std::future::Future;
use std::sync::Arc;

use dragline_domain::capture::SegmentLog;
use dragline_domain::document::Document;
use dragline_domain::frontier::{IterationRow, SegmentRow, VisitPlace};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::CrawlUrl;
use dragline_ports::documents::Documents;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Iterations, Progress};
use dragline_ports::reader::{
    Batch, CandidateRow, Cursor, DocumentRow, Filter, LeftoverRow, LinkRow, LogRow, PageRow, Reader, SeenPageRow,
    StoredSegment,
};
use futures_util::stream::{self, StreamExt, TryStreamExt};

use self::canonical::{Canonicals, DecidingState};
use self::shown::LastShown;
use crate::documents::S3Documents;
use crate::frontier::DynamoFrontier;
use crate::rows::known::KnownUrl;

/// The most concurrent requests for segments' logs or documents: each may be some megabytes.
const SEGMENTS_MAX: usize = 8;

/// Reads a crawl of a stack.
#[derive(Clone)]
pub struct DynamoReader {
    frontier: DynamoFrontier,
    documents: S3Documents,
    crawl: CrawlId,
    shown: Arc<LastShown>,
}

impl DynamoReader {
    /// Returns a reader of this crawl.
    #[must_use]
    pub fn new(frontier: DynamoFrontier, documents: S3Documents, crawl: CrawlId) -> Self {
        Self { frontier, documents, crawl, shown: Arc::default() }
    }

    /// Loads the rows of a batch of segments concurrently.
    async fn load_rows<T: Send, F: Future<Output = PortResult<Vec<T>>> + Send>(
        segments: Batch<SegmentRow>,
        load: impl Fn(SegmentRow) -> F + Send,
    ) -> PortResult<Batch<T>> {
        let Batch { rows: segments, cursor, rest } = segments;
        let rows = stream::iter(segments).map(load).buffered(SEGMENTS_MAX).try_concat().await?;
        Ok(Batch { rows, cursor, rest })
    }

    /// Returns the wanted part of a segment's log, and its visits as rows; `None` if it is not
    /// logged yet, or has expired.
    async fn load_visits(
        &self,
        segment: &SegmentRow,
        wanted: Option<&CrawlUrl>,
    ) -> PortResult<Option<(SegmentLog, Vec<LogRow>)>> {
        let Some(mut log) = self.frontier.load_log(segment).await? else { return Ok(None) };
        log.entries.retain(|entry| wanted.is_none_or(|url| entry.url == *url));
        let visits = self.canonicals().decide_visits(&log, rows::log(&log)).await?;
        Ok(Some((log, visits)))
    }

    /// Returns the wanted part of a segment's documents; none if it is not parsed yet.
    async fn load_documents(&self, segment: &SegmentRow, wanted: Option<&CrawlUrl>) -> PortResult<Vec<Document>> {
        let mut documents = self.documents.load(segment).await?.unwrap_or_default();
        documents.retain(|document| wanted.is_none_or(|url| document.url == *url));
        Ok(documents)
    }

    /// Returns those of a segment's documents that the site shows now, each with the knowledge
    /// about its URL.
    async fn filter_shown(
        &self,
        segment: &SegmentRow,
        documents: Vec<Document>,
    ) -> PortResult<Vec<(Document, KnownUrl)>> {
        let urls: Vec<CrawlUrl> = documents.iter().map(|document| document.url.clone()).collect();
        let listed = self.shown.get(&segment.id.origin);
        let known = match listed.and_then(|listed| listed.find_known(&urls)) {
            Some(known) => known,
            None => self.frontier.load_known_urls(&self.crawl, &urls).await?,
        };
        let place = |n| VisitPlace { iteration: segment.iteration, turn: segment.id.turn, segment: segment.id.n, n };
        let shown = documents.into_iter().filter_map(|document| {
            let known = known.get(&document.url)?;
            (known.shown()?.place == place(document.n)).then(|| (document, known.clone()))
        });
        Ok(shown.collect())
    }

    /// The same, each with whether it is a copy.
    async fn shown_with_copies(
        &self,
        segment: &SegmentRow,
        wanted: Option<&CrawlUrl>,
    ) -> PortResult<Vec<(Document, KnownUrl, rows::Copy)>> {
        let shown = self.filter_shown(segment, self.load_documents(segment, wanted).await?).await?;
        let pages: Vec<_> = shown.iter().map(|(document, known)| (document.url.clone(), known.clone())).collect();
        let copies = Canonicals { by: DecidingState::Now, ..self.canonicals() }.are_copies(&pages).await?;
        Ok(shown.into_iter().zip(copies).map(|((document, known), copy)| (document, known, copy)).collect())
    }

    /// Returns the pages from a segment that the site shows now.
    async fn load_pages(&self, segment: &SegmentRow, wanted: Option<&CrawlUrl>) -> PortResult<Vec<PageRow>> {
        let shown = self.shown_with_copies(segment, wanted).await?;
        Ok(shown.iter().filter_map(|(document, known, copy)| rows::page(segment, document, known, *copy)).collect())
    }

    const fn canonicals(&self) -> Canonicals<'_> {
        Canonicals { frontier: &self.frontier, crawl: &self.crawl, by: DecidingState::LastEnding }
    }
}

impl Reader for DynamoReader {
    async fn latest_iteration(&self) -> PortResult<Option<IterationRow>> {
        self.frontier.latest_iteration(&self.crawl).await
    }

    async fn load_iteration(&self, number: Iteration) -> PortResult<Option<IterationRow>> {
        self.frontier.load_iteration(&self.crawl, number).await
    }

    async fn progress(&self, number: Iteration) -> PortResult<Progress> {
        self.frontier.progress(&self.crawl, number).await
    }

    async fn times_forgotten(&self) -> PortResult<u64> {
        self.frontier.times_forgotten(&self.crawl).await
    }

    async fn unvisited(&self) -> PortResult<u64> {
        self.count_unvisited().await
    }

    async fn pages(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<PageRow>> {
        let url = filter.url.as_ref();
        let load = |segment: SegmentRow| async move { self.load_pages(&segment, url).await };
        Self::load_rows(self.list_shown(filter, after, limit).await?, load).await
    }

    async fn links(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<LinkRow>> {
        let url = filter.url.as_ref();
        let load = |segment: SegmentRow| async move {
            let shown = self.filter_shown(&segment, self.load_documents(&segment, url).await?).await?;
            let now = shown.iter().map(|(document, _)| (rows::answered_in(&segment, document), document));
            Ok(rows::links(&segment, now))
        };
        Self::load_rows(self.list_shown(filter, after, limit).await?, load).await
    }

    async fn seen_pages(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<SeenPageRow>> {
        let url = filter.url.as_ref();
        let load = |segment: SegmentRow| async move {
            let Some((log, visits)) = self.load_visits(&segment, url).await? else { return Ok(Vec::new()) };
            let documents = self.load_described(&segment, Some(&log), url).await?;
            Ok(rows::seen_pages(&log, visits, &documents))
        };
        Self::load_rows(self.list_segments(filter, after, limit).await?, load).await
    }

    async fn seen_links(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<LinkRow>> {
        let url = filter.url.as_ref();
        let load = |segment: SegmentRow| async move {
            let log = self.frontier.load_log(&segment).await?;
            let documents = self.load_described(&segment, log.as_ref(), url).await?;
            Ok(rows::links(&segment, documents.values().map(|document| (segment.iteration, document))))
        };
        Self::load_rows(self.list_segments(filter, after, limit).await?, load).await
    }

    async fn log(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<LogRow>> {
        let url = filter.url.as_ref();
        let load = |segment: SegmentRow| async move {
            Ok(self.load_visits(&segment, url).await?.map_or_else(Vec::new, |(_, visits)| visits))
        };
        Self::load_rows(self.list_segments(filter, after, limit).await?, load).await
    }

    async fn candidates(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<CandidateRow>> {
        let Batch { rows: known, cursor, rest } = self.list_known_urls(filter, after, limit).await?;
        let rows = known.iter().map(|(origin, url)| rows::candidate(origin, url)).collect();
        let known: Vec<_> = known.into_iter().map(|(_, url)| url).collect();
        let rows = self.canonicals().decide_candidates(&known, rows).await?;
        Ok(Batch { rows, cursor, rest })
    }

    async fn documents(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<DocumentRow>> {
        let url = filter.url.as_ref();
        let load = |segment: SegmentRow| async move {
            let documents = self.load_documents(&segment, url).await?.into_iter();
            Ok(documents.map(|document| DocumentRow { iteration: segment.iteration, document }).collect())
        };
        Self::load_rows(self.list_segments(filter, after, limit).await?, load).await
    }

    async fn shown_documents(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<DocumentRow>> {
        let url = filter.url.as_ref();
        let load = |segment: SegmentRow| async move {
            let shown = self.shown_with_copies(&segment, url).await?.into_iter();
            let originals = shown.filter(|(_, _, copy)| *copy == rows::Copy::Original);
            Ok(originals.map(|(document, ..)| DocumentRow { iteration: segment.iteration, document }).collect())
        };
        Self::load_rows(self.list_shown(filter, after, limit).await?, load).await
    }

    async fn leftovers(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<LeftoverRow>> {
        self.list_leftovers(filter, after, limit).await
    }

    async fn segments(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<StoredSegment>> {
        let Batch { rows, cursor, rest } = self.list_stored(filter, after, limit).await?;
        Ok(Batch { rows: rows.into_iter().map(rows::stored_segment).collect(), cursor, rest })
    }
}
