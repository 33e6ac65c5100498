//! The earlier documents of a segment's URLs, as far as they are needed: to see changes, and to
//! decide about links again.

use std::collections::HashMap;

use dragline_domain::capture::Finality;
use dragline_domain::document::Document;
use dragline_domain::frontier::{LastDocument, SegmentRow, VisitPlace};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use dragline_extract::fields::header_directives;

use crate::World;
use crate::context::CrawlContext;
use crate::parse::read::records::{Capture, Response};
use dragline_ports::documents::Documents;
use dragline_ports::error::PortResult;

/// Earlier documents, by URL.
#[derive(Debug, Default)]
pub(crate) struct EarlierDocuments(HashMap<CrawlUrl, (VisitPlace, Document)>);

impl EarlierDocuments {
    /// Loads the earlier documents that the captures of a segment need.
    pub(crate) async fn load(
        world: &impl World,
        context: &CrawlContext,
        segment: &SegmentRow,
        captures: &[Capture],
    ) -> PortResult<Self> {
        let needed = captures.iter().filter_map(|capture| needed(context, capture));
        let places: Vec<VisitPlace> = needed.map(|last| last.place).collect();
        if places.is_empty() {
            return Ok(Self::default());
        }
        let found = world.documents().load_each(&segment.id.origin, &places).await?;
        let found = places.into_iter().zip(found).filter_map(|(place, document)| Some((place, document?)));
        Ok(Self(found.map(|(place, document)| (document.url.clone(), (place, document))).collect()))
    }

    /// Holds a single document, which belongs to this visit.
    #[cfg(test)]
    pub(crate) fn single(place: VisitPlace, document: Document) -> Self {
        Self(HashMap::from([(document.url.clone(), (place, document))]))
    }

    /// Returns the document of the last good visit before this one; `None` if it is not needed, or
    /// no longer stored.
    pub(crate) fn for_capture(&self, capture: &Capture) -> Option<&Document> {
        let (place, document) = self.0.get(&capture.url)?;
        (capture.visit.known.document?.place == *place).then_some(document)
    }
}

/// Returns the earlier document on which a capture's document depends, if any.
fn needed(context: &CrawlContext, capture: &Capture) -> Option<LastDocument> {
    let last = capture.visit.known.document?;
    let is_needed = match capture.visit.outcome {
        Outcome::FileIngested | Outcome::PermanentRedirect | Outcome::TemporaryRedirect => true,
        // What a site says of the use of a page may differ, although the page does not.
        Outcome::FileDidNotChange => {
            context.definition.purpose.is_some() || is_needed_unchanged(context, capture, &last)
        }
        _ => false,
    };
    match capture.visit.finality {
        Finality::Final => is_needed.then_some(last),
        Finality::Retried => None,
        Finality::Aside => Some(last),
    }
}

/// Whether the document of an unchanged page is made from the last one, whatever is said of its
/// use: it asks for noindex now, or its links are decided again.
pub(crate) fn is_needed_unchanged(context: &CrawlContext, capture: &Capture, last: &LastDocument) -> bool {
    capture.response.as_ref().is_some_and(|response| asks_for_noindex(context, response))
        || (last.may_link() && (is_stale(context, capture, last) || passes_demand_on(capture)))
}

/// Whether the links of the last document were decided by other rules, or from another depth where
/// that matters.
fn is_stale(context: &CrawlContext, capture: &Capture, last: &LastDocument) -> bool {
    let is_elsewhere = last.links.depth != capture.visit.sighting.depth;
    last.links.by != context.rules || (is_elsewhere && context.definition.depth_max().is_some())
}

/// Whether the links of a demanded page are followed: in an iteration without candidates, only the
/// page itself leads to them.
fn passes_demand_on(capture: &Capture) -> bool {
    let depth = capture.visit.sighting.depth;
    capture.visit.demand.as_ref().is_some_and(|demand| demand.depth.is_none_or(|max| depth < max))
}

/// Whether the header of an answer asks for noindex, and that is obeyed.
pub(crate) fn asks_for_noindex(context: &CrawlContext, response: &Response) -> bool {
    let definition = &context.definition;
    definition.noindex.heed(header_directives(&response.headers, definition.user_agent.product_token())).noindex
}
