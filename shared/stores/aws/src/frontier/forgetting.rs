//! Deleting stored data about URLs. No iteration of the crawl is open meanwhile, so nobody else
//! writes these rows.

use std::collections::BTreeSet;

use dragline_domain::frontier::{OriginKey, SegmentRow};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;

use super::DynamoFrontier;
use crate::dynamo::{Expression, Fields, Item, Key, Role, Write, number};
use crate::errors::at;
use crate::meter::capacity::{ReadKind, item_bytes};
use crate::rows::known::KnownUrl;
use crate::rows::{self, keys};
use crate::tables::SORT;

/// The number of candidates read at once.
const LISTED_MAX: usize = 500;

/// The attribute with the page that led to a candidate.
const VIA: &str = "via";

/// The attribute with the number of times that URLs of a crawl were forgotten.
const TIMES: &str = "times";

impl DynamoFrontier {
    /// Returns how often URLs of a crawl were forgotten.
    pub(crate) async fn times_forgotten(&self, crawl: &CrawlId) -> PortResult<u64> {
        at("load how often URLs were forgotten", crawl, async {
            let Some(row) = self.db.get(&keys::forgotten(crawl)).await? else { return Ok(0) };
            rows::fields(&row)?.number(TIMES)
        })
        .await
    }

    /// Counts that URLs of a crawl were forgotten, once no source of derived data contains them.
    pub(crate) async fn count_forgetting(&self, crawl: &CrawlId) -> PortResult<()> {
        at("count forgetting", crawl, async {
            let update = Expression::new(format!("SET #v = :v ADD #{TIMES} :one")).with(":one", number(1));
            let write = Write::update(Role::Other, &keys::forgotten(crawl), rows::versioned(update), &Item::new());
            // It has no condition.
            let _written = self.db.write(&write).await?;
            Ok(())
        })
        .await
    }

    /// Deletes the visits of these URLs from the log of a segment, and references to them from
    /// visits of other URLs. Returns the URL of each deleted visit.
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

    /// Deletes the candidates of these URLs at an origin, and references to them from other
    /// candidates. Returns the URLs that were known.
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
