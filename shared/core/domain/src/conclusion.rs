//! The conclusions from a visit: how its page ends, where it redirects, and what that changes in
//! the current state of its URL. Each is a function of what is stored, so that every parse of a
//! segment has the same result.

use jiff::Timestamp;

use crate::capture::{Finality, RedirectEntry, Visit};
use crate::change::{ChangeKind, VisitChange};
use crate::definition::Canonical;
use crate::document::{Disposition, Document, Link, LinkKind, Page};
use crate::frontier::{DocumentStanding, LinkDecisions, PageFinding, RulesDigest, StateChange, UrlHistory, VisitPlace};
use crate::outcome::Outcome;
use crate::url::CrawlUrl;

/// The rules by which the links of a page are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRules {
    /// Whether canonical links count.
    pub canonical: Canonical,
    /// The digest of all rules.
    pub digest: RulesDigest,
}

/// A visit with its place and the answer's head.
#[derive(Clone, Copy, Debug)]
pub struct Visited<'v> {
    /// The visit.
    pub visit: &'v Visit,
    /// When it was made.
    pub at: Timestamp,
    /// Its entry in its segment.
    pub place: VisitPlace,
    /// The status of the answer; `None` without one.
    pub status: Option<u16>,
    /// When the body was fetched that the visit found unchanged; `None` if it brought one.
    pub unchanged_since: Option<Timestamp>,
}

/// Returns the outcome of a page by its own words: it asks for noindex, calls another URL of the
/// crawl canonical, or stands for itself.
#[must_use]
pub fn page_outcome(canonical: Canonical, url: &CrawlUrl, page: &Page, links: &[Link]) -> (Outcome, Option<String>) {
    let counts = canonical == Canonical::Obey;
    let elsewhere = page.canonical.as_ref().filter(|canonical| counts && *canonical != url).filter(|canonical| {
        let is_followed = |link: &Link| link.kind == LinkKind::Canonical && link.target == **canonical;
        links.iter().any(|link| is_followed(link) && link.disposition == Disposition::Follow)
    });
    // The outcome of the canonical URL may be unknown yet, and may change: readers decide whether
    // it stands for the page.
    match elsewhere {
        _ if page.directives.noindex => {
            (Outcome::BlockedAtRequestOfRemote, Some("the page asks for noindex".to_owned()))
        }
        Some(canonical) => (Outcome::NotCanonical, Some(format!("its canonical URL is {canonical}"))),
        None => (Outcome::FileIngested, None),
    }
}

/// Returns the outcome of a document by what it says itself, whatever its visit found; `None` if it
/// is not a page, and its use is not reserved.
#[must_use]
pub fn document_outcome(
    canonical: Canonical,
    document: &Document,
    links: &[Link],
) -> Option<(Outcome, Option<String>)> {
    if let Some(statement) = document.reserved_by() {
        return Some((Outcome::UseReserved, Some(statement.to_string())));
    }
    if document.outcome == Outcome::NeedsScript {
        // As long as the same answer is all that is known.
        return Some((document.outcome, document.detail.clone()));
    }
    document.page.as_ref().map(|page| page_outcome(canonical, &document.url, page, links))
}

/// Returns where a page redirects: by its status, or by calling another URL canonical, if that
/// counts.
#[must_use]
pub fn redirect_entry(canonical: Canonical, document: &Document) -> Option<RedirectEntry> {
    let by_status = document.links.iter().find(|link| link.kind == LinkKind::Redirect).and_then(|link| {
        let is_permanent = match document.outcome {
            Outcome::PermanentRedirect => true,
            Outcome::TemporaryRedirect => false,
            _ => return None,
        };
        Some(RedirectEntry { target: link.target.clone(), is_permanent, source: LinkKind::Redirect })
    });
    by_status.or_else(|| {
        let page = document.page.as_ref().filter(|_| canonical == Canonical::Obey);
        let canonical = page?.canonical.as_ref().filter(|canonical| **canonical != document.url)?;
        Some(RedirectEntry { target: canonical.clone(), is_permanent: true, source: LinkKind::Canonical })
    })
}

