//! Lets URLs wait behind all others whose shape's pages showed nothing new.

use dragline_domain::document::{Disposition, Document};
use dragline_domain::frontier::{OriginRows, SegmentRow, ShapeStanding};

use crate::World;
use crate::context::CrawlContext;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Origins;

/// Marks the followed links of the documents whose targets have to wait. This is decided before the
/// documents are put, so that a repeated parse finds the same line.
pub(crate) async fn let_suspects_wait(
    world: &impl World,
    context: &CrawlContext,
    segment: &SegmentRow,
    documents: &mut [Document],
) -> PortResult<()> {
    let own = &segment.id.origin;
    let is_followed = |disposition: &Disposition| matches!(disposition, Disposition::Follow);
    let mut links = documents.iter().flat_map(|document| &document.links);
    if !links.any(|link| is_followed(&link.disposition)) {
        return Ok(());
    }
    let Some(OriginRows { inbox, .. }) = world.frontier().load_origin(own).await? else { return Ok(()) };
    if inbox.iteration != segment.iteration || inbox.shapes.is_empty() {
        return Ok(());
    }
    let followed = documents.iter_mut().flat_map(|document| &mut document.links).filter(|link| {
        is_followed(&link.disposition) && link.kind.leads_to_page() && link.target.origin() == own.origin
    });
    for link in followed {
        if context.shape_standing(&inbox.shapes, &link.target) != ShapeStanding::InOrder {
            link.disposition = Disposition::Last;
        }
    }
    Ok(())
}
