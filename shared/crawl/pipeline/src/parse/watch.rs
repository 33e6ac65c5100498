//! What the pages of a segment tell of the shapes of their origin's URLs.

use std::collections::{BTreeSet, HashMap};

use dragline_domain::capture::Finality;
use dragline_domain::document::{Document, LinkKind};
use dragline_domain::frontier::{PageObservation, SegmentRow};
use dragline_domain::outcome::OutcomeClass;
use dragline_domain::page_sample::PageSample;
use dragline_domain::url::{CrawlUrl, ShapeKeys, UrlShape};

use crate::parse::read::records::Capture;

/// Observes the pages of a segment that were visited, with the shapes of the URLs that each was the
/// first to name.
pub(crate) fn observe(
    segment: &SegmentRow,
    captures: &[Capture],
    documents: &[Document],
    led_to: &HashMap<CrawlUrl, BTreeSet<ShapeKeys>>,
) -> Vec<PageObservation> {
    let visited = captures.iter().zip(documents).filter(|(capture, document)| {
        capture.visit.finality == Finality::Final
            && capture.url.origin() == segment.id.origin.origin
            && document.outcome.class() == OutcomeClass::Content
    });
    let pages = visited.filter_map(|(_, document)| {
        let keys = UrlShape::new(document.url.path_and_query()).keys();
        let leads_to = led_to.get(&document.url).cloned().unwrap_or_default();
        Some(PageObservation { keys, sample: sample(document)?, leads_to })
    });
    pages.collect()
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
