//! What each visit means for the current state of the site.

use dragline_domain::capture::Finality;
use dragline_domain::change::{ChangeKind, VisitChange};
use dragline_domain::document::Document;
use dragline_domain::frontier::{
    Known, LinksDecided, RulesDigest, Says, SegmentRow, Standing, StateChange, VisitPlace,
};
use dragline_domain::outcome::Outcome;

use super::documents::outcome_of_page;
use super::read::Capture;
use crate::context::CrawlContext;

/// Returns what a visit changes in the current state of its URL: a function of what is stored, so that each parse of a segment has the same result.
pub(super) fn state_change(
    context: &CrawlContext,
    segment: &SegmentRow,
    capture: &Capture,
    document: &Document,
) -> StateChange {
    if document.is_unread() || capture.visit.finality == Finality::Retried {
        return StateChange::Kept;
    }
    if capture.visit.finality == Finality::Aside {
        if document.outcome.is_not_of_page() {
            // An earlier program took it for the page, or an earlier definition.
            return StateChange::Hidden(Standing::Walled);
        }
        let is_made = document.page.is_some() || document.body.is_some();
        return if is_made { shown(context, segment, capture, document) } else { StateChange::Kept };
    }
    if capture.unchanged_since().is_some() {
        // Where the body is may be known only once the visit is logged, so nothing that a repeated parse decides again depends on it.
        let is_made_again = document.page.is_some() || document.difference.is_some();
        return if is_made_again { shown(context, segment, capture, document) } else { StateChange::Confirmed };
    }
    match document.outcome.says() {
        // Of a copy that did not change, whose capture is lost: the document before it stands.
        Says::Content if document.outcome == Outcome::NotCanonical && document.page.is_none() => StateChange::Confirmed,
        Says::Content => shown(context, segment, capture, document),
        // The server gave it, and asks for noindex.
        Says::Forbidden if has_answered(capture) || document.page.is_some() => {
            shown(context, segment, capture, document)
        }
        Says::AsBefore => StateChange::Confirmed,
        Says::Gone => StateChange::Hidden(Standing::Gone),
        Says::Forbidden => StateChange::Hidden(Standing::Withdrawn),
        Says::Nothing => StateChange::Kept,
    }
}

/// Whether the server gave what the URL asks for.
fn has_answered(capture: &Capture) -> bool {
    capture.response.as_ref().is_some_and(|response| (200..300).contains(&response.status))
}

fn shown(context: &CrawlContext, segment: &SegmentRow, capture: &Capture, document: &Document) -> StateChange {
    let outcome = match &document.page {
        Some(page) => outcome_of_page(context, &document.url, page, &document.links).0,
        None => document.outcome,
    };
    let is_cut = document.links.iter().any(|link| link.disposition.is_left());
    StateChange::Shown {
        place: place(segment, document.n),
        outcome,
        links: LinksDecided {
            by: if is_cut { RulesDigest::NONE } else { context.rules },
            depth: capture.visit.sighting.depth,
        },
        changed_at: has_changed(capture, document).then_some(capture.at),
    }
}

/// Whether a new document says something else than the one before it. If that one cannot be read, it does.
fn has_changed(capture: &Capture, document: &Document) -> bool {
    let is_new = capture.visit.known.document.is_none();
    let is_visit = capture.visit.finality == Finality::Final;
    match &document.difference {
        Some(difference) => difference.is_change(),
        None => is_new || (is_visit && capture.unchanged_since().is_none()),
    }
}

/// Returns the place of an entry of a segment.
pub(super) fn place(segment: &SegmentRow, n: u32) -> VisitPlace {
    VisitPlace { iteration: segment.iteration, turn: segment.id.turn, segment: segment.id.n, n }
}

/// Returns what a visit changed, for the log; `None` if it says nothing lasting.
pub(super) fn visit_change(
    context: &CrawlContext,
    segment: &SegmentRow,
    capture: &Capture,
    document: &Document,
) -> Option<VisitChange> {
    if capture.visit.finality != Finality::Final {
        return None;
    }
    let change = state_change(context, segment, capture, document);
    let kind = ChangeKind::classify(capture.visit.known.document.as_ref(), &change, document.outcome)?;
    let parts = document.difference.as_ref().map_or_else(Vec::new, |difference| difference.parts.clone());
    Some(VisitChange { kind, parts })
}

/// Returns what it changes that a rule of the definition forbids a URL.
pub(super) fn change_of_blocked(known: &Known) -> Option<VisitChange> {
    let change = StateChange::Hidden(Standing::Withdrawn);
    let kind = ChangeKind::classify(known.document.as_ref(), &change, Outcome::BlockedUrlByLocalPolicy)?;
    Some(VisitChange { kind, parts: Vec::new() })
}
