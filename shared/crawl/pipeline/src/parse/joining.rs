//! Adding the new origin of a moved seed to the scope.

use std::collections::BTreeSet;
use std::sync::Arc;

use dragline_domain::capture::Visit;
use dragline_domain::document::{Disposition, Document, LinkKind};
use dragline_domain::frontier::{OriginKey, OriginsJoined, SegmentRow, Sighting};
use dragline_domain::url::Origin;

use crate::World;
use crate::context::{Contexts, CrawlContext};
use crate::parse::read::records::Capture;
use crate::tell::tell_once;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Crawls, JoinOrigins};
use dragline_ports::notifier::Notice;

/// Adds the origins to which seeds of this segment redirect: within the site if the redirect is
/// permanent, and always from http to https, and to or from www. Returns whether there were any;
/// the context is then replaced.
pub(crate) async fn join(
    world: &impl World,
    contexts: &Contexts,
    context: &mut Arc<CrawlContext>,
    segment: &SegmentRow,
    captures: &[Capture],
) -> PortResult<bool> {
    let own = &segment.id.origin;
    let origins = captures.iter().filter_map(|capture| joins(context, own, capture)).collect();
    add(world, contexts, context, segment, origins).await
}

/// Adds the origins to which seeds of this segment refresh, according to their documents: from http
/// to https, and to or from www. Returns whether there were any; the context is then replaced.
pub(crate) async fn join_refreshed(
    world: &impl World,
    contexts: &Contexts,
    context: &mut Arc<CrawlContext>,
    segment: &SegmentRow,
    captures: &[Capture],
    documents: &[Document],
) -> PortResult<bool> {
    let own = &segment.id.origin;
    let seeds = captures.iter().zip(documents).filter(|(capture, _)| is_seed(capture));
    let origins = seeds.filter_map(|(_, document)| refreshes_to(context, own, document)).collect();
    add(world, contexts, context, segment, origins).await
}

/// Adds all origins at once, and tries again without those that others have added meanwhile.
async fn add(
    world: &impl World,
    contexts: &Contexts,
    context: &mut Arc<CrawlContext>,
    segment: &SegmentRow,
    origins: BTreeSet<Origin>,
) -> PortResult<bool> {
    let (own, mut left): (_, Vec<_>) = (&segment.id.origin, origins.into_iter().collect());
    let has_any = !left.is_empty();
    while !left.is_empty() {
        let join = JoinOrigins { crawl: own.crawl.clone(), seen: context.joined(), origins: left.clone() };
        let joined = world.frontier().join_origins(&join).await?;
        *context = contexts.for_iteration(world.frontier(), &own.crawl, segment.iteration).await?;
        if joined == OriginsJoined::Joined
            && let [origin, ..] = &*left
        {
            let (from, origin, count) = (own.clone(), origin.clone(), left.len() as u64);
            tell_once(world, segment.iteration, vec![Notice::OriginJoined { from, origin, count }]).await;
        }
        left.retain(|origin| !context.allowed.contains_origin(origin));
    }
    Ok(has_any)
}

/// Whether a capture is a seed: one at depth 0, but not a seed's requisite, a sitemap, or a URL
/// from one.
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
    // Many sites redirect to https or www. with a 302, although the move is permanent.
    let has_moved = redirect.is_permanent && origin.is_same_site(&own.origin);
    let is_new = !context.allowed.is_home(&origin);
    (is_new && (has_moved || own.origin.has_alias(&origin))).then_some(origin)
}

/// Returns the origin that a seed's page adds to the scope, if any: it refreshes there, and leads
/// nowhere else in the crawl.
fn refreshes_to(context: &CrawlContext, own: &OriginKey, document: &Document) -> Option<Origin> {
    document.page.as_ref()?;
    let is_left = |disposition: &Disposition| matches!(disposition, Disposition::OutOfScope | Disposition::Check);
    let refresh = document.links.iter().find(|link| link.kind == LinkKind::Redirect && is_left(&link.disposition))?;
    let leads_on = document.links.iter().any(|link| {
        link.kind.leads_to_page() && link.disposition == Disposition::Follow && link.target != document.url
    });
    let origin = refresh.target.origin();
    let is_new = !context.allowed.is_home(&origin);
    (!leads_on && is_new && own.origin.has_alias(&origin)).then_some(origin)
}
