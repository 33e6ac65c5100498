//! What the pages of a segment tell of the shapes of their origin's URLs.

use std::collections::{BTreeSet, HashMap};

use dragline_domain::capture::Finality;
use dragline_domain::document::{Document, LinkKind};
use dragline_domain::frontier::{OriginRows, PageObservation, SegmentRow, WatchedShapes};
use dragline_domain::outcome::OutcomeClass;
use dragline_domain::page_sample::PageSample;
use dragline_domain::url::{CrawlUrl, ShapeKeys, UrlShape};

use crate::World;
use crate::parse::read::records::Capture;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Origins;

/// Observes the pages of a segment that were visited, with the shapes of the URLs that each was the
/// first to name. Those that tell nothing about any shape, as far as the origin's row shows, are
/// left out: most pages of most sites, and a sample costs more than all else that is done with one.
pub(crate) async fn observe(
    world: &impl World,
    segment: &SegmentRow,
    (captures, documents): (&[Capture], &[Document]),
    led_to: &HashMap<CrawlUrl, BTreeSet<ShapeKeys>>,
) -> PortResult<Vec<PageObservation>> {
    let is_read = |(capture, document): &(&Capture, &Document)| {
        capture.visit.finality == Finality::Final
            && capture.url.origin() == segment.id.origin.origin
            && document.outcome.class() == OutcomeClass::Content
            && document.page.is_some()
    };
    if !captures.iter().zip(documents).any(|read| is_read(&read)) {
        return Ok(Vec::new());
    }
    let rows = world.frontier().load_origin(&segment.id.origin).await?;
    let Some(OriginRows { inbox, .. }) = rows else { return Ok(Vec::new()) };
    if inbox.iteration != segment.iteration || inbox.added < WatchedShapes::URLS_MIN {
        return Ok(Vec::new());
    }
    let pages = captures.iter().zip(documents).filter(is_read);
    let pages = pages.filter_map(|(_, document)| {
        let keys = UrlShape::new(document.url.path_and_query()).keys();
        let leads_to = led_to.get(&document.url).cloned().unwrap_or_default();
        let sample = inbox.shapes.concerns(&keys, &leads_to).then(|| sample(document)).flatten()?;
        Some(PageObservation { keys, sample, leads_to })
    });
    Ok(pages.collect())
}

/// Returns a sample of what the page shows: its title, its main part or else all of its text, and
/// its pictures. `None` if it is not a page.
fn sample(document: &Document) -> Option<PageSample> {
    let page = document.page.as_ref()?;
    let main = document.content.as_ref().and_then(|content| content.main.as_ref()).map(|main| main.text.as_str());
    let pictures = document.links.iter().filter(|link| link.kind == LinkKind::Img).map(|link| link.target.path());
    let pictures: Vec<&str> = pictures.collect();
    Some(PageSample::new(&[page.title.as_deref().unwrap_or_default(), main.unwrap_or(&page.text)], &pictures))
}
