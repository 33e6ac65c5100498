//! What a capture means: its outcome and its document.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dragline_domain::capture::{Finality, RedirectEntry};
use dragline_domain::change::Difference;
use dragline_domain::conclusion::{document_outcome, page_outcome};
use dragline_domain::definition::Soft404;
use dragline_domain::document::{Document, DocumentState, Link, LinkKind, Rel};
use dragline_domain::frontier::SegmentRow;
use dragline_domain::missing_page::{MissingRule, MissingSign};
use dragline_domain::outcome::Outcome;
use dragline_domain::scripted;
use dragline_extract::missing::print_of_page;
use dragline_extract::wall::{self, Wall};
use dragline_extract::{Extracted, FoundLink, Settings, Unread};

use super::earlier::{asks_for_noindex, is_needed_unchanged};
use super::links::{at_home, decide_disposition, decide_found, decide_links, is_part_of_page, try_icon, try_sitemap};
use super::rendered;
use super::uses::{uses_of_answer, uses_of_unchanged, with_uses};
use crate::context::CrawlContext;
use crate::parse::read::Trust;
use crate::parse::read::records::{Capture, Response};

/// Makes the document of a capture, which may need the `earlier` document of its URL. A panic costs
/// only the capture that caused it.
pub(crate) fn make_document(
    context: &CrawlContext,
    segment: &SegmentRow,
    n: u32,
    capture: &Capture,
    earlier: Option<&Document>,
    trust: Trust,
) -> Document {
    if let Some(why) = &capture.unreadable {
        return stuck_document(n, capture, why);
    }
    if trust != Trust::Full && capture.response.is_some() {
        return stuck_document(n, capture, "skipped: its parses failed repeatedly");
    }
    let document = catch_unwind(AssertUnwindSafe(|| read(context, segment, n, capture, earlier)))
        .unwrap_or_else(|_| stuck_document(n, capture, "the parser broke on it"));
    try_sitemap(context, capture, document)
}

pub(crate) fn stuck_document(n: u32, capture: &Capture, why: &str) -> Document {
    Document {
        outcome: Outcome::UnknownError,
        detail: Some(why.to_owned()),
        state: DocumentState::Stuck,
        ..bare_document(n, capture)
    }
}

/// Returns a document with nothing but the crawler's own information.
pub(crate) fn bare_document(n: u32, capture: &Capture) -> Document {
    let detail = capture.visit.detail.clone();
    Document { detail, ..Document::bare(n, capture.url.clone(), capture.visit.outcome) }
}

fn read(
    context: &CrawlContext,
    segment: &SegmentRow,
    n: u32,
    capture: &Capture,
    earlier: Option<&Document>,
) -> Document {
    let bare = bare_document(n, capture);
    match capture.visit.finality {
        Finality::Final => {}
        Finality::Retried => return bare,
        Finality::Aside => return remake_document(context, capture, earlier, bare),
    }
    let document = match capture.visit.outcome {
        Outcome::PermanentRedirect | Outcome::TemporaryRedirect | Outcome::FileIngested => {
            document_of_answer(context, capture, bare)
        }
        Outcome::FileDidNotChange => {
            return document_of_unchanged(context, capture, capture.response.as_ref(), earlier, bare);
        }
        _ => return bare,
    };
    if document.outcome.is_not_of_page() {
        return document;
    }
    let difference = earlier.zip(capture.visit.known.document);
    let difference =
        difference.map(|(earlier, last)| Difference::between(last.place, last.outcome, earlier, &document));
    Document { body: capture.stored_body(segment, n), difference, ..document }
}

/// Returns the document of a redirect or a good response; the bare one for anything else.
pub(crate) fn document_of_answer(context: &CrawlContext, capture: &Capture, bare: Document) -> Document {
    let head = |response: &Response| wall::find_by_fields(&capture.head(response));
    if let Some(wall) = capture.response.as_ref().and_then(head) {
        return document_of_wall(wall, bare);
    }
    match (capture.visit.outcome, &capture.response) {
        (Outcome::PermanentRedirect | Outcome::TemporaryRedirect, _) => document_of_redirect(context, capture, bare),
        (Outcome::FileIngested, Some(response)) => document_of_body(context, capture, response, bare),
        _ => bare,
    }
}

