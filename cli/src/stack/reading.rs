//! Going through what a stack holds of a crawl, origin by origin. What is in memory does not grow with the crawl.

use std::future::Future;
use std::ops::ControlFlow;

use dragline_aws::{Cursor, DynamoFrontier, KnownUrl, Listed, S3Documents};
use dragline_domain::capture::SegmentLog;
use dragline_domain::document::Document;
use dragline_domain::frontier::{OriginKey, SegmentRow};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_local::query::{CandidateRow, LinkRow, LogRow, PageRow};
use dragline_pipeline::ports::documents::Documents;
use dragline_pipeline::ports::error::PortResult;
use dragline_pipeline::ports::frontier::Frontier;
use futures_util::stream::{self, Stream, TryStreamExt};

use super::rows;

/// Origins, segments and candidates that are listed at once.
const LISTED_MAX: usize = 500;

/// Segments whose log or documents are asked for at the same time: each may be some megabytes.
const SEGMENTS_MAX: usize = 8;

/// A crawl of a stack, to be read. Segments come in the order of their origins, and of one origin as they were committed.
#[derive(Clone, Copy)]
pub(super) struct Reading<'s> {
    pub(super) frontier: &'s DynamoFrontier,
    pub(super) documents: &'s S3Documents,
    pub(super) crawl: &'s CrawlId,
}

impl<'s> Reading<'s> {
    /// Every visit that was logged in an iteration.
    pub(super) async fn log(
        self,
        iteration: Iteration,
        visit: &mut dyn FnMut(LogRow) -> ControlFlow<()>,
    ) -> PortResult<()> {
        let logs = self.of_segments(iteration, move |segment| self.load_log(segment));
        each(logs.map_ok(|log| log.iter().flat_map(rows::log).collect()), visit).await
    }

    /// Every URL that ended with an answer in an iteration.
    pub(super) async fn pages(
        self,
        iteration: Iteration,
        visit: &mut dyn FnMut(PageRow) -> ControlFlow<()>,
    ) -> PortResult<()> {
        let both = self.of_segments(iteration, move |segment| async move {
            let log = self.load_log(segment.clone()).await?;
            Ok((log, self.load_documents(segment).await?.1))
        });
        each(both.map_ok(|(log, documents)| log.iter().flat_map(|log| rows::pages(log, &documents)).collect()), visit)
            .await
    }

    /// Every link of an iteration's pages.
    pub(super) async fn links(
        self,
        iteration: Iteration,
        visit: &mut dyn FnMut(LinkRow) -> ControlFlow<()>,
    ) -> PortResult<()> {
        let documents = self.of_segments(iteration, move |segment| self.load_documents(segment));
        each(documents.map_ok(|(segment, documents)| rows::links(&segment, &documents)), visit).await
    }

    /// Every URL that is known.
    pub(super) async fn candidates(self, visit: &mut dyn FnMut(CandidateRow) -> ControlFlow<()>) -> PortResult<()> {
        let known = self.origins().map_ok(move |origin| self.known_urls(origin)).try_flatten();
        each(known, visit).await
    }

    async fn load_log(self, segment: SegmentRow) -> PortResult<Option<SegmentLog>> {
        self.frontier.load_log(&segment).await
    }

    async fn load_documents(self, segment: SegmentRow) -> PortResult<(SegmentRow, Vec<Document>)> {
        let documents = self.documents.load(&segment).await?;
        Ok((segment, documents.unwrap_or_default()))
    }

    /// What is loaded for each segment of an iteration, in the segments' order.
    fn of_segments<T: 's, F: Future<Output = PortResult<T>> + 's>(
        self,
        iteration: Iteration,
        load: impl Fn(SegmentRow) -> F + 's,
    ) -> impl Stream<Item = PortResult<T>> + 's {
        let segments = self.origins().map_ok(move |origin| self.segments(origin)).try_flatten();
        let wanted = segments
            .map_ok(move |rows| stream::iter(rows.into_iter().filter(move |row| row.iteration == iteration).map(Ok)));
        wanted.try_flatten().map_ok(load).try_buffered(SEGMENTS_MAX)
    }

    /// The crawl's origins.
    fn origins(self) -> impl Stream<Item = PortResult<OriginKey>> + 's {
        let pages = stream::try_unfold(None, move |after| async move {
            let origins = self.frontier.list_origins(self.crawl, after.as_ref(), LISTED_MAX).await?;
            Ok(origins.last().cloned().map(|last| (origins, Some(last))))
        });
        let key = move |origin| Ok(OriginKey { crawl: self.crawl.clone(), origin });
        pages.map_ok(move |origins| stream::iter(origins.into_iter().map(key))).try_flatten()
    }

    fn segments(self, origin: OriginKey) -> impl Stream<Item = PortResult<Vec<SegmentRow>>> + 's {
        pages(move |after| {
            let origin = origin.clone();
            async move { self.frontier.list_segments(&origin, after, LISTED_MAX).await }
        })
    }

    fn known_urls(self, origin: OriginKey) -> impl Stream<Item = PortResult<Vec<CandidateRow>>> + 's {
        let listed = origin.clone();
        let pages = pages(move |after| {
            let origin = listed.clone();
            async move { self.frontier.list_known_urls(&origin, after, LISTED_MAX).await }
        });
        pages.map_ok(move |known: Vec<KnownUrl>| known.iter().map(|url| rows::candidate(&origin, url)).collect())
    }
}

/// The pages of a list, one after another.
fn pages<T, F: Future<Output = PortResult<Listed<T>>>>(
    list: impl Fn(Option<Cursor>) -> F,
) -> impl Stream<Item = PortResult<Vec<T>>> {
    enum To {
        Read(Option<Cursor>),
        End,
    }
    stream::try_unfold((To::Read(None), list), |(to, list)| async move {
        let To::Read(after) = to else { return Ok(None) };
        let Listed { rows, next } = list(after).await?;
        let to = next.map_or(To::End, |next| To::Read(Some(next)));
        Ok(Some((rows, (to, list))))
    })
}

/// Calls back with each row until told to stop.
async fn each<T>(
    batches: impl Stream<Item = PortResult<Vec<T>>>,
    visit: &mut dyn FnMut(T) -> ControlFlow<()>,
) -> PortResult<()> {
    let mut batches = std::pin::pin!(batches);
    while let Some(batch) = batches.try_next().await? {
        for row in batch {
            if visit(row).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}