/// Returns the change of the current state of a visit's URL.
#[must_use]
pub fn state_change(rules: LinkRules, visited: Visited<'_>, document: &Document) -> StateChange {
    if document.is_unread() || visited.visit.finality == Finality::Retried {
        return StateChange::Kept;
    }
    if visited.visit.finality == Finality::Aside {
        if document.outcome.is_not_of_page() {
            // An earlier program or definition took it for the page.
            return StateChange::Hidden(DocumentStanding::Walled);
        }
        let is_made = document.page.is_some() || document.body.is_some();
        return if is_made { shown(rules, visited, document) } else { StateChange::Kept };
    }
    if visited.unchanged_since.is_some() {
        // The body's location may be known only once the visit is logged, so nothing that a
        // repeated parse decides again depends on it.
        let is_made_again = document.page.is_some() || document.difference.is_some();
        return if is_made_again { shown(rules, visited, document) } else { StateChange::Confirmed };
    }
    match document.outcome.page_finding() {
        // An unchanged copy whose capture is lost: the document before it stands.
        PageFinding::Content if document.outcome == Outcome::NotCanonical && document.page.is_none() => {
            StateChange::Confirmed
        }
        // What a browser once showed says more than the shell that it was made from.
        PageFinding::Content if document.outcome == Outcome::NeedsScript && was_rendered(visited) => StateChange::Kept,
        PageFinding::Content => shown(rules, visited, document),
        // The server sent it, with noindex.
        PageFinding::Forbidden if has_answered(visited) || document.page.is_some() => shown(rules, visited, document),
        PageFinding::AsBefore => StateChange::Confirmed,
        PageFinding::Gone => StateChange::Hidden(DocumentStanding::Gone),
        PageFinding::Forbidden => StateChange::Hidden(DocumentStanding::Withdrawn),
        PageFinding::Nothing => StateChange::Kept,
    }
}

/// Whether the page was to be rendered, and is known as something else than a shell.
fn was_rendered(visited: Visited<'_>) -> bool {
    let is_to_be = visited.visit.exchange.as_ref().is_some_and(|exchange| exchange.rendering.is_some());
    is_to_be && visited.visit.known.document.is_some_and(|last| last.outcome != Outcome::NeedsScript)
}

/// Whether the server delivered what the URL asks for.
fn has_answered(visited: Visited<'_>) -> bool {
    visited.status.is_some_and(|status| (200..300).contains(&status))
}

fn shown(rules: LinkRules, visited: Visited<'_>, document: &Document) -> StateChange {
    let by_itself = document_outcome(rules.canonical, document, &document.links);
    let outcome = by_itself.map_or(document.outcome, |(outcome, _)| outcome);
    let is_cut = document.links.iter().any(|link| link.disposition.is_left());
    StateChange::Shown {
        place: visited.place,
        outcome,
        links: LinkDecisions {
            by: if is_cut { RulesDigest::NONE } else { rules.digest },
            depth: visited.visit.sighting.depth,
        },
        changed_at: has_changed(visited, document).then_some(visited.at),
    }
}

/// Whether a new document differs from the one before it. If that cannot be read, it does.
fn has_changed(visited: Visited<'_>, document: &Document) -> bool {
    let is_new = visited.visit.known.document.is_none();
    let is_visit = visited.visit.finality == Finality::Final;
    match &document.difference {
        Some(difference) => difference.is_change(),
        None => is_new || (is_visit && visited.unchanged_since.is_none()),
    }
}

/// Returns the change that the log states of a visit; `None` if there is nothing lasting.
#[must_use]
pub fn visit_change(rules: LinkRules, visited: Visited<'_>, document: &Document) -> Option<VisitChange> {
    if visited.visit.finality != Finality::Final {
        return None;
    }
    let change = state_change(rules, visited, document);
    let kind = ChangeKind::classify(visited.visit.known.document.as_ref(), &change, document.outcome)?;
    let parts = document.difference.as_ref().map_or_else(Vec::new, |difference| difference.parts.clone());
    Some(VisitChange { kind, parts })
}

/// Returns the change that a rule of the definition makes that forbids a URL.
#[must_use]
pub fn change_of_blocked(known: &UrlHistory) -> Option<VisitChange> {
    let change = StateChange::Hidden(DocumentStanding::Withdrawn);
    let kind = ChangeKind::classify(known.document.as_ref(), &change, Outcome::BlockedUrlByLocalPolicy)?;
    Some(VisitChange { kind, parts: Vec::new() })
}