/// Returns how the bodies of a crawl are read.
pub(crate) fn settings(context: &CrawlContext) -> Settings<'_> {
    Settings {
        product_token: context.definition.user_agent.product_token(),
        url_rules: &context.definition.strip_query_parameters,
        decoded_bytes_max: context.definition.fetch.decoded_bytes_max,
        noindex: context.definition.noindex,
        content: context.definition.content,
        types: &context.types,
        main: &context.main,
    }
}

/// Returns the document of a good response.
fn document_of_body(context: &CrawlContext, capture: &Capture, response: &Response, bare: Document) -> Document {
    let is_lost = capture.dom.is_none() && capture.rendering().is_some_and(|rendering| rendering.dom_sha1().is_some());
    if is_lost {
        return stuck_document(bare.n, capture, "the document that its scripts made cannot be read");
    }
    match rendered::extract(capture, response, &settings(context)) {
        Ok(extracted) => document_of_page(context, capture, response, extracted, bare),
        Err(Unread { directives, detail, links, content }) => {
            let uses = uses_of_answer(context, capture, response, Vec::new());
            let outcome = if directives.noindex { Outcome::BlockedAtRequestOfRemote } else { Outcome::StoredNotRead };
            // A sitemap or feed that asks for noindex is not a result, but it is followed all the
            // same.
            let detail = detail.or_else(|| bare.detail.clone());
            let is_followed = |link: &FoundLink| context.definition.feeds.are_followed() || !link.kind.is_of_feed();
            let links = links.into_iter().filter(is_followed).collect();
            let document = Document { outcome, detail, links: decide_found(context, capture, links), content, ..bare };
            with_uses(context, capture, uses, document)
        }
    }
}

/// Returns the rule that recognises a missing page, if the definition asks for that and one
/// applies.
fn sign_of_missing<'c>(context: &CrawlContext, capture: &'c Capture) -> Option<&'c MissingSign> {
    capture.visit.missing.as_deref().filter(|_| context.definition.soft_404 == Soft404::Detect)
}

/// Returns the document of a soft 404. Its content is dropped, as for a 404.
fn document_of_missing(rule: MissingRule, bare: Document) -> Document {
    Document { outcome: MissingRule::OUTCOME, detail: Some(rule.detail()), ..bare }
}

/// Returns the document of a wall. Its content is dropped: it says nothing about the page it stands
/// in for.
fn document_of_wall(wall: Wall, bare: Document) -> Document {
    Document { outcome: wall.kind().outcome(), detail: Some(wall.detail()), ..bare }
}

fn document_of_page(
    context: &CrawlContext,
    capture: &Capture,
    response: &Response,
    extracted: Extracted,
    bare: Document,
) -> Document {
    let Extracted { made_by, page, links, mut content, remark, wall, uses } = extracted;
    let is_cut = capture.file.as_ref().is_some_and(|file| file.truncated.is_some());
    if let Some(markup) = content.as_mut().and_then(|content| content.markup.as_mut()).filter(|_| is_cut) {
        markup.mark_as_cut();
    }
    if let Some(wall) = wall {
        return document_of_wall(wall, bare);
    }
    if is_part_of_page(context, capture) {
        let needed = links.into_iter().filter(|link| link.kind.is_requisite()).collect();
        let links = decide_found(context, capture, needed);
        let document = Document { outcome: Outcome::StoredNotRead, links, ..bare };
        return with_uses(context, capture, uses_of_answer(context, capture, response, uses), document);
    }
    if let Some(sign) = sign_of_missing(context, capture).filter(|_| response.status == 200) {
        let print = || print_of_page(&capture.url, &response.headers, &response.body);
        if let Some(rule) = sign.match_page(&capture.url, print) {
            return document_of_missing(rule, bare);
        }
    }
    let links = try_icon(context, capture, at_home(context, capture, &page, links));
    let links = decide_found(context, capture, links);
    let is_shell = remark.as_deref().and_then(scripted::element_from_detail).is_some();
    let (outcome, detail) = match page_outcome(context.definition.canonical, &capture.url, &page, &links) {
        (Outcome::FileIngested, _) if is_shell => (Outcome::NeedsScript, remark.clone()),
        other => other,
    };
    let misfits = content.as_deref().map_or(&[][..], |content| &content.misfits);
    let (state, detail) = match misfits {
        [] => (DocumentState::Processed, detail.or_else(|| bare.detail.clone()).or(remark)),
        [first] => (DocumentState::Stuck, Some(first.to_string())),
        [first, more @ ..] => (DocumentState::Stuck, Some(format!("{first}; and {} more", more.len()))),
    };
    let (page, made_by) = (Some(page), Some(made_by));
    let document = Document { outcome, detail, state, page, links, content, made_by, ..bare };
    with_uses(context, capture, uses_of_answer(context, capture, response, uses), document)
}

