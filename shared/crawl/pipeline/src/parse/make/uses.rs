//! What sites say of the use of a document, and what is kept of one whose use is reserved.

use dragline_domain::document::{Document, DocumentState};
use dragline_domain::frontier::ReadAs;
use dragline_domain::outcome::Outcome;
use dragline_domain::use_preferences::{UseSource, UseStatement, add_statements, decide};
use dragline_formats::use_preferences::header_statements;

use crate::context::CrawlContext;
use crate::parse::read::records::{Capture, Response};

/// Returns what is said of the use of an answer: by its site when it was requested, by its header,
/// and by the page itself.
pub(super) fn uses_of_answer(
    context: &CrawlContext,
    capture: &Capture,
    response: &Response,
    of_page: Vec<UseStatement>,
) -> Vec<UseStatement> {
    let token = context.definition.user_agent.product_token();
    let mut uses = capture.visit.uses.clone();
    let more = header_statements(&response.headers, token).into_iter().chain(of_page);
    for statement in more {
        if !uses.contains(&statement) {
            add_statements(&mut uses, [statement]);
        }
    }
    uses
}

/// Returns what is said of the use of a page that did not change: by its site now, by the header of
/// the answer, which may leave out what was in an earlier one, and by the page as it was.
pub(super) fn uses_of_unchanged(
    context: &CrawlContext,
    capture: &Capture,
    response: Option<&Response>,
    earlier: &Document,
) -> Vec<UseStatement> {
    let token = context.definition.user_agent.product_token();
    let of_header = response.map_or_else(Vec::new, |response| header_statements(&response.headers, token));
    let is_kept = |statement: &&UseStatement| match statement.source {
        UseSource::Robots | UseSource::WellKnown | UseSource::Rsl => false,
        UseSource::Header => of_header.is_empty(),
        UseSource::Page => true,
    };
    let mut uses = capture.visit.uses.clone();
    add_statements(&mut uses, of_header.iter().cloned());
    add_statements(&mut uses, earlier.uses().iter().filter(is_kept).cloned());
    uses
}

/// Returns what was said of the use of a stored answer whose document is made again: what its site
/// said when the answer came, or at a later visit that found it unchanged.
pub(super) fn uses_of_stored(earlier: &Document, at_answer: Vec<UseStatement>) -> Vec<UseStatement> {
    let later = earlier.uses().iter().filter(|statement| statement.source != UseSource::Page);
    let later: Vec<UseStatement> = later.cloned().collect();
    if later.is_empty() { at_answer } else { later }
}

/// Puts what is said of its use into a document. If that reserves the purpose of the crawl, its
/// contents are dropped. Sitemaps and robots.txt are there for crawlers, whatever they crawl for.
pub(super) fn with_uses(
    context: &CrawlContext,
    capture: &Capture,
    uses: Vec<UseStatement>,
    mut document: Document,
) -> Document {
    document.put_uses(uses);
    let is_content = capture.visit.sighting.read_as == ReadAs::Typed;
    let Some(purpose) = context.definition.purpose.filter(|_| is_content) else { return document };
    let Some(detail) = decide(purpose, document.uses()).reserved_by().map(ToString::to_string) else {
        return document;
    };
    // A page that asks for noindex is kept as little, and has an outcome of its own.
    if document.outcome != Outcome::BlockedAtRequestOfRemote {
        document.reserve(purpose);
        (document.outcome, document.detail) = (Outcome::UseReserved, Some(detail));
        document.state = DocumentState::Processed;
    }
    document
}
