//! The log of a segment: how each of its URLs ended.

use dragline_domain::capture::{CrawlType, Finality, LogEntry, Visit};
use dragline_domain::conclusion::{change_of_blocked, redirect_entry, visit_change};
use dragline_domain::document::{Document, DocumentState};
use dragline_domain::frontier::SegmentRow;
use dragline_domain::outcome::Outcome;
use jiff::Timestamp;

use crate::context::CrawlContext;
use crate::parse::claim::BlockedUrl;
use crate::parse::read::records::Capture;

/// Returns the segment's log: each capture with its final outcome, then the URLs that a rule of the
/// definition forbids.
pub(crate) fn log_entries(
    context: &CrawlContext,
    segment: &SegmentRow,
    captures: &[Capture],
    documents: &[Document],
    blocked: Vec<BlockedUrl>,
) -> Vec<LogEntry> {
    let captures = captures.iter().zip(documents).map(|(capture, document)| LogEntry {
        n: document.n,
        url: capture.url.clone(),
        at: capture.at,
        visit: Visit {
            outcome: document.outcome,
            detail: detail(document),
            missing: None,
            uses: Vec::new(),
            ..capture.visit.clone()
        },
        status: capture.status(),
        file: capture.file.clone(),
        redirect: redirect_entry(context.definition.canonical, document),
        unchanged_since: unchanged_since(capture, document),
        change: visit_change(context.link_rules(), capture.visited(segment, document.n), document),
    });
    let first = u32::try_from(documents.len()).unwrap_or(u32::MAX);
    let blocked = (first..).zip(blocked).map(|(n, blocked)| LogEntry {
        n,
        change: change_of_blocked(&blocked.known),
        url: blocked.url,
        at: blocked.at,
        visit: Visit {
            sighting: blocked.sighting,
            redirects: 0,
            crawl_type: CrawlType::Queued,
            tries: 0,
            outcome: Outcome::BlockedUrlByLocalPolicy,
            finality: Finality::Final,
            detail: Some(blocked.reason),
            exchange: None,
            known: blocked.known,
            demand: None,
            missing: None,
            uses: Vec::new(),
        },
        status: None,
        file: None,
        redirect: None,
        unchanged_since: None,
    });
    captures.chain(blocked).collect()
}

/// Returns what is to be said of a visit: the document's detail, and whether its sitemap told the
/// truth.
fn detail(document: &Document) -> Option<String> {
    let truth = document.content.as_ref().and_then(|content| content.lastmod);
    let said = document.detail.clone().into_iter().chain(truth.map(|truth| truth.to_string()));
    said.reduce(|said, more| format!("{said}; {more}"))
}

/// Returns when the body was fetched that the visit found unchanged, or from which its document was
/// remade.
fn unchanged_since(capture: &Capture, document: &Document) -> Option<Timestamp> {
    match capture.visit.finality {
        Finality::Aside => document.body.as_ref().map(|body| body.at),
        Finality::Final | Finality::Retried => {
            capture.unchanged_since().filter(|_| document.state == DocumentState::Processed)
        }
    }
}
