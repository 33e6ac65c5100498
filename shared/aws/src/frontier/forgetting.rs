//! Deleting what is stored of URLs. No iteration of the crawl is open meanwhile, so nobody else writes these rows.

use std::collections::BTreeSet;

use dragline_domain::capture::LogEntry;
use dragline_domain::frontier::{OriginKey, SegmentRow};
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;

use super::DynamoFrontier;
use super::log::{ENTRIES, JSON_BYTES};
use crate::dynamo::{Fields, Item, Key, Role, Write};
use crate::errors::{StoreError, at};
use crate::meter::capacity::{ReadKind, item_bytes};
use crate::rows::known::KnownUrl;
use crate::rows::{self, keys};
use crate::tables::SORT;

/// How many candidates are read at once.
const LISTED_MAX: usize = 500;

/// Where a candidate was found.
const VIA: &str = "via";

impl DynamoFrontier {
    /// Deletes the visits of these URLs from the log of a segment, and that others were found on them. Returns the URL of each visit.
    pub(crate) async fn forget_visits(
        &self,
        segment: &SegmentRow,
        urls: &BTreeSet<&CrawlUrl>,
    ) -> PortResult<Vec<CrawlUrl>> {
        at("forget visits", &segment.id, async {
            let range = keys::log_parts(&segment.id, segment.iteration);
            let mut gone = Vec::new();
            for part in self.db.all(range.clone()).await? {
                let mut entries: Vec<LogEntry> = rows::unpack(rows::fields(&part)?, ENTRIES, JSON_BYTES)?;
                let mut is_changed = false;
                entries.retain_mut(|entry| {
                    let via = &mut entry.visit.sighting.via;
                    if via.as_ref().is_some_and(|via| urls.contains(via)) {
                        *via = None;
                        is_changed = true;
                    }
                    let is_gone = urls.contains(&entry.url);
                    if is_gone {
                        gone.push(entry.url.clone());
                        is_changed = true;
                    }
                    !is_gone
                });
                if is_changed {
                    let (packed, json_bytes) = rows::pack(&entries)?;
                    let mut item = part.clone();
                    item.insert(ENTRIES.to_owned(), packed);
                    item.insert(JSON_BYTES.to_owned(), json_bytes);
                    self.replace(&range.key(Fields(&part).text(SORT)?), item).await?;
                }
            }
            Ok(gone)
        })
        .await
    }

    /// Deletes the candidates of these URLs at an origin, and that others were found on them. Returns the URLs that were known.
    pub(crate) async fn forget_candidates(
        &self,
        origin: &OriginKey,
        urls: &BTreeSet<&CrawlUrl>,
    ) -> PortResult<Vec<CrawlUrl>> {
        at("forget candidates", origin, async {
            let (mut range, mut gone) = (keys::candidates_after(origin, None), Vec::new());
            loop {
                let page = self.db.first(&range, LISTED_MAX, ReadKind::Consistent).await?;
                let mut dead: Vec<(Key, u64)> = Vec::new();
                for item in &page.items {
                    let known = KnownUrl::read(item)?;
                    let key = range.key(Fields(item).text(SORT)?);
                    let url = origin.origin.url_at(&known.path_and_query).ok();
                    if let Some(url) = url.filter(|url| urls.contains(url)) {
                        dead.push((key, item_bytes(item)));
                        gone.push(url);
                    } else if known.sighting.via.as_ref().is_some_and(|via| urls.contains(via)) {
                        let mut item = item.clone();
                        item.remove(VIA);
                        self.replace(&key, item).await?;
                    }
                }
                self.db.delete_all(&dead).await?;
                match page.next {
                    Some(next) => range.after = Some(next),
                    None => return Ok(gone),
                }
            }
        })
        .await
    }

    /// Replaces an item that is there. One that expired meanwhile stays away.
    async fn replace(&self, key: &Key, item: Item) -> Result<(), StoreError> {
        let _was_there = self.db.write(&Write::put(Role::Other, key, item).if_there()).await?;
        Ok(())
    }
}
