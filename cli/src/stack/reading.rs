//! Going through what a stack holds of a crawl, origin by origin. What is in memory does not grow with the crawl.

use std::future::Future;
use std::ops::ControlFlow;

use dragline_aws::{Cursor, DynamoFrontier, KnownUrl, Listed, S3Documents};
use dragline_domain::capture::SegmentLog;
use dragline_domain::document::Document;
use dragline_domain::frontier::{OriginKey, SegmentRow};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_local::query::{CandidateRow, LinkRow, LogRow, PageRow};
use dragline_ports::documents::Documents;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Origins;
use futures_util::stream::{self, LocalBoxStream, Stream, StreamExt, TryStreamExt};

use super::canonical::Canonicals;
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
        let visits = self.of_segments(iteration, move |segment| async move {
            Ok(self.load_visits(segment).await?.map_or_else(Vec::new, |(_, visits)| visits))
        });
        each(visits, visit).await
    }

    /// Every URL that ended with an answer in an iteration.
    pub(super) async fn pages(
        self,
        iteration: Iteration,
        visit: &mut dyn FnMut(PageRow) -> ControlFlow<()>,
    ) -> PortResult<()> {
        let pages = self.of_segments(iteration, move |segment| async move {
            let Some((log, visits)) = self.load_visits(segment.clone()).await? else { return Ok(Vec::new()) };
            Ok(rows::pages(&log, visits, &self.load_documents(segment).await?.1))
        });
        each(pages, visit).await
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
        each(known.boxed_local(), visit).await
    }

    /// A segment's log, and its visits as rows; `None` if it is not logged yet.
    async fn load_visits(self, segment: SegmentRow) -> PortResult<Option<(SegmentLog, Vec<LogRow>)>> {
        let Some(log) = self.frontier.load_log(&segment).await? else { return Ok(None) };
        let visits = self.canonicals().decide_visits(&log, rows::log(&log)).await?;
        Ok(Some((log, visits)))
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
    ) -> LocalBoxStream<'s, PortResult<T>> {
        let segments = self.origins().map_ok(move |origin| self.segments(origin)).try_flatten();
        let wanted = segments
            .map_ok(move |rows| stream::iter(rows.into_iter().filter(move |row| row.iteration == iteration).map(Ok)));
        wanted.try_flatten().map_ok(load).try_buffered(SEGMENTS_MAX).boxed_local()
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
        pages.and_then(move |known: Vec<KnownUrl>| {
            let rows = known.iter().map(|url| rows::candidate(&origin, url)).collect();
            async move { self.canonicals().decide_candidates(&known, rows).await }
        })
    }

    const fn canonicals(self) -> Canonicals<'s> {
        Canonicals { frontier: self.frontier, crawl: self.crawl }
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
