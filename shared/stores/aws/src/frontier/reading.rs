//! Reading a crawl for display, page by page. No step needs it.

use std::collections::{BTreeSet, HashMap};

use dragline_domain::frontier::{OriginKey, SegmentId, SegmentRow};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_ports::error::PortResult;
use dragline_ports::reader::LeftoverRow;

use super::DynamoFrontier;
use super::progress::read_leftover;
use super::robots::read_robots_error;
use crate::dynamo::{Fields, Item, Order, Range};
use crate::errors::{StoreError, at};
use crate::meter::capacity::ReadKind;
use crate::rows::known::KnownUrl;
use crate::rows::{candidate, inbox, keys, segment};
use crate::tables::SORT;

/// Some rows of an origin.
pub(crate) struct ListedRows<T> {
    pub(crate) rows: Vec<T>,
    /// The sort key to continue after; `None` if that was all.
    pub(crate) next: Option<String>,
}

/// A part of the leftovers of origins.
pub(crate) struct ListedLeftovers {
    /// The matching ones, by iteration, origin and reason.
    pub(crate) rows: Vec<LeftoverRow>,
    /// The key of the last one, matching or not; `None` if there are none.
    pub(crate) last: Option<String>,
    /// Whether it is the last part.
    pub(crate) is_all: bool,
}

impl ListedLeftovers {
    fn is_of_last(&self, row: &LeftoverRow) -> bool {
        self.rows.last().is_some_and(|last| (last.iteration, &last.origin) == (row.iteration, &row.origin))
    }

    /// Adds an origin's leftovers of one turn to those of other turns for the same reason.
    fn add(&mut self, row: LeftoverRow) {
        let of_origin = self.rows.iter_mut().rev();
        let mut of_origin =
            of_origin.take_while(|other| (other.iteration, &other.origin) == (row.iteration, &row.origin));
        match of_origin.find(|other| other.reason == row.reason) {
            Some(same) => same.urls += row.urls,
            None => self.rows.push(row),
        }
    }
}

/// The most leftovers requested at once.
const LEFTOVERS_MAX: usize = 500;

impl DynamoFrontier {
    /// Lists an origin's segments of all iterations in commit order: at most `limit` after a sort
    /// key. May lag.
    pub(crate) async fn list_segments(
        &self,
        origin: &OriginKey,
        after: Option<String>,
        limit: usize,
    ) -> PortResult<ListedRows<SegmentRow>> {
        self.segments(origin, Order::Forwards, after, limit).await
    }

    /// Lists an origin's segments of all iterations, newest first: at most `limit` before a sort
    /// key. May lag.
    pub(crate) async fn list_newest_segments(
        &self,
        origin: &OriginKey,
        before: Option<String>,
        limit: usize,
    ) -> PortResult<ListedRows<SegmentRow>> {
        self.segments(origin, Order::Backwards, before, limit).await
    }

    async fn segments(
        &self,
        origin: &OriginKey,
        order: Order,
        from: Option<String>,
        limit: usize,
    ) -> PortResult<ListedRows<SegmentRow>> {
        let read = |item: &Item| {
            let id = keys::segment_id(origin, Fields(item).text(SORT)?)?;
            segment::read(&id, item)
        };
        let listed = self.listed(keys::segments(origin), order, from, limit, read).await;
        listed.map_err(|e| e.at("list segments", origin))
    }

    /// Returns these segments of an origin, in this order, without unknown ones. May lag.
    pub(crate) async fn load_segments(&self, origin: &OriginKey, ids: &[SegmentId]) -> PortResult<Vec<SegmentRow>> {
        at("load segments", origin, async {
            let found = self.db.get_all(ids.iter().map(keys::segment).collect(), ReadKind::Eventual).await?;
            let rows = ids.iter().filter_map(|id| Some(segment::read(id, found.get(&keys::segment(id))?)));
            rows.collect()
        })
        .await
    }

    /// Lists an origin's candidates, in the order of their sort keys: at most `limit` after one.
    /// May lag.
    pub(crate) async fn list_known_urls(
        &self,
        origin: &OriginKey,
        after: Option<String>,
        limit: usize,
    ) -> PortResult<ListedRows<KnownUrl>> {
        let range = keys::candidates_after(origin, None);
        let listed = self.listed(range, Order::Forwards, after, limit, KnownUrl::read).await;
        listed.map_err(|e| e.at("list candidates", origin))
    }

    /// Returns how many of an origin's candidates have not ended yet. May lag.
    pub(crate) async fn count_unvisited(&self, origin: &OriginKey) -> PortResult<u64> {
        let (range, unvisited) = (keys::candidates_after(origin, None), candidate::unvisited());
        let counted = self.db.count(&range, &unvisited, candidate::VISITED_BYTES).await;
        counted.map_err(|e| e.at("count candidates", origin))
    }

