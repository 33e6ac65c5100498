//! What a parse counts.

use dragline_domain::capture::{Finality, SegmentLog};
use dragline_domain::document::{Disposition, Document, DocumentState};
use dragline_domain::frontier::ParserCounters;
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;

use crate::parse::claim::SegmentClaims;
use crate::parse::read::records::Capture;

/// Returns the counts of a segment.
pub(crate) fn counters(
    log: &SegmentLog,
    captures: &[Capture],
    documents: &[Document],
    claimed: &SegmentClaims,
) -> ParserCounters {
    let mut counters = claimed.counters();
    for (capture, document) in captures.iter().zip(documents) {
        count(&mut counters, log.iteration, capture, document);
    }
    for change in log.entries.iter().filter_map(|entry| entry.change.as_ref()) {
        *counters.changes.entry(change.kind).or_default() += 1;
    }
    let blocked = log.entries.len().saturating_sub(documents.len()) as u64;
    if blocked > 0 {
        *counters.outcomes.entry(Outcome::BlockedUrlByLocalPolicy).or_default() += blocked;
    }
    counters
}

/// Counts the document of a visit.
pub(crate) fn count(counters: &mut ParserCounters, iteration: Iteration, capture: &Capture, document: &Document) {
    match document.state {
        DocumentState::Processed => counters.processed += 1,
        DocumentState::Stuck => counters.stuck += 1,
    }
    match capture.visit.finality {
        Finality::Final => *counters.outcomes.entry(document.outcome).or_default() += 1,
        Finality::Aside => counters.reparsed += 1,
        Finality::Retried => {}
    }
    if is_decided_again(capture, iteration) {
        return;
    }
    for link in &document.links {
        match link.disposition {
            Disposition::OutOfScope => counters.links_out_of_scope += 1,
            Disposition::TooDeep => counters.links_too_deep += 1,
            Disposition::NoFollow => counters.links_nofollow += 1,
            Disposition::BeyondBudget => counters.links_beyond_budget += 1,
            Disposition::Follow
            | Disposition::Check
            | Disposition::Last
            | Disposition::Framed
            | Disposition::Changed
            | Disposition::NotAPage
            | Disposition::Blocked(_)
            | Disposition::Later => {}
        }
    }
}

/// Whether the links of a document were counted in this iteration before, and are only decided
/// again from a smaller depth.
fn is_decided_again(capture: &Capture, iteration: Iteration) -> bool {
    let document = capture.visit.known.document.filter(|_| capture.visit.finality == Finality::Aside);
    document.is_some_and(|document| document.place.iteration == iteration)
}
