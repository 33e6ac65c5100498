//! Walking through the rows of origins, from origin to origin.

use std::future::Future;

use dragline_domain::frontier::{OriginKey, SegmentRow};
use dragline_domain::ids::Iteration;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::Origins;
use dragline_ports::reader::{Batch, Cursor, Filter, Rest};
use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::DynamoReader;
use super::place::{OriginCursor, no_place};
use super::seek::before_iteration;
use super::shown::ShownSegment;
use crate::frontier::ListedRows;
use crate::rows::keys;
use crate::rows::known::KnownUrl;

/// The most origins whose URLs are counted concurrently.
const COUNTED_MAX: usize = 8;

/// The most origins visited at once, with or without matching rows.
const ORIGINS_MAX: usize = 100;

/// The size of WARC objects at which a batch is full, however few rows it has: the text of their
/// pages is in memory at once.
const BYTES_MAX: u64 = 16 << 20;

/// Rows of origins, in the order of their sort keys.
pub(super) trait OriginRow: Sized + Send {
    /// The most rows listed at once.
    const LISTED_MAX: usize;

    /// Lists at most `limit` rows after a sort key. If only one iteration is wanted, others may be
    /// left out.
    fn list(
        reader: &DynamoReader,
        origin: &OriginKey,
        iteration: Option<Iteration>,
        after: Option<String>,
        limit: usize,
    ) -> impl Future<Output = PortResult<ListedRows<Self>>> + Send;

    /// Whether a filter by this iteration matches it.
    fn matches_iteration(&self, iteration: Iteration) -> bool;

    fn sort_key(&self, origin: &OriginKey) -> String;

    /// Returns the approximate number of rows made from it.
    fn rows(&self) -> usize;

    /// Returns a number proportional to the bytes of its rows.
    fn bytes(&self) -> u64;
}

impl OriginRow for SegmentRow {
    /// Usually more than a batch takes, as a segment has some fifty pages.
    const LISTED_MAX: usize = 50;

    /// Turns only grow, so an iteration's segments are contiguous.
    async fn list(
        reader: &DynamoReader,
        origin: &OriginKey,
        iteration: Option<Iteration>,
        after: Option<String>,
        limit: usize,
    ) -> PortResult<ListedRows<Self>> {
        let Some(iteration) = iteration else { return reader.frontier.list_segments(origin, after, limit).await };
        let after = match after {
            None => before_iteration(&reader.frontier, origin, iteration).await?,
            after => after,
        };
        let ListedRows { rows, next } = reader.frontier.list_segments(origin, after, limit).await?;
        let next = next.filter(|_| rows.last().is_some_and(|last| last.iteration <= iteration));
        Ok(ListedRows { rows, next })
    }

    fn matches_iteration(&self, iteration: Iteration) -> bool {
        self.iteration == iteration
    }

    fn sort_key(&self, _origin: &OriginKey) -> String {
        keys::segment(&self.id).sort
    }

    fn rows(&self) -> usize {
        usize::try_from(self.entries).unwrap_or(usize::MAX)
    }

    fn bytes(&self) -> u64 {
        self.object_bytes
    }
}

/// A segment as such, without the rows made from it.
struct SegmentAlone(SegmentRow);

impl OriginRow for SegmentAlone {
    const LISTED_MAX: usize = 500;

    async fn list(
        reader: &DynamoReader,
        origin: &OriginKey,
        iteration: Option<Iteration>,
        after: Option<String>,
        limit: usize,
    ) -> PortResult<ListedRows<Self>> {
        let ListedRows { rows, next } = SegmentRow::list(reader, origin, iteration, after, limit).await?;
        Ok(ListedRows { rows: rows.into_iter().map(Self).collect(), next })
    }

    fn matches_iteration(&self, iteration: Iteration) -> bool {
        self.0.matches_iteration(iteration)
    }

    fn sort_key(&self, origin: &OriginKey) -> String {
        self.0.sort_key(origin)
    }

    fn rows(&self) -> usize {
        1
    }

    fn bytes(&self) -> u64 {
        0
    }
}

impl OriginRow for KnownUrl {
    const LISTED_MAX: usize = 500;

