//! Reading a crawl for people, page by page. No step needs it.

use dragline_domain::frontier::{OriginKey, SegmentRow};
use dragline_pipeline::ports::error::PortResult;

use super::DynamoFrontier;
use crate::dynamo::{Fields, Item, Range};
use crate::errors::StoreError;
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
