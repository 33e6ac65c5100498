//! The progress of an iteration, by its counts, or by sums over its origins if an earlier version
//! began it.

use std::collections::BTreeMap;

use dragline_domain::frontier::{Counts, LeftoverReason, OriginKey, OriginRows};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::frontier::Progress;
use dragline_ports::reader::LeftoverRow;

use super::DynamoFrontier;
use super::endings::{COUNT, REASON};
use crate::dynamo::Item;
use crate::errors::StoreError;
use crate::meter::capacity::ReadKind;
use crate::rows::{self, counts, inbox, iteration, keys, lease};
use crate::tables::SORT;

/// The number of origins summed at once.
const ORIGINS_MAX: usize = 1_000;

impl DynamoFrontier {
    /// Reads the counts of an iteration, with a fixed number of requests however many origins it
    /// has.
    pub(super) async fn load_progress(&self, crawl: &CrawlId, number: Iteration) -> Result<Progress, StoreError> {
        let Some(item) = self.db.get(&keys::iteration(crawl, number)).await? else { return Ok(Progress::default()) };
        if !iteration::is_counted(&item) {
            return self.sums(crawl, number).await;
        }
        let parts = self.db.get_all(counts::all_keys(crawl, number).collect(), ReadKind::Eventual).await?;
        let mut sum = Counts::default();
        for part in parts.values() {
            sum.add(&counts::read(part)?);
        }
        Ok(Progress::from_counts(&iteration::read(&item)?, &sum))
    }

    async fn sums(&self, crawl: &CrawlId, iteration: Iteration) -> Result<Progress, StoreError> {
        let mut progress = Progress::default();
        let mut after = None;
        loop {
            let origins = self.origins(crawl, after.as_ref(), ORIGINS_MAX).await?;
            let Some(last) = origins.last() else { break };
            after = Some(last.clone());
            let origins: Vec<OriginKey> =
                origins.into_iter().map(|origin| OriginKey { crawl: crawl.clone(), origin }).collect();
            let wanted = origins.iter().flat_map(|origin| [keys::lease(origin), keys::inbox(origin)]).collect();
            let found = self.db.get_all(wanted, ReadKind::Eventual).await?;
            for origin in &origins {
                let rows = (found.get(&keys::lease(origin)), found.get(&keys::inbox(origin)));
                let (Some(lease), Some(inbox)) = rows else { continue };
                let inbox = inbox::read(inbox)?;
                if inbox.iteration == iteration {
                    progress.add_origin(&OriginRows { lease: lease::read(lease)?, inbox });
                }
            }
        }
        progress.set_leftovers(self.leftovers(crawl, iteration).await?);
        Ok(progress)
    }

    async fn leftovers(&self, crawl: &CrawlId, iteration: Iteration) -> Result<Vec<(LeftoverReason, u64)>, StoreError> {
        let mut sums: BTreeMap<LeftoverReason, u64> = BTreeMap::new();
        for item in self.db.all(keys::leftovers(crawl, Some(iteration), None)).await? {
            let LeftoverRow { reason, urls, .. } = read_leftover(&item)?;
            *sums.entry(reason).or_default() += urls;
        }
        Ok(sums.into_iter().collect())
    }
}

/// Reads a leftover row; the error of its robots.txt is stored elsewhere.
pub(super) fn read_leftover(item: &Item) -> Result<LeftoverRow, StoreError> {
    let fields = rows::fields(item)?;
    let (iteration, origin) = keys::parse_leftover(fields.text(SORT)?)?;
    let reason = LeftoverReason::from_name(fields.text(REASON)?);
    let reason = reason.ok_or_else(|| StoreError::Damaged("a leftover has an unknown reason".to_owned()))?;
    Ok(LeftoverRow { iteration, origin, reason, urls: fields.number(COUNT)?, robots_error: None })
}
