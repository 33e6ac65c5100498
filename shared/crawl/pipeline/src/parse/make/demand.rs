//! Filtering the links of pages under a demand or an import.

use dragline_domain::definition::Feeds;
use dragline_domain::document::{Disposition, Document};

use crate::parse::read::records::Capture;
use dragline_domain::distance::Distance;

/// Leaves all links to the next crawl, as nothing is requested.
pub(crate) fn leave_all(documents: &mut [Document]) {
    for link in documents.iter_mut().flat_map(|document| &mut document.links) {
        if link.disposition.is_claimed() {
            link.disposition = Disposition::Later;
        }
    }
}

/// Leaves to the next crawl the links that their page's demand does not ask for. Redirects and
/// canonical links stand for their page, and requisites are a part of it: of these only the ones
/// excluded by the demand are left.
pub(crate) fn leave_what_is_not_demanded(feeds: Feeds, captures: &[Capture], documents: &mut [Document]) {
    for (capture, document) in captures.iter().zip(documents) {
        let Some(demand) = &capture.visit.demand else { continue };
        for link in &mut document.links {
            if !link.disposition.is_claimed() {
                continue;
            }
            let Distance { depth, requisite_steps, .. } = Distance::to_target(&capture.visit, link.kind, feeds);
            let is_of_page = link.kind.stands_for_its_page() || requisite_steps > 0;
            let is_asked = if is_of_page && depth == capture.visit.sighting.depth {
                !demand.skips(&link.target)
            } else {
                demand.covers(&link.target, depth)
            };
            if !is_asked {
                link.disposition = Disposition::Later;
            }
        }
    }
}