    async fn list(
        reader: &DynamoReader,
        origin: &OriginKey,
        _iteration: Option<Iteration>,
        after: Option<String>,
        limit: usize,
    ) -> PortResult<ListedRows<Self>> {
        reader.frontier.list_known_urls(origin, after, limit).await
    }

    /// Compares the iteration in which it last ended.
    fn matches_iteration(&self, iteration: Iteration) -> bool {
        self.last.is_some_and(|last| last.iteration == iteration)
    }

    fn sort_key(&self, origin: &OriginKey) -> String {
        keys::candidate(origin, &self.path_and_query).sort
    }

    fn rows(&self) -> usize {
        1
    }

    fn bytes(&self) -> u64 {
        0
    }
}

/// The origins still to visit: the wanted one, or all of the crawl, in order.
struct PendingOrigins<'r> {
    reader: &'r DynamoReader,
    wanted: Option<Origin>,
    listed: std::vec::IntoIter<Origin>,
}

impl PendingOrigins<'_> {
    async fn first(&mut self) -> PortResult<Option<Origin>> {
        match &self.wanted {
            Some(wanted) => Ok(Some(wanted.clone())),
            None => self.after(None).await,
        }
    }

    async fn after(&mut self, origin: Option<&Origin>) -> PortResult<Option<Origin>> {
        if self.wanted.is_some() {
            return Ok(None);
        }
        if let Some(next) = self.listed.next() {
            return Ok(Some(next));
        }
        let DynamoReader { frontier, crawl, .. } = self.reader;
        self.listed = frontier.list_origins(crawl, origin, ORIGINS_MAX).await?.into_iter();
        Ok(self.listed.next())
    }
}

