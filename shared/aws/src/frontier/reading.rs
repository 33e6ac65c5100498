//! Reading a crawl for people, page by page. No step needs it.

use std::collections::HashMap;

use dragline_domain::frontier::{OriginKey, SegmentRow};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;

use super::DynamoFrontier;
use crate::dynamo::{Fields, Item, Range};
use crate::errors::{StoreError, at};
use crate::meter::capacity::ReadKind;
use crate::rows::known::KnownUrl;
use crate::rows::{keys, segment};
use crate::tables::SORT;

/// Some rows of an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Where to go on; absent: that was all.
    pub next: Option<Cursor>,
}

/// A place among an origin's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(String);

impl DynamoFrontier {
    /// An origin's segments of every iteration, in the order in which they were committed: at most `limit` of those after a place. It may
    /// lag.
    ///
    /// # Errors
    /// Where the store did not do its work.
    pub async fn list_segments(
        &self,
        origin: &OriginKey,
        after: Option<Cursor>,
        limit: usize,
    ) -> PortResult<Listed<SegmentRow>> {
        let read = |item: &Item| {
            let id = keys::segment_id(origin, Fields(item).text(SORT)?)?;
            segment::read(&id, item)
        };
        let listed = self.listed(keys::segments(origin), after, limit, read).await;
        listed.map_err(|e| e.at("list segments", origin))
    }

    /// An origin's candidates, in the order of their sort keys: at most `limit` of those after a place. It may lag.
    ///
    /// # Errors
    /// Where the store did not do its work.
    pub async fn list_known_urls(
        &self,
        origin: &OriginKey,
        after: Option<Cursor>,
        limit: usize,
    ) -> PortResult<Listed<KnownUrl>> {
        let listed = self.listed(keys::candidates_after(origin, None), after, limit, KnownUrl::read).await;
        listed.map_err(|e| e.at("list candidates", origin))
    }

    /// The candidates of these URLs; those that are not known are left out. It may lag.
    ///
    /// # Errors
    /// Where the store did not do its work.
    pub async fn load_known_urls(&self, crawl: &CrawlId, urls: &[CrawlUrl]) -> PortResult<HashMap<CrawlUrl, KnownUrl>> {
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

    async fn listed<T>(
        &self,
        range: Range,
        after: Option<Cursor>,
        limit: usize,
        read: impl Fn(&Item) -> Result<T, StoreError>,
    ) -> Result<Listed<T>, StoreError> {
        let range = Range { after: after.map(|cursor| cursor.0), ..range };
        let page = self.db.first(&range, limit, ReadKind::Eventual).await?;
        let rows = page.items.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Listed { rows, next: page.next.map(Cursor) })
    }
}
