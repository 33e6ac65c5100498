//! Updating the candidates of a segment's URLs.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_domain::capture::{Finality, LogEntry};
use dragline_domain::conclusion::{redirect_entry, state_change};
use dragline_domain::document::Document;
use dragline_domain::doubt::Namers;
use dragline_domain::frontier::{
    CandidateUpdate, DocumentStanding, FieldsDigest, LastCapture, NamersUpdate, OriginKey, PageFinding, ReadAs,
    SegmentRow, StateChange, VisitResult, VisitTarget,
};
use dragline_domain::outcome::Outcome;
use dragline_domain::recrawl::{LastVisits, NextVisit, RecrawlPolicy, VisitEnd, next_visit};
use dragline_domain::simhash::TextPrint;
use dragline_domain::url::{CrawlUrl, Origin};
use jiff::Timestamp;

use crate::World;
use crate::context::CrawlContext;
use crate::parse::read::records::Capture;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Candidates;

/// The most forbidden URLs updated at once: a sitemap may list 50,000.
const UPDATED_AT_ONCE_MAX: usize = 1_000;

/// Updates the candidates of a segment's URLs, and of the forbidden URLs that it found: their log
/// entries follow those of documents.
pub(crate) async fn update_candidates(
    world: &impl World,
    context: &CrawlContext,
    segment: &SegmentRow,
    (captures, documents, log): (&[Capture], &[Document], &[LogEntry]),
    began: Timestamp,
) -> PortResult<()> {
    let ended = captures.iter().zip(documents).filter(|(capture, _)| capture.visit.finality != Finality::Retried);
    let updates: Vec<_> =
        ended.map(|(capture, document)| build_update(context, segment, began, capture, document)).collect();
    world.frontier().update_candidates(&segment.id.origin, &updates).await?;
    for (origin, named_canonicals) in named_canonicals(&updates) {
        let origin = OriginKey { crawl: segment.id.origin.crawl.clone(), origin };
        world.frontier().add_namers(&origin, &named_canonicals).await?;
    }
    for (origin, blocked) in blocked_by_origin(log.get(documents.len()..).unwrap_or_default()) {
        let origin = OriginKey { crawl: segment.id.origin.crawl.clone(), origin };
        for blocked in blocked.chunks(UPDATED_AT_ONCE_MAX) {
            let updates: Vec<_> =
                blocked.iter().map(|blocked| build_blocked_update(context, segment, blocked)).collect();
            world.frontier().update_candidates(&origin, &updates).await?;
        }
    }
    Ok(())
}

fn blocked_by_origin(entries: &[LogEntry]) -> BTreeMap<Origin, Vec<&LogEntry>> {
    let mut by_origin: BTreeMap<Origin, Vec<&LogEntry>> = BTreeMap::new();
    for entry in entries {
        by_origin.entry(entry.url.origin()).or_default().push(entry);
    }
    by_origin
}

fn build_blocked_update(context: &CrawlContext, segment: &SegmentRow, blocked: &LogEntry) -> CandidateUpdate {
    CandidateUpdate {
        path_and_query: blocked.url.path_and_query().to_owned(),
        iteration: segment.iteration,
        turn: segment.id.turn,
        n: segment.id.n,
        ended: Some(VisitResult {
            outcome: Outcome::BlockedUrlByLocalPolicy,
            at: blocked.at,
            capture: None,
            due_at: None,
            interval: None,
            away: None,
            blocked_by: Some(context.rules),
        }),
        state: StateChange::Hidden(DocumentStanding::Withdrawn),
        leads_to: VisitTarget::AsBefore,
        text: None,
    }
}

/// Returns the canonical URLs that the segment's newly shown pages name, by origin, with the pages'
/// texts.
fn named_canonicals(updates: &[CandidateUpdate]) -> BTreeMap<Origin, Vec<NamersUpdate>> {
    by_origin(updates.iter().filter_map(|update| match (&update.state, &update.leads_to, update.text) {
        (StateChange::Shown { outcome: Outcome::NotCanonical, .. }, VisitTarget::Url(canonical), Some(text)) => {
            Some((canonical, text))
        }
        _ => None,
    }))
}

/// Returns canonical URLs by origin, each with the texts of the pages that name it.
pub(crate) fn by_origin<'u>(
    texts: impl IntoIterator<Item = (&'u CrawlUrl, TextPrint)>,
) -> BTreeMap<Origin, Vec<NamersUpdate>> {
    let mut named: BTreeMap<Origin, BTreeMap<String, Namers>> = BTreeMap::new();
    for (canonical, text) in texts {
        let of_origin = named.entry(canonical.origin()).or_default();
        let by = of_origin.entry(canonical.path_and_query().to_owned()).or_default();
        *by = by.with(text);
    }
    let listed = |named: BTreeMap<String, Namers>| {
        named.into_iter().map(|(path_and_query, by)| NamersUpdate { path_and_query, by }).collect()
    };
    named.into_iter().map(|(origin, named)| (origin, listed(named))).collect()
}

