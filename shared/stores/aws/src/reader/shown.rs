//! The segments with documents that the site shows now. After years of crawls most segments have
//! none, and are not read.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use dragline_domain::frontier::{OriginKey, SegmentId, SegmentRow};
use dragline_domain::ids::{Iteration, Turn};
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;

use super::DynamoReader;
use super::walk::OriginRow;
use crate::frontier::ListedRows;
use crate::rows::keys;
use crate::rows::known::KnownUrl;

/// The number of known URLs read at once.
const KNOWN_MAX: usize = 1_000;

/// The most known URLs kept in memory with all their data, some 40 MB. Those of larger origins are
/// read again with their documents.
const KEPT_MAX: usize = 50_000;

/// A segment with documents that the site shows now.
#[derive(Debug)]
pub(super) struct ShownSegment {
    pub(super) row: SegmentRow,
    /// Their number.
    documents: usize,
}

/// The segments of an origin with documents that the site shows, in commit order, each with its
/// iteration and the number of documents. Takes one entry of memory per segment.
#[derive(Debug)]
pub(super) struct ShownSegments {
    origin: OriginKey,
    documents: BTreeMap<(Turn, u64), (Iteration, usize)>,
    /// The URLs that show something, by path and query; `None` if there are too many.
    known: Option<HashMap<String, KnownUrl>>,
}

impl ShownSegments {
    /// Returns the known URLs among these, without those that show nothing. `None` if they were not
    /// kept.
    pub(super) fn find_known(&self, urls: &[CrawlUrl]) -> Option<HashMap<CrawlUrl, KnownUrl>> {
        let kept = self.known.as_ref()?;
        let known = urls.iter().filter_map(|url| Some((url.clone(), kept.get(url.path_and_query())?.clone())));
        Some(known.collect())
    }

    /// Returns the number of entries in memory.
    fn kept_entries(&self) -> usize {
        self.documents.len() + self.known.as_ref().map_or(0, HashMap::len)
    }
}

/// The latest listings: a caller that reads an origin batch by batch lists it once, and a batch of
/// many small origins knows all their URLs.
#[derive(Debug, Default)]
pub(super) struct LastShown(Mutex<VecDeque<Arc<ShownSegments>>>);

impl LastShown {
    /// Returns the listing of an origin; `None` if it was dropped.
    pub(super) fn get(&self, origin: &OriginKey) -> Option<Arc<ShownSegments>> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.iter().find(|listed| listed.origin == *origin).cloned()
    }

    /// Keeps the listing of an origin, and earlier listings as far as there is room.
    fn keep(&self, listed: &Arc<ShownSegments>) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.retain(|earlier| earlier.origin != listed.origin);
        last.push_back(Arc::clone(listed));
        let mut kept: usize = last.iter().map(|listed| listed.kept_entries()).sum();
        while kept > KEPT_MAX && last.len() > 1 {
            kept -= last.pop_front().map_or(0, |oldest| oldest.kept_entries());
        }
    }
}

impl DynamoReader {
    /// Finds the segments of the documents that an origin's known URLs show.
    async fn read_shown(&self, origin: &OriginKey) -> PortResult<Arc<ShownSegments>> {
        let (mut documents, mut after, mut known) = (BTreeMap::new(), None, Some(HashMap::new()));
        loop {
            let ListedRows { rows, next } = self.frontier.list_known_urls(origin, after, KNOWN_MAX).await?;
            for row in rows {
                let Some(place) = row.shown().map(|shown| shown.place) else { continue };
                let (_, count) = documents.entry((place.turn, place.segment)).or_insert((place.iteration, 0));
                *count += 1;
                if let Some(kept) = &mut known {
                    kept.insert(row.path_and_query.clone(), row);
                }
            }
            known = known.filter(|kept| kept.len() <= KEPT_MAX);
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let listed = Arc::new(ShownSegments { origin: origin.clone(), documents, known });
        self.shown.keep(&listed);
        Ok(listed)
    }
}

impl OriginRow for ShownSegment {
    const LISTED_MAX: usize = 50;

    async fn list(
        reader: &DynamoReader,
        origin: &OriginKey,
        iteration: Option<Iteration>,
        after: Option<String>,
        limit: usize,
    ) -> PortResult<ListedRows<Self>> {
        // Read anew at an origin's beginning, as the crawl may have gone on.
        let shown = match after.as_ref().and_then(|_| reader.shown.get(origin)) {
            Some(shown) => shown,
            None => reader.read_shown(origin).await?,
        };
        let behind = match &after {
            Some(after) => {
                let id = keys::segment_id(origin, after).map_err(|error| error.at("read on", origin))?;
                (id.turn, id.n.saturating_add(1))
            }
            None => (Turn(0), 0),
        };
        let wanted =
            shown.documents.range(behind..).filter(|(_, (of, _))| iteration.is_none_or(|wanted| *of == wanted));
        let mut wanted: Vec<_> = wanted.take(limit.saturating_add(1)).collect();
        let has_more = wanted.len() > limit;
        wanted.truncate(limit);
        let id = |(turn, n): (Turn, u64)| SegmentId { origin: origin.clone(), turn, n };
        let ids: Vec<SegmentId> = wanted.iter().map(|(place, _)| id(**place)).collect();
        let next = ids.last().filter(|_| has_more).map(|id| keys::segment(id).sort);
        let rows = reader.frontier.load_segments(origin, &ids).await?.into_iter();
        let documents = |row: &SegmentRow| shown.documents.get(&(row.id.turn, row.id.n)).map_or(0, |(_, count)| *count);
        Ok(ListedRows { rows: rows.map(|row| Self { documents: documents(&row), row }).collect(), next })
    }

    fn matches_iteration(&self, iteration: Iteration) -> bool {
        self.row.matches_iteration(iteration)
    }

    fn sort_key(&self, origin: &OriginKey) -> String {
        self.row.sort_key(origin)
    }

    fn rows(&self) -> usize {
        self.documents
    }

    fn bytes(&self) -> u64 {
        self.row.bytes()
    }
}