    /// Returns the candidates of these URLs, without unknown ones. May lag.
    pub(crate) async fn load_known_urls(
        &self,
        crawl: &CrawlId,
        urls: &[CrawlUrl],
    ) -> PortResult<HashMap<CrawlUrl, KnownUrl>> {
        at("load candidates", crawl, self.known_urls(crawl, urls)).await
    }

    async fn known_urls(&self, crawl: &CrawlId, urls: &[CrawlUrl]) -> Result<HashMap<CrawlUrl, KnownUrl>, StoreError> {
        let key = |url: &CrawlUrl| {
            let origin = OriginKey { crawl: crawl.clone(), origin: url.origin() };
            keys::candidate(&origin, url.path_and_query())
        };
        let found = self.db.get_all(urls.iter().map(key).collect(), ReadKind::Eventual).await?;
        let known = urls.iter().filter_map(|url| Some((url, found.get(&key(url))?)));
        known.map(|(url, item)| Ok((url.clone(), KnownUrl::read(item)?))).collect()
    }

    /// Lists leftovers, of an iteration or an origin if given: about `limit` after a key, and all
    /// of the last origin. May lag.
    pub(crate) async fn list_leftovers(
        &self,
        crawl: &CrawlId,
        (iteration, origin): (Option<Iteration>, Option<&Origin>),
        after: Option<&str>,
        limit: usize,
    ) -> PortResult<ListedLeftovers> {
        at("list leftovers", crawl, async {
            let range = keys::leftovers(crawl, iteration, origin);
            let mut range = Range { after: after.map(str::to_owned), ..range };
            let mut listed = ListedLeftovers { rows: Vec::new(), last: None, is_all: false };
            loop {
                // One more shows whether all of the last origin's are included.
                let page =
                    self.db.first(&range, limit.saturating_add(1).min(LEFTOVERS_MAX), ReadKind::Eventual).await?;
                for item in &page.items {
                    let row = read_leftover(item)?;
                    let is_wanted = row.urls > 0 && origin.is_none_or(|origin| row.origin == *origin);
                    if is_wanted && listed.rows.len() >= limit && !listed.is_of_last(&row) {
                        return Ok(listed);
                    }
                    listed.last = Some(Fields(item).text(SORT)?.to_owned());
                    if is_wanted {
                        listed.add(row);
                    }
                }
                range.after = page.next;
                if range.after.is_none() {
                    return Ok(ListedLeftovers { is_all: true, ..listed });
                }
            }
        })
        .await
    }

    /// Returns how many URLs of these origins parsers lost, and in which iteration, for those that
    /// lost any. May lag.
    pub(crate) async fn load_lost(
        &self,
        crawl: &CrawlId,
        origins: &[Origin],
    ) -> PortResult<Vec<(Origin, Iteration, u64)>> {
        at("load inboxes", crawl, async {
            let key = |origin: &Origin| keys::inbox(&OriginKey { crawl: crawl.clone(), origin: origin.clone() });
            let found = self.db.get_all(origins.iter().map(key).collect(), ReadKind::Eventual).await?;
            let inboxes = origins.iter().filter_map(|origin| Some((origin, found.get(&key(origin))?)));
            let lost = inboxes.map(|(origin, item)| {
                let inbox = inbox::read(item)?;
                Ok((origin.clone(), inbox.iteration, inbox.counters.unreadable))
            });
            let lost = lost.filter(|lost| lost.as_ref().map_or(true, |(_, _, urls)| *urls > 0));
            lost.collect()
        })
        .await
    }

    /// Returns the last errors of these origins' robots.txt, without origins whose robots.txt was
    /// answered. May lag.
    pub(crate) async fn load_robots_errors(
        &self,
        crawl: &CrawlId,
        origins: impl Iterator<Item = &Origin> + Send,
    ) -> PortResult<HashMap<Origin, String>> {
        let origins: BTreeSet<OriginKey> =
            origins.map(|origin| OriginKey { crawl: crawl.clone(), origin: origin.clone() }).collect();
        at("load robots", crawl, async {
            let found = self.db.get_all(origins.iter().map(keys::robots).collect(), ReadKind::Eventual).await?;
            let errors = origins.into_iter().filter_map(|key| {
                let error = found.get(&keys::robots(&key)).map(read_robots_error)?.transpose()?;
                Some(error.map(|error| (key.origin, error)))
            });
            errors.collect()
        })
        .await
    }

    async fn listed<T>(
        &self,
        range: Range,
        order: Order,
        after: Option<String>,
        limit: usize,
        read: impl Fn(&Item) -> Result<T, StoreError>,
    ) -> Result<ListedRows<T>, StoreError> {
        let range = Range { after, ..range };
        let page = self.db.page(&range, order, limit, ReadKind::Eventual).await?;
        let rows = page.items.iter().map(read).collect::<Result<_, _>>()?;
        Ok(ListedRows { rows, next: page.next })
    }
}