fn build_update(
    context: &CrawlContext,
    segment: &SegmentRow,
    began: Timestamp,
    capture: &Capture,
    document: &Document,
) -> CandidateUpdate {
    let state = state_change(context.link_rules(), capture.visited(segment, document.n), document);
    let (leads_to, text) = match state {
        StateChange::Shown { .. } => {
            let redirect = redirect_entry(context.definition.canonical, document);
            let text = document.page.as_ref().map(|page| TextPrint::new(&page.text));
            (redirect.map_or(VisitTarget::Nowhere, |redirect| VisitTarget::Url(redirect.target)), text)
        }
        StateChange::Kept | StateChange::Confirmed | StateChange::Hidden(_) => (VisitTarget::AsBefore, None),
    };
    CandidateUpdate {
        path_and_query: document.url.path_and_query().to_owned(),
        iteration: segment.iteration,
        turn: segment.id.turn,
        n: segment.id.n,
        ended: match capture.visit.finality {
            Finality::Final => Some(build_ending(context, began, capture, document, &state)),
            Finality::Aside | Finality::Retried => None,
        },
        state,
        leads_to,
        text,
    }
}

fn build_ending(
    context: &CrawlContext,
    began: Timestamp,
    capture: &Capture,
    document: &Document,
    state: &StateChange,
) -> VisitResult {
    let outcome = document.outcome;
    let known = &capture.visit.known;
    let is_stuck = document.is_unread();
    let is_unchanged = !is_stuck && capture.unchanged_since().is_some();
    let next = next(context, began, capture, document, state);
    let kept = if is_stuck || outcome.page_finding() == PageFinding::Nothing {
        // Nothing was extracted from it, or it stands in for the page. With validators it would
        // count as unchanged next time.
        None
    } else if outcome == Outcome::SoftNotFound {
        // If the body was stored as a page before, a 304 would bring it back.
        known.last.as_deref().map(incomparable)
    } else if is_unchanged {
        known.last.as_ref().map(|last| unchanged(context, capture, last, outcome))
    } else if let Some(body) = capture.kept_digests() {
        Some(LastCapture {
            etag: capture.etag(),
            last_modified: capture.last_modified(),
            payload_sha1: body.payload_sha1,
            decoded_sha1: body.decoded_sha1,
            fetched_at: capture.at,
            outcome,
            read_by: capture.read_by(context),
        })
    } else {
        // A redirect or a cut body is shown from now on. If the body before it comes back, that is
        // a change.
        let is_shown = matches!(state, StateChange::Shown { .. });
        known.last.as_deref().filter(|_| is_shown).map(incomparable)
    };
    VisitResult {
        outcome,
        at: capture.at,
        capture: kept,
        due_at: next.visited_from(began),
        interval: next.interval,
        away: next.away,
        blocked_by: outcome.waits_for_rules().then_some(context.rules),
    }
}

/// Returns when the URL is due again. Times count from the iteration's beginning, so that a daily
/// crawl finds daily URLs due, however long it took to get there.
fn next(
    context: &CrawlContext,
    began: Timestamp,
    capture: &Capture,
    document: &Document,
    state: &StateChange,
) -> NextVisit {
    let known = &capture.visit.known;
    let interval = known.interval_ms.map(Duration::from_millis);
    let ended = match state {
        // Only a request can find out more, and none is made: it is looked at in every iteration.
        StateChange::Hidden(DocumentStanding::Withdrawn) if capture.visit.exchange.is_none() => {
            return NextVisit { interval, due_at: None, away: None };
        }
        StateChange::Shown { changed_at: Some(_), .. } => VisitEnd::Changed,
        StateChange::Shown { changed_at: None, .. } | StateChange::Confirmed => VisitEnd::Unchanged,
        StateChange::Kept | StateChange::Hidden(_) => VisitEnd::from_outcome(document.outcome),
    };
    let visits = LastVisits { interval, away: known.away };
    let policy = match capture.visit.sighting.read_as {
        ReadAs::Check => RecrawlPolicy::CHECK,
        ReadAs::Typed | ReadAs::Sitemap | ReadAs::SitemapTrial | ReadAs::Robots | ReadAs::Feed => {
            context.recrawl.policy_for(&capture.url)
        }
    };
    next_visit(&policy, &visits, ended, began)
}

/// Returns a capture that nothing compares with: whatever is fetched next is parsed.
fn incomparable(last: &LastCapture) -> LastCapture {
    LastCapture { etag: None, last_modified: None, read_by: Some(FieldsDigest::NONE), ..last.clone() }
}

/// Returns the stored data of a capture whose body is known.
fn unchanged(context: &CrawlContext, capture: &Capture, last: &LastCapture, outcome: Outcome) -> LastCapture {
    // A 304 may leave out fields, so it does not show whether they are gone.
    let read_by = last.read_by.or_else(|| capture.read_by(context).filter(|_| !capture.is_not_modified()));
    let kept = LastCapture { read_by, ..last.clone() };
    let is_withheld = matches!(outcome, Outcome::BlockedAtRequestOfRemote | Outcome::UseReserved);
    if is_withheld && last.outcome != outcome {
        // A 304 asks for noindex or reserves the use: only a complete answer shows the page
        // without.
        return LastCapture { outcome, ..incomparable(&kept) };
    }
    LastCapture {
        etag: capture.etag().or(kept.etag),
        last_modified: capture.last_modified().or(kept.last_modified),
        ..kept
    }
}

#[cfg(test)]
#[path = "update_tests.rs"]
mod tests;
