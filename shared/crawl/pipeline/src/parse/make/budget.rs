//! Keeps the followed links within the iteration's budgets of pages and origins.

use std::collections::{BTreeMap, BTreeSet};

use dragline_domain::document::Document;
use dragline_domain::frontier::{
    OriginKey, OriginRows, SegmentRow, limit_links_per_origin, limit_new_origins, linked_origins,
};
use dragline_domain::url::Origin;
use futures_util::future::try_join_all;

use crate::context::CrawlContext;
use crate::{CALLS_AT_ONCE, World};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Iterations, Origins};

/// Drops links beyond the budgets of the iteration, if those are limited.
pub(crate) async fn keep_to_budget(
    world: &impl World,
    context: &CrawlContext,
    segment: &SegmentRow,
    documents: &mut [Document],
) -> PortResult<()> {
    let own = &segment.id.origin.origin;
    let (budget, mut origins) = (&context.definition.budget, linked_origins(own, documents));
    if budget.pages.is_none() && origins.is_empty() {
        return Ok(());
    }
    let row = world.frontier().load_iteration(&segment.id.origin.crawl, segment.iteration).await?;
    let Some(row) = row else { return Ok(()) };
    if let Some(left) = row.budget.pages.filter(|_| budget.pages.is_some()) {
        keep_to_pages(world, segment, documents, left).await?;
        origins = linked_origins(own, documents);
    }
    keep_to_origins(world, segment, documents, (origins, budget.origins.saturating_sub(row.origins))).await
}

/// Drops links where more URLs wait than the iteration has pages left.
async fn keep_to_pages(
    world: &impl World,
    segment: &SegmentRow,
    documents: &mut [Document],
    left: u64,
) -> PortResult<()> {
    let links = documents.iter().flat_map(|document| &document.links);
    let origins: BTreeSet<Origin> =
        links.filter(|link| link.disposition.is_claimed()).map(|link| link.target.origin()).collect();
    let rows = load_rows(world, segment, origins).await?;
    let room = |rows: Option<OriginRows>| world.timing().claims.room(left, segment.iteration, rows.as_ref());
    let room: BTreeMap<_, _> = rows.into_iter().map(|(origin, rows)| (origin, room(rows))).collect();
    limit_links_per_origin(documents, room);
    Ok(())
}

/// Drops links to new origins beyond those that the iteration may still open. No rows are read
/// while all origins of the documents would fit.
async fn keep_to_origins(
    world: &impl World,
    segment: &SegmentRow,
    documents: &mut [Document],
    (origins, left): (BTreeSet<Origin>, u64),
) -> PortResult<()> {
    if origins.len() as u64 <= left {
        return Ok(());
    }
    let is_new = |rows: &Option<OriginRows>| rows.as_ref().is_none_or(|rows| rows.inbox.iteration != segment.iteration);
    let rows = load_rows(world, segment, origins).await?;
    let new = rows.into_iter().filter(|(_, rows)| is_new(rows)).map(|(origin, _)| origin).collect();
    limit_new_origins(documents, &new, left);
    Ok(())
}

/// Returns the rows of origins; `None` for those without one.
async fn load_rows(
    world: &impl World,
    segment: &SegmentRow,
    origins: BTreeSet<Origin>,
) -> PortResult<Vec<(Origin, Option<OriginRows>)>> {
    let keys = origins.into_iter().map(|origin| OriginKey { crawl: segment.id.origin.crawl.clone(), origin });
    let (keys, mut rows): (Vec<_>, _) = (keys.collect(), Vec::new());
    for keys in keys.chunks(CALLS_AT_ONCE) {
        rows.extend(try_join_all(keys.iter().map(|key| world.frontier().load_origin(key))).await?);
    }
    Ok(keys.into_iter().map(|key| key.origin).zip(rows).collect())
}
