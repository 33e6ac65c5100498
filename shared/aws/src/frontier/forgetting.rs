//! Deleting what is stored of URLs. No iteration of the crawl is open meanwhile, so nobody else writes these rows.

use std::collections::BTreeSet;

use dragline_domain::frontier::{OriginKey, SegmentRow};
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;

use super::DynamoFrontier;
use crate::dynamo::{Expression, Fields, Key, Role, Write};
use crate::errors::at;
use crate::meter::capacity::{ReadKind, item_bytes};
use crate::rows::keys;
use crate::rows::known::KnownUrl;
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
            let gone = self.change_log(segment, |entries| {
                let mut gone = Vec::new();
                entries.retain_mut(|entry| {
                    let via = &mut entry.visit.sighting.via;
                    if via.as_ref().is_some_and(|via| urls.contains(via)) {
                        *via = None;
                    }
                    let is_gone = urls.contains(&entry.url);
                    if is_gone {
                        gone.push(entry.url.clone());
                    }
                    !is_gone
                });
                gone
            });
            Ok(gone.await?.concat())
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
                        let update = Expression::new(format!("REMOVE #{VIA}"));
                        let write = Write::update(Role::Other, &key, update, item).if_there();
                        let _was_there = self.db.write(&write).await?;
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
}
