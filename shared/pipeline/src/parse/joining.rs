//! Adding the new origin of a seed that moved to the scope.

use dragline_domain::capture::Visit;
use dragline_domain::document::{Disposition, Document, LinkKind};
use dragline_domain::frontier::{OriginKey, SegmentRow, Sighting};
use dragline_domain::url::Origin;

use super::read::Capture;
use crate::World;
use crate::context::CrawlContext;
use crate::tell::tell_all;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Crawls;
use dragline_ports::notifier::Notice;

/// Adds the origins to which seeds of this segment redirect: within the site if they moved there permanently, and in any case from http to https,
/// and to or from www. Returns whether there were any.
pub(super) async fn join(
    world: &impl World,
    context: &CrawlContext,
    segment: &SegmentRow,
    captures: &[Capture],
) -> PortResult<bool> {
    let own = &segment.id.origin;
    add(world, own, captures.iter().filter_map(|capture| joins(context, own, capture))).await
}

/// Adds the origins to which seeds of this segment refresh, as their documents say: from http to https, and to or from www. Returns whether there
/// were any.
pub(super) async fn join_refreshed(
    world: &impl World,
    context: &CrawlContext,
    segment: &SegmentRow,
    captures: &[Capture],
    documents: &[Document],
) -> PortResult<bool> {
    let own = &segment.id.origin;
    let seeds = captures.iter().zip(documents).filter(|(capture, _)| is_seed(capture));
    add(world, own, seeds.filter_map(|(_, document)| refreshes_to(context, own, document))).await
}

async fn add(world: &impl World, own: &OriginKey, origins: impl Iterator<Item = Origin>) -> PortResult<bool> {
    let mut joined = Vec::new();
    for origin in origins {
        world.frontier().join_origin(&own.crawl, &origin).await?;
        joined.push(Notice::OriginJoined { from: own.clone(), origin });
    }
    let has_joined = !joined.is_empty();
    tell_all(world, joined).await;
    Ok(has_joined)
}

/// Only captures at depth 0 count as seeds, but not what a seed needs to be shown, nor sitemaps and what these list.
fn is_seed(capture: &Capture) -> bool {
    let Visit { sighting: Sighting { depth, via, requisite_steps, read_as }, redirects, .. } = &capture.visit;
    let is_listed = via.is_some() && *redirects == 0;
    *depth == 0 && *requisite_steps == 0 && !is_listed && read_as.is_typed()
}

/// Returns the origin that a capture adds to the scope, if any.
fn joins(context: &CrawlContext, own: &OriginKey, capture: &Capture) -> Option<Origin> {
    if !is_seed(capture) {
        return None;
    }
    let (redirect, _) = capture.redirect(&context.definition.strip_query_parameters)?;
    let origin = redirect.target.origin();
    // Many sites redirect to https or www. with a 302, and mean it to be permanent.
    let has_moved = redirect.is_permanent && origin.is_same_site(&own.origin);
    let is_new = !context.allowed.contains(&redirect.target);
    (is_new && (has_moved || own.origin.is_also_called(&origin))).then_some(origin)
}

/// Returns the origin that a seed's page adds to the scope, if any: it refreshes there, and leads nowhere else in the crawl.
fn refreshes_to(context: &CrawlContext, own: &OriginKey, document: &Document) -> Option<Origin> {
    document.page.as_ref()?;
    let is_left = |disposition: &Disposition| *disposition == Disposition::OutOfScope;
    let refresh = document.links.iter().find(|link| link.kind == LinkKind::Redirect && is_left(&link.disposition))?;
    let leads_on = document.links.iter().any(|link| {
        link.kind.leads_to_page() && link.disposition == Disposition::Follow && link.target != document.url
    });
    let origin = refresh.target.origin();
    let is_new = !context.allowed.contains(&refresh.target);
    (!leads_on && is_new && own.origin.is_also_called(&origin)).then_some(origin)
}