/// Returns the document of a known body: unchanged, unless the answer now asks for noindex. It is
/// remade from the earlier one if that changes its outcome, or if other rules decide about its
/// links by now.
fn document_of_unchanged(
    context: &CrawlContext,
    capture: &Capture,
    response: Option<&Response>,
    earlier: Option<&Document>,
    bare: Document,
) -> Document {
    let was = capture.visit.known.last.as_ref().map(|last| last.outcome);
    let asks_for_noindex = response.is_some_and(|response| asks_for_noindex(context, response));
    let (outcome, detail) = match was {
        Some(outcome @ Outcome::BlockedAtRequestOfRemote) => (outcome, Some("it did not change: it asks for noindex")),
        _ if asks_for_noindex => (Outcome::BlockedAtRequestOfRemote, Some("noindex, by X-Robots-Tag")),
        Some(outcome @ Outcome::NeedsScript) => (outcome, Some("it did not change: it needs JavaScript")),
        Some(outcome @ Outcome::NotCanonical) => (outcome, Some("it did not change: another URL is its canonical one")),
        Some(outcome @ Outcome::Duplicate) => (outcome, Some("it did not change")),
        _ => (bare.outcome, None),
    };
    let bare = Document { outcome, detail: detail.map(str::to_owned).or_else(|| bare.detail.clone()), ..bare };
    let Some(earlier) = earlier else { return bare };
    let uses = uses_of_unchanged(context, capture, response, earlier);
    let last = capture.visit.known.document;
    if uses == earlier.uses() && last.is_some_and(|last| !is_needed_unchanged(context, capture, &last)) {
        return bare;
    }
    let made = remake_document(context, capture, Some(earlier), bare.clone());
    let mut document = Document { outcome, detail: bare.detail, ..made };
    document = with_uses(context, capture, uses, document);
    if document.outcome == Outcome::UseReserved {
        document.difference = last.map(|last| Difference::between(last.place, last.outcome, earlier, &document));
        return document;
    }
    if asks_for_noindex && last.is_none_or(|last| last.outcome != Outcome::BlockedAtRequestOfRemote) {
        // Keeps as little as for a complete answer that asks for noindex.
        document.withhold();
        document.difference = last.map(|last| Difference::between(last.place, last.outcome, earlier, &document));
    }
    document
}

/// Remakes a document from the earlier one, with its links decided by the current rules.
pub(crate) fn remake_document(
    context: &CrawlContext,
    capture: &Capture,
    earlier: Option<&Document>,
    bare: Document,
) -> Document {
    let Some(earlier) = earlier else { return bare };
    let links = decide_links(context, capture, earlier.links.iter().cloned());
    let by_itself = document_outcome(context.definition.canonical, earlier, &links);
    let (outcome, detail) = by_itself.unwrap_or_else(|| (bare.outcome, earlier.detail.clone()));
    let Document { page, content, made_by, body, .. } = earlier.clone();
    Document { outcome, detail, page, links, content, made_by, body, ..bare }
}

fn document_of_redirect(context: &CrawlContext, capture: &Capture, bare: Document) -> Document {
    let redirect = capture.redirect(&context.definition.strip_query_parameters);
    let Some((RedirectEntry { target, .. }, spelling)) = redirect else {
        let detail = Some("a redirect to a URL that cannot be crawled".to_owned());
        return Document { outcome: Outcome::DidNotUnderstandAnswer, detail, ..bare };
    };
    if let Some(rule) = sign_of_missing(context, capture).and_then(|sign| sign.match_redirect(&capture.url, &target)) {
        return document_of_missing(rule, bare);
    }
    // If it redirects to itself, the crawler's detail says what happened.
    let detail = bare.detail.clone().or_else(|| Some(format!("to {target}")));
    let disposition = decide_disposition(context, &capture.visit, LinkKind::Redirect, &target);
    let link = Link { kind: LinkKind::Redirect, target, disposition, spelling, rel: Rel::Follow, anchor: None };
    Document { detail, links: vec![link], ..bare }
}
