//! Adding the new origin of a seed that moved to the scope.

use dragline_domain::capture::Visit;
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
    let mut joined = Vec::new();
    for origin in captures.iter().filter_map(|capture| joins(context, &segment.id.origin, capture)) {
        world.frontier().join_origin(&segment.id.origin.crawl, &origin).await?;
        joined.push(Notice::OriginJoined { from: segment.id.origin.clone(), origin });
    }
    let has_joined = !joined.is_empty();
    tell_all(world, joined).await;
    Ok(has_joined)
}

/// Returns the origin that a capture adds to the scope, if any. Only captures at depth 0 count as seeds, but not what a seed needs to be shown, nor
/// sitemaps and what these list.
fn joins(context: &CrawlContext, own: &OriginKey, capture: &Capture) -> Option<Origin> {
    let Visit { sighting: Sighting { depth, via, requisite_steps, read_as }, redirects, .. } = &capture.visit;
    let is_listed = via.is_some() && *redirects == 0;
    if *depth > 0 || *requisite_steps > 0 || is_listed || !read_as.is_typed() {
        return None;
    }
    let (redirect, _) = capture.redirect(&context.definition.strip_query_parameters)?;
    let origin = redirect.target.origin();
    // Many sites redirect to https or www. with a 302, and mean it to be permanent.
    let has_moved = redirect.is_permanent && origin.is_same_site(&own.origin);
    let is_new = !context.allowed.contains(&redirect.target);
    (is_new && (has_moved || own.origin.is_also_called(&origin))).then_some(origin)
}