impl DynamoReader {
    /// Lists segments with about this many rows.
    pub(super) async fn list_segments(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<SegmentRow>> {
        let Batch { rows, cursor, rest } = self.walk::<SegmentRow>(filter, after, limit).await?;
        Ok(Batch { rows: rows.into_iter().map(|(_, segment)| segment).collect(), cursor, rest })
    }

    /// Lists at most this many segments.
    pub(super) async fn list_stored(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<SegmentRow>> {
        let Batch { rows, cursor, rest } = self.walk::<SegmentAlone>(filter, after, limit).await?;
        Ok(Batch { rows: rows.into_iter().map(|(_, segment)| segment.0).collect(), cursor, rest })
    }

    /// Lists segments with about this many documents that the site shows now.
    pub(super) async fn list_shown(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<SegmentRow>> {
        if let Some(url) = &filter.url {
            return self.segment_that_shows(url, filter.iteration, after).await;
        }
        let Batch { rows, cursor, rest } = self.walk::<ShownSegment>(filter, after, limit).await?;
        Ok(Batch { rows: rows.into_iter().map(|(_, shown)| shown.row).collect(), cursor, rest })
    }

    /// Lists the segment of the document that a URL shows now, if any.
    async fn segment_that_shows(
        &self,
        url: &CrawlUrl,
        iteration: Option<Iteration>,
        after: Option<&Cursor>,
    ) -> PortResult<Batch<SegmentRow>> {
        let origin = OriginKey { crawl: self.crawl.clone(), origin: url.origin() };
        let known = self.frontier.load_known_urls(&self.crawl, std::slice::from_ref(url)).await?;
        let place = known.get(url).and_then(|known| Some(known.shown()?.place));
        let place = place.filter(|place| iteration.is_none_or(|iteration| place.iteration == iteration));
        let ids: Vec<_> = place.into_iter().map(|place| place.segment_id(&origin)).collect();
        let segment = self.frontier.load_segments(&origin, &ids).await?.pop();
        Ok(batch_of_one(&origin, segment, after))
    }

    /// Lists known URLs, each with its origin.
    pub(super) async fn list_known_urls(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<(OriginKey, KnownUrl)>> {
        let Some(url) = &filter.url else { return self.walk(filter, after, limit).await };
        let origin = OriginKey { crawl: self.crawl.clone(), origin: url.origin() };
        let mut known = self.frontier.load_known_urls(&self.crawl, std::slice::from_ref(url)).await?;
        let known = known.remove(url).filter(|known| is_wanted(known, filter));
        let Batch { rows, cursor, rest } = batch_of_one(&origin, known, after);
        Ok(Batch { rows: rows.into_iter().map(|known| (origin.clone(), known)).collect(), cursor, rest })
    }

    /// Counts the URLs of all origins that have not ended yet.
    pub(super) async fn count_unvisited(&self) -> PortResult<u64> {
        let (mut counted, mut after) = (0, None);
        loop {
            let origins = self.frontier.list_origins(&self.crawl, after.as_ref(), ORIGINS_MAX).await?;
            let Some(last) = origins.last().cloned() else { return Ok(counted) };
            let count = |origin| {
                let origin = OriginKey { crawl: self.crawl.clone(), origin };
                async move { self.frontier.count_unvisited(&origin).await }
            };
            let counts = stream::iter(origins).map(count).buffer_unordered(COUNTED_MAX);
            counted += counts.try_fold(0, |sum, count| async move { Ok(sum + count) }).await?;
            after = Some(last);
        }
    }

    async fn walk<T: OriginRow>(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<(OriginKey, T)>> {
        let wanted = filter.origin();
        let place = after.map(|cursor| place_in(cursor, wanted.as_ref())).transpose()?;
        let mut origins = PendingOrigins { reader: self, wanted, listed: Vec::new().into_iter() };
        let place = match place {
            Some(place) => Some(place),
            None => origins.first().await?.map(OriginCursor::beginning),
        };
        let (mut rows, mut made, mut bytes) = (Vec::new(), 0, 0);
        let Some(mut place) = place else { return Ok(Batch { rows, cursor: None, rest: Rest::Nothing }) };
        for _ in 0..ORIGINS_MAX {
            let origin = OriginKey { crawl: self.crawl.clone(), origin: place.origin.clone() };
            loop {
                let after = place.after.clone();
                let ListedRows { rows: listed, next } =
                    T::list(self, &origin, filter.iteration, after, limit.clamp(1, T::LISTED_MAX)).await?;
                for row in listed {
                    place.after = Some(row.sort_key(&origin));
                    if !is_wanted(&row, filter) {
                        continue;
                    }
                    made += row.rows().max(1);
                    bytes += row.bytes();
                    rows.push((origin.clone(), row));
                    if made >= limit || bytes >= BYTES_MAX {
                        return Ok(Batch { rows, cursor: Some(place.cursor()), rest: Rest::More });
                    }
                }
                match next {
                    Some(next) => place.after = Some(next),
                    None => break,
                }
            }
            match origins.after(Some(&place.origin)).await? {
                Some(next) => place = OriginCursor::beginning(next),
                None => return Ok(Batch { rows, cursor: Some(place.cursor()), rest: Rest::Nothing }),
            }
        }
        Ok(Batch { rows, cursor: Some(place.cursor()), rest: Rest::More })
    }
}

/// Whether a filter matches.
fn is_wanted(held: &impl OriginRow, filter: &Filter) -> bool {
    filter.iteration.is_none_or(|iteration| held.matches_iteration(iteration))
}

/// Returns the only row of a stream, unless there is none or it was read.
fn batch_of_one<T: OriginRow>(origin: &OriginKey, row: Option<T>, after: Option<&Cursor>) -> Batch<T> {
    let behind = |row: &T| OriginCursor { origin: origin.origin.clone(), after: Some(row.sort_key(origin)) }.cursor();
    let row = row.filter(|row| after != Some(&behind(row)));
    let cursor = row.as_ref().map(behind).or_else(|| after.cloned());
    Batch { rows: row.into_iter().collect(), cursor, rest: Rest::Nothing }
}

/// Returns the position of a cursor that this stream returned.
fn place_in(cursor: &Cursor, wanted: Option<&Origin>) -> PortResult<OriginCursor> {
    let place = OriginCursor::read(cursor);
    let place = place.and_then(|place| {
        if wanted.is_none_or(|wanted| *wanted == place.origin) { Ok(place) } else { Err(no_place(cursor)) }
    });
    place.map_err(|error| PortError::new(PortErrorKind::Other, "read on", cursor, error))
}
