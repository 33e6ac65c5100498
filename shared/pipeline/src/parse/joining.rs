//! A seed that moved takes its new origin into the scope.

use dragline_domain::frontier::{OriginKey, SegmentRow};
use dragline_domain::url::Origin;

use super::read::Capture;
use crate::World;
use crate::context::CrawlContext;
use crate::tell::tell_all;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Crawls;
use dragline_ports::notifier::Notice;

/// Lets origins join that seeds of this segment redirect to: within the site if they moved there for good, and from http to https, to or from
/// www. in any case. Whether any did.
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

/// The origin that a capture makes join, if it does. Only what stands at depth 0 speaks for a seed.
fn joins(context: &CrawlContext, own: &OriginKey, capture: &Capture) -> Option<Origin> {
    if capture.visit.sighting.depth > 0 {
        return None;
    }
    let (redirect, _) = capture.redirect(&context.definition.strip_query_parameters)?;
    let origin = redirect.target.origin();
    // Many send their visitors to https or www. by a 302, and mean it.
    let has_moved = redirect.is_permanent && origin.is_same_site(&own.origin);
    let is_new = !context.allowed.contains(&redirect.target);
    (is_new && (has_moved || own.origin.is_also_called(&origin))).then_some(origin)
}
