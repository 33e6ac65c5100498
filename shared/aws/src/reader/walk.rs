//! Walking from origin to origin through what each holds.

use std::future::Future;

use dragline_domain::frontier::{OriginKey, SegmentRow};
use dragline_domain::url::Origin;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::Origins;
use dragline_ports::reader::{Batch, Cursor, Filter, Rest};
use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::DynamoReader;
use super::place::{Place, no_place};
use crate::frontier::{DynamoFrontier, Listed};
use crate::rows::keys;
use crate::rows::known::KnownUrl;

/// How many origins' URLs are counted at the same time.
const COUNTED_MAX: usize = 8;

/// How many origins are visited at once, whether or not they hold anything wanted.
const ORIGINS_MAX: usize = 100;

/// The size of WARC objects at which a batch is full, however few rows it has: the text of their pages is in memory at once.
const BYTES_MAX: u64 = 16 << 20;

/// What origins hold, in the order of sort keys.
trait Held: Sized + Send {
    /// The most that are listed at once.
    const LISTED_MAX: usize;

    fn list(
        frontier: &DynamoFrontier,
        origin: &OriginKey,
        after: Option<String>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Listed<Self>>> + Send;

    fn sort_key(&self, origin: &OriginKey) -> String;

    /// Returns about how many rows are made from it.
    fn rows(&self) -> usize;

    /// Returns a number of bytes to which the size of its rows is proportional.
    fn bytes(&self) -> u64;
}

impl Held for SegmentRow {
    /// Usually more than a batch takes, as a segment has some fifty pages.
    const LISTED_MAX: usize = 50;

    async fn list(
        frontier: &DynamoFrontier,
        origin: &OriginKey,
        after: Option<String>,
        limit: usize,
    ) -> PortResult<Listed<Self>> {
        frontier.list_segments(origin, after, limit).await
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

impl Held for KnownUrl {
    const LISTED_MAX: usize = 500;

    async fn list(
        frontier: &DynamoFrontier,
        origin: &OriginKey,
        after: Option<String>,
        limit: usize,
    ) -> PortResult<Listed<Self>> {
        frontier.list_known_urls(origin, after, limit).await
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

/// The next origins: the one that is wanted, or the crawl's, in order.
struct ToCome<'r> {
    reader: &'r DynamoReader,
    wanted: Option<Origin>,
    listed: std::vec::IntoIter<Origin>,
}

impl ToCome<'_> {
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
        let is_wanted = |segment: &SegmentRow| filter.iteration.is_none_or(|iteration| segment.iteration == iteration);
        let Batch { rows, cursor, rest } = self.walk(filter, after, limit, is_wanted).await?;
        Ok(Batch { rows: rows.into_iter().map(|(_, segment)| segment).collect(), cursor, rest })
    }

    /// Lists known URLs, each with its origin.
    pub(super) async fn list_known_urls(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<(OriginKey, KnownUrl)>> {
        let is_wanted = |known: &KnownUrl| {
            filter.iteration.is_none_or(|iteration| known.last.is_some_and(|last| last.iteration == iteration))
        };
        let Some(url) = &filter.url else { return self.walk(filter, after, limit, is_wanted).await };
        let origin = OriginKey { crawl: self.crawl.clone(), origin: url.origin() };
        let sort = keys::candidate(&origin, url.path_and_query()).sort;
        let behind = Place { origin: url.origin(), after: Some(sort) }.cursor();
        let is_read = after == Some(&behind);
        let mut found = self.frontier.load_known_urls(&self.crawl, std::slice::from_ref(url)).await?;
        let known = found.remove(url).filter(|known| !is_read && is_wanted(known));
        let cursor = if known.is_some() { Some(behind) } else { after.cloned() };
        Ok(Batch { rows: known.map(|known| (origin, known)).into_iter().collect(), cursor, rest: Rest::Nothing })
    }

    /// Counts the URLs of every origin that have not ended yet.
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

    async fn walk<T: Held>(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        is_wanted: impl Fn(&T) -> bool + Send,
    ) -> PortResult<Batch<(OriginKey, T)>> {
        let wanted = filter.origin();
        let place = after.map(|cursor| place_in(cursor, wanted.as_ref())).transpose()?;
        let mut origins = ToCome { reader: self, wanted, listed: Vec::new().into_iter() };
        let place = match place {
            Some(place) => Some(place),
            None => origins.first().await?.map(Place::beginning),
        };
        let (mut rows, mut made, mut bytes) = (Vec::new(), 0, 0);
        let Some(mut place) = place else { return Ok(Batch { rows, cursor: None, rest: Rest::Nothing }) };
        for _ in 0..ORIGINS_MAX {
            let origin = OriginKey { crawl: self.crawl.clone(), origin: place.origin.clone() };
            loop {
                let after = place.after.clone();
                let Listed { rows: listed, next } =
                    T::list(&self.frontier, &origin, after, limit.clamp(1, T::LISTED_MAX)).await?;
                for row in listed {
                    place.after = Some(row.sort_key(&origin));
                    if !is_wanted(&row) {
                        continue;
                    }
                    made += row.rows().max(1);
                    bytes += row.bytes();
                    rows.push((origin.clone(), row));
                    if made >= limit || bytes >= BYTES_MAX {
                        return Ok(Batch { rows, cursor: Some(place.cursor()), rest: Rest::More });
                    }
                }
                if next.is_none() {
                    break;
                }
            }
            match origins.after(Some(&place.origin)).await? {
                Some(next) => place = Place::beginning(next),
                None => return Ok(Batch { rows, cursor: Some(place.cursor()), rest: Rest::Nothing }),
            }
        }
        Ok(Batch { rows, cursor: Some(place.cursor()), rest: Rest::More })
    }
}

/// Returns the place of a cursor that this stream returned.
fn place_in(cursor: &Cursor, wanted: Option<&Origin>) -> PortResult<Place> {
    let place = Place::read(cursor);
    let place = place.and_then(|place| {
        if wanted.is_none_or(|wanted| *wanted == place.origin) { Ok(place) } else { Err(no_place(cursor)) }
    });
    place.map_err(|error| PortError::new(PortErrorKind::Other, "read on", cursor, error))
}
