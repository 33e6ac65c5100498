//! Remaking the document of one visit: pure decisions over stored data.

use dragline_domain::capture::{Finality, Visit};
use dragline_domain::change::Difference;
use dragline_domain::conclusion::{document_outcome, redirect_entry, state_change, visit_change};
use dragline_domain::document::{Document, DocumentState, StoredBody};
use dragline_domain::frontier::{LastDocument, SegmentRow, StateChange, UrlHistory};
use dragline_domain::outcome::Outcome;
use dragline_domain::remake::{Recount, RemadeVisit, Rewrite};
use dragline_domain::simhash::TextPrint;

use crate::context::CrawlContext;
use crate::parse::make::remade::LaterDirective;
use crate::parse::read::records::Capture;
use crate::parse::record::counters::count;

/// The answer that a stored document is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentSource<'d> {
    /// The answer to its own visit.
    OwnAnswer,
    /// The answer to an earlier visit, and what later answers asked of crawlers.
    Earlier(&'d StoredBody, LaterDirective),
    /// None: the document only says how the visit ended.
    Nothing,
}

impl<'d> DocumentSource<'d> {
    pub(crate) fn what(capture: &Capture, stored: &'d Document) -> Self {
        use Outcome::{FileDidNotChange, FileIngested, PermanentRedirect, TemporaryRedirect};
        match (capture.visit.finality, capture.visit.outcome) {
            (Finality::Final, FileIngested | PermanentRedirect | TemporaryRedirect) if capture.response.is_some() => {
                Self::OwnAnswer
            }
            (Finality::Final, FileDidNotChange) => stored
                .body
                .as_ref()
                .map_or(Self::Nothing, |body| Self::Earlier(body, LaterDirective::from_document(stored))),
            (Finality::Aside, _) => {
                let asked = |body| Self::Earlier(body, LaterDirective::since_body(capture, stored));
                stored.body.as_ref().map_or(Self::Nothing, asked)
            }
            (Finality::Final | Finality::Retried, _) => Self::Nothing,
        }
    }
}

/// Returns the replacement for a visit's stored document: the new one, compared with the document
/// `before` it as remade by now. If that one is gone, the stored comparison stays.
pub(crate) fn remade_visit(
    context: &CrawlContext,
    segment: &SegmentRow,
    capture: &Capture,
    (stored, made): (&Document, Document),
    before: Option<&Document>,
) -> RemadeVisit {
    let is_visit = capture.visit.finality == Finality::Final;
    let is_unchanged = is_visit && capture.visit.outcome == Outcome::FileDidNotChange;
    let made = Document { n: stored.n, body: stored.body.clone(), ..made };
    let mut document = if is_unchanged {
        // The outcome is about the answer, which had no body.
        let (outcome, detail) = (stored.outcome, stored.detail.clone());
        Document { outcome, detail, state: DocumentState::Processed, ..made }
    } else {
        made
    };
    let last = capture.visit.known.document;
    let last = last.map(|last| LastDocument { outcome: outcome_by_now(context, &last, before), ..last });
    let is_compared = is_visit && (!is_unchanged || stored.difference.is_some());
    document.difference = match (last, before) {
        _ if !is_compared => None,
        (None, _) => None,
        (Some(_), None) => stored.difference.clone(),
        (Some(last), Some(before)) => Some(Difference::between(last.place, last.outcome, before, &document)),
    };
    let visit = Visit { known: UrlHistory { document: last, ..capture.visit.known.clone() }, ..capture.visit.clone() };
    let capture = Capture { visit, ..capture.clone() };
    let is_incomparable = is_visit && last.is_some() && before.is_none();
    let (rules, visited) = (context.link_rules(), capture.visited(segment, document.n));
    let change = if is_incomparable { Rewrite::Keep } else { Rewrite::With(visit_change(rules, visited, &document)) };
    let state = state_change(rules, visited, &document);
    let mut recount = Recount::default();
    count(&mut recount.less, segment.iteration, &capture, stored);
    count(&mut recount.more, segment.iteration, &capture, &document);
    let page = document.page.as_ref().filter(|_| matches!(state, StateChange::Shown { .. }));
    RemadeVisit {
        redirect: redirect_entry(rules.canonical, &document),
        text: page.map(|page| TextPrint::new(&page.text)),
        state,
        change,
        recount,
        document,
    }
}

/// Returns the outcome of the document before, as remade by now.
fn outcome_by_now(context: &CrawlContext, last: &LastDocument, before: Option<&Document>) -> Outcome {
    let Some(before) = before else { return last.outcome };
    match document_outcome(context.definition.canonical, before, &before.links) {
        Some((outcome, _)) => outcome,
        None if before.outcome != Outcome::FileDidNotChange => before.outcome,
        None => last.outcome,
    }
}

/// Whether two documents of a visit have the same content, whatever they are compared with.
pub(crate) fn says_the_same(one: &Document, other: &Document) -> bool {
    let parts = |document: &Document| (document.outcome, document.state);
    parts(one) == parts(other)
        && one.detail == other.detail
        && one.page == other.page
        && one.links == other.links
        && one.content == other.content
}

#[cfg(test)]
#[path = "visit_tests.rs"]
mod tests;
