//! Following no more links than the iteration's page budget calls for.

use std::collections::{BTreeMap, BTreeSet};

use dragline_domain::document::{Disposition, Document};
use dragline_domain::frontier::{OriginKey, SegmentRow, leave_beyond_budget};
use dragline_domain::url::Origin;

use crate::World;
use crate::context::CrawlContext;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Iterations, Origins};

/// Drops links where more URLs wait than the remaining pages of the iteration call for. Without a page budget all links are followed.
pub(super) async fn keep_to_budget(
    world: &impl World,
    context: &CrawlContext,
    segment: &SegmentRow,
    documents: &mut [Document],
) -> PortResult<()> {
    let (frontier, crawl) = (world.frontier(), &segment.id.origin.crawl);
    if context.definition.budget.pages.is_none() {
        return Ok(());
    }
    let row = frontier.load_iteration(crawl, segment.iteration).await?;
    let Some(left) = row.and_then(|row| row.budget.pages) else { return Ok(()) };
    let links = documents.iter().flat_map(|document| &document.links);
    let origins: BTreeSet<Origin> = links
        .filter(|link| matches!(link.disposition, Disposition::Follow | Disposition::Blocked(_)))
        .map(|link| link.target.origin())
        .collect();
    let mut room = BTreeMap::new();
    for origin in origins {
        let key = OriginKey { crawl: crawl.clone(), origin };
        let rows = frontier.load_origin(&key).await?;
        let more = world.timing().claims.room(left, segment.iteration, rows.as_ref());
        room.insert(key.origin, more);
    }
    leave_beyond_budget(documents, room);
    Ok(())
}
