//! What each capture means: its outcome, its document, and its links.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dragline_domain::capture::{CrawlType, Finality, LogEntry, RedirectEntry, Visit};
use dragline_domain::change::Difference;
use dragline_domain::definition::{Canonical, Requisites, Soft404};
use dragline_domain::document::{Disposition, Document, DocumentState, Link, LinkKind, Page, Rel};
use dragline_domain::frontier::{ReadAs, SegmentRow, Sighting, leave_further_origins};
use dragline_domain::missing_page::{MissingRule, MissingSign};
use dragline_domain::outcome::Outcome;
use dragline_domain::policy::{Decision, ScopeRule};
use dragline_domain::url::CrawlUrl;
use dragline_extract::fields::header_directives;
use dragline_extract::missing::print_of_page;
use dragline_extract::wall::{self, Wall};
use dragline_extract::{Extracted, FoundLink, Settings, Source, Unread, extract_as};
use jiff::Timestamp;

use super::captures::Trust;
use super::claims::BlockedUrl;
use super::read::{Capture, Response};
use super::state;
use crate::context::CrawlContext;

/// How many redirects and canonical links in a row do not count as depth. Further ones do, so that an endless chain comes to an end.
const FREE_REDIRECTS_MAX: u8 = 5;

/// The documents of a segment, one for each capture, in order.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub documents: Vec<Document>,
}

/// Makes the document of a capture, which may need the `earlier` document of its URL. A panic costs only the capture that caused it.
pub(super) fn document_of(
    context: &CrawlContext,
    segment: &SegmentRow,
    n: u32,
    capture: &Capture,
    earlier: Option<&Document>,
    trust: Trust,
) -> Document {
    if let Some(why) = &capture.unreadable {
        return stuck(n, capture, why);
    }
    if trust != Trust::Full && capture.response.is_some() {
        return stuck(n, capture, "skipped: its parses failed repeatedly");
    }
    catch_unwind(AssertUnwindSafe(|| read(context, segment, n, capture, earlier)))
        .unwrap_or_else(|_| stuck(n, capture, "the parser broke on it"))
}

pub(super) fn stuck(n: u32, capture: &Capture, why: &str) -> Document {
    Document {
        outcome: Outcome::UnknownError,
        detail: Some(why.to_owned()),
        state: DocumentState::Stuck,
        ..bare(n, capture)
    }
}

/// Returns a document that says no more than the crawler knew.
pub(super) fn bare(n: u32, capture: &Capture) -> Document {
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
    let bare = bare(n, capture);
    match capture.visit.finality {
        Finality::Final => {}
        Finality::Retried => return bare,
        Finality::Aside => return again(context, capture, earlier, bare),
    }
    let document = match capture.visit.outcome {
        Outcome::PermanentRedirect | Outcome::Redirect | Outcome::FileIngested => of_answer(context, capture, bare),
        Outcome::FileDidNotChange => return unchanged(context, capture, capture.response.as_ref(), earlier, bare),
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

/// Returns the document of a redirect or a good response; one that says no more than the crawler knew for anything else.
pub(super) fn of_answer(context: &CrawlContext, capture: &Capture, bare: Document) -> Document {
    let head = |response: &Response| wall::of_fields(&capture.head(response));
    if let Some(wall) = capture.response.as_ref().and_then(head) {
        return walled(wall, bare);
    }
    match (capture.visit.outcome, &capture.response) {
        (Outcome::PermanentRedirect | Outcome::Redirect, _) => redirect(context, capture, bare),
        (Outcome::FileIngested, Some(response)) => answered(context, capture, response, bare),
        _ => bare,
    }
}

/// Returns the document of a good response.
fn answered(context: &CrawlContext, capture: &Capture, response: &Response, bare: Document) -> Document {
    let source = Source { url: &capture.url, headers: &response.headers, body: &response.body };
    let settings = Settings {
        product_token: context.definition.user_agent.product_token(),
        url_rules: &context.definition.strip_query_parameters,
        decoded_bytes_max: context.definition.fetch.decoded_bytes_max,
        content: context.definition.content,
        types: &context.types,
        main: &context.main,
    };
    match extract_as(&source, &settings, capture.visit.sighting.read_as) {
        Ok(extracted) => page(context, capture, extracted, bare),
        Err(Unread { directives, detail, links, content }) => {
            let outcome =
                if directives.noindex { Outcome::BlockedAtRequestOfRemote } else { Outcome::FileOfUnknownType };
            // A sitemap that asks for noindex is no result, and is there to be followed all the same.
            let detail = detail.or_else(|| bare.detail.clone());
            Document { outcome, detail, links: found(context, capture, links), content, ..bare }
        }
    }
}

/// Returns what tells a missing page, if the definition asks for it and something does.
fn sign_of_missing<'c>(context: &CrawlContext, capture: &'c Capture) -> Option<&'c MissingSign> {
    capture.visit.missing.as_deref().filter(|_| context.definition.soft_404 == Soft404::Detect)
}

/// Returns the document of a page that stands for a missing one. As of a 404, nothing of it is kept.
fn missing(rule: MissingRule, bare: Document) -> Document {
    Document { outcome: MissingRule::OUTCOME, detail: Some(rule.detail()), ..bare }
}

/// Returns the document of a wall. Nothing of it is kept: it says nothing about the page in whose place it stands.
fn walled(wall: Wall, bare: Document) -> Document {
    Document { outcome: wall.kind().outcome(), detail: Some(wall.detail()), ..bare }
}

fn page(context: &CrawlContext, capture: &Capture, extracted: Extracted, bare: Document) -> Document {
    let Extracted { made_by, page, links, content, remark, wall } = extracted;
    if let Some(wall) = wall {
        return walled(wall, bare);
    }
    let response = capture.response.as_ref().filter(|response| response.status == 200);
    if let Some((sign, response)) = sign_of_missing(context, capture).zip(response) {
        let print = || print_of_page(&capture.url, &response.headers, &response.body);
        if let Some(rule) = sign.of_page(&capture.url, print) {
            return missing(rule, bare);
        }
    }
    let links = found(context, capture, links);
    let (outcome, detail) = outcome_of_page(context, &capture.url, &page, &links);
    let misfits = content.as_deref().map_or(&[][..], |content| &content.misfits);
    let (state, detail) = match misfits {
        [] => (DocumentState::Processed, detail.or_else(|| bare.detail.clone()).or(remark)),
        [first] => (DocumentState::Stuck, Some(first.to_string())),
        [first, more @ ..] => (DocumentState::Stuck, Some(format!("{first}; and {} more", more.len()))),
    };
    let (page, made_by) = (Some(page), Some(made_by));
    Document { outcome, detail, state, page, links, content, made_by, ..bare }
}

fn found(context: &CrawlContext, capture: &Capture, links: Vec<FoundLink>) -> Vec<Link> {
    all_decided(context, capture, links.into_iter().map(|link| link.decided(Disposition::Follow)))
}

/// Decides, or decides again, what is done with the links of a page.
fn all_decided(context: &CrawlContext, capture: &Capture, links: impl Iterator<Item = Link>) -> Vec<Link> {
    let mut links: Vec<Link> = links.map(|link| decided(context, &capture.visit, link)).collect();
    leave_further_origins(&capture.url.origin(), &mut links, context.definition.budget.origins_per_page);
    links
}

/// Decides, or decides again, what is done with a link.
fn decided(context: &CrawlContext, visit: &Visit, link: Link) -> Link {
    let is_nofollow = link.is_nofollow();
    let disposition = match disposition_of(context, visit, link.kind, &link.target) {
        // Whoever shows the page loads its requisites.
        Disposition::Follow | Disposition::Blocked(_) if is_nofollow && link.kind.leads_to_page() => {
            Disposition::NoFollow
        }
        disposition => disposition,
    };
    Link { disposition, rel: if is_nofollow { Rel::NoFollow } else { Rel::Follow }, ..link }
}

/// Returns how a page ends, by what it says: it asks for noindex, calls another URL of the crawl canonical, or stands for itself.
pub(super) fn outcome_of_page(
    context: &CrawlContext,
    url: &CrawlUrl,
    page: &Page,
    links: &[Link],
) -> (Outcome, Option<String>) {
    let counts = context.definition.canonical == Canonical::Obey;
    let elsewhere = page.canonical.as_ref().filter(|canonical| counts && *canonical != url).filter(|canonical| {
        let is_followed = |link: &Link| link.kind == LinkKind::Canonical && link.target == **canonical;
        links.iter().any(|link| is_followed(link) && link.disposition == Disposition::Follow)
    });
    // How the canonical URL ends may not be known yet, and may change. Whether it stands for the page is decided by whoever reads it.
    match elsewhere {
        _ if page.directives.noindex => {
            (Outcome::BlockedAtRequestOfRemote, Some("the page asks for noindex".to_owned()))
        }
        Some(canonical) => (Outcome::NotCanonical, Some(format!("its canonical URL is {canonical}"))),
        None => (Outcome::FileIngested, None),
    }
}

/// Returns the outcome of a known body: unchanged, unless the answer now asks for noindex. The document is made again of the earlier one if that
/// changes what it says, or if other rules decide about its links by now.
fn unchanged(
    context: &CrawlContext,
    capture: &Capture,
    response: Option<&Response>,
    earlier: Option<&Document>,
    bare: Document,
) -> Document {
    let was = capture.visit.known.last.as_ref().map(|last| last.outcome);
    let product_token = context.definition.user_agent.product_token();
    let asks_for_noindex = response.is_some_and(|response| header_directives(&response.headers, product_token).noindex);
    let (outcome, detail) = match was {
        Some(outcome @ Outcome::BlockedAtRequestOfRemote) => (outcome, Some("it did not change: it asks for noindex")),
        _ if asks_for_noindex => (Outcome::BlockedAtRequestOfRemote, Some("noindex, by X-Robots-Tag")),
        Some(outcome @ Outcome::NotCanonical) => (outcome, Some("it did not change: another URL is its canonical one")),
        Some(outcome @ Outcome::Duplicate) => (outcome, Some("it did not change")),
        _ => (bare.outcome, None),
    };
    let bare = Document { outcome, detail: detail.map(str::to_owned).or_else(|| bare.detail.clone()), ..bare };
    let Some(earlier) = earlier else { return bare };
    let made = again(context, capture, Some(earlier), bare.clone());
    let mut document = Document { outcome, detail: bare.detail, ..made };
    let last = capture.visit.known.document;
    if asks_for_noindex && last.is_none_or(|last| last.outcome != Outcome::BlockedAtRequestOfRemote) {
        // As little as is kept of a complete answer that asks for it.
        document.withhold();
        document.difference = last.map(|last| Difference::between(last.place, last.outcome, earlier, &document));
    }
    document
}

/// Makes a document again of the earlier one, with its links decided by the rules in force.
pub(super) fn again(context: &CrawlContext, capture: &Capture, earlier: Option<&Document>, bare: Document) -> Document {
    let Some(earlier) = earlier else { return bare };
    let links = all_decided(context, capture, earlier.links.iter().cloned());
    let (outcome, detail) = match &earlier.page {
        Some(page) => outcome_of_page(context, &capture.url, page, &links),
        None => (bare.outcome, earlier.detail.clone()),
    };
    let Document { page, content, made_by, body, .. } = earlier.clone();
    Document { outcome, detail, page, links, content, made_by, body, ..bare }
}

fn redirect(context: &CrawlContext, capture: &Capture, bare: Document) -> Document {
    let redirect = capture.redirect(&context.definition.strip_query_parameters);
    let Some((RedirectEntry { target, .. }, spelling)) = redirect else {
        let detail = Some("a redirect to a URL that cannot be crawled".to_owned());
        return Document { outcome: Outcome::DidNotUnderstandAnswer, detail, ..bare };
    };
    if let Some(rule) = sign_of_missing(context, capture).and_then(|sign| sign.of_redirect(&capture.url, &target)) {
        return missing(rule, bare);
    }
    // Where it leads to itself, the crawler says what came of that.
    let detail = bare.detail.clone().or_else(|| Some(format!("to {target}")));
    let disposition = disposition_of(context, &capture.visit, LinkKind::Redirect, &target);
    let link = Link { kind: LinkKind::Redirect, target, disposition, spelling, rel: Rel::Follow, anchor: None };
    Document { detail, links: vec![link], ..bare }
}

/// Where a link's target is, seen from the seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Distance {
    /// See [`Sighting::depth`].
    pub depth: u32,
    /// See [`Sighting::requisite_steps`].
    pub requisite_steps: u8,
    /// See [`Sighting::read_as`].
    pub read_as: ReadAs,
    /// See [`Visit::redirects`].
    pub redirects: u8,
}

impl Distance {
    /// Returns the distance of a link's target: one deeper than its page, except for redirects and canonical links, which stand for the same page, and
    /// for what the page needs, which is a part of it. Where a requisite redirects to is one, too. What a sitemap lists counts like a seed, and so do
    /// the sitemaps that robots.txt names; those of an index are one deeper each time, so that an endless chain comes to an end.
    pub(super) fn of_target(visit: &Visit, kind: LinkKind) -> Self {
        let Sighting { depth, requisite_steps: steps, read_as, ref via } = visit.sighting;
        let counts_like_seed = match kind {
            LinkKind::Sitemap => read_as == ReadAs::Sitemap || depth == 0 && via.is_none(),
            LinkKind::SitemapFile => read_as == ReadAs::Robots,
            _ => false,
        };
        let read_as = match kind {
            LinkKind::Redirect => read_as,
            LinkKind::SitemapFile => ReadAs::Sitemap,
            _ => ReadAs::Typed,
        };
        if counts_like_seed {
            return Self { depth: 0, requisite_steps: 0, read_as, redirects: 0 };
        }
        let is_free = kind.stands_for_its_page() && visit.redirects < FREE_REDIRECTS_MAX;
        let redirects = if is_free { visit.redirects + 1 } else { 0 };
        let (depth, requisite_steps) = match kind {
            LinkKind::Redirect if steps > 0 => (depth, steps.saturating_add(u8::from(!is_free))),
            _ if kind.is_requisite() => (depth, steps.saturating_add(1)),
            _ => (depth.saturating_add(u32::from(!is_free)), 0),
        };
        Self { depth, requisite_steps, read_as, redirects }
    }
}

/// Returns the disposition of a link that the page does not ask to ignore.
pub(super) fn disposition_of(context: &CrawlContext, visit: &Visit, kind: LinkKind, target: &CrawlUrl) -> Disposition {
    let is_fetched_with_page = kind.is_requisite() && context.definition.requisites == Requisites::Fetch;
    if !(kind.leads_to_page() || is_fetched_with_page) {
        return Disposition::NotAPage;
    }
    let Distance { depth, requisite_steps, read_as, .. } = Distance::of_target(visit, kind);
    match context.decide(target, depth, requisite_steps, read_as) {
        Decision::Crawl => Disposition::Follow,
        Decision::OutOfScope(ScopeRule::Depth { .. } | ScopeRule::SitemapIndexes { .. }) => Disposition::TooDeep,
        Decision::OutOfScope(_) => Disposition::OutOfScope,
        Decision::Blocked(rule) => Disposition::Blocked(rule.to_string()),
    }
}

impl Parsed {
    /// Returns the segment's log: each capture with its final outcome, then the URLs that a rule of the definition forbids.
    pub(super) fn log_entries(
        &self,
        context: &CrawlContext,
        segment: &SegmentRow,
        captures: &[Capture],
        blocked: Vec<BlockedUrl>,
    ) -> Vec<LogEntry> {
        let captures = captures.iter().zip(&self.documents).map(|(capture, document)| LogEntry {
            n: document.n,
            url: capture.url.clone(),
            at: capture.at,
            visit: Visit {
                outcome: document.outcome,
                detail: document.detail.clone(),
                missing: None,
                ..capture.visit.clone()
            },
            status: capture.response.as_ref().map(|response| response.status),
            file: capture.file.clone(),
            redirect: redirect_of(context, capture, document),
            unchanged_since: unchanged_since(capture, document),
            change: state::visit_change(context, segment, capture, document),
        });
        let first = u32::try_from(self.documents.len()).unwrap_or(u32::MAX);
        let blocked = (first..).zip(blocked).map(|(n, blocked)| LogEntry {
            n,
            change: state::change_of_blocked(&blocked.known),
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
            },
            status: None,
            file: None,
            redirect: None,
            unchanged_since: None,
        });
        captures.chain(blocked).collect()
    }
}

/// Returns when the body was fetched that the visit left as it is, or that its document was made again of.
fn unchanged_since(capture: &Capture, document: &Document) -> Option<Timestamp> {
    match capture.visit.finality {
        Finality::Aside => document.body.as_ref().map(|body| body.at),
        Finality::Final | Finality::Retried => {
            capture.unchanged_since().filter(|_| document.state == DocumentState::Processed)
        }
    }
}

/// Returns where a capture redirects: by status, or by calling another URL canonical, if that counts.
pub(super) fn redirect_of(context: &CrawlContext, capture: &Capture, document: &Document) -> Option<RedirectEntry> {
    let by_status = document.links.iter().find(|link| link.kind == LinkKind::Redirect).and_then(|link| {
        let is_permanent = match document.outcome {
            Outcome::PermanentRedirect => true,
            Outcome::Redirect => false,
            _ => return None,
        };
        Some(RedirectEntry { target: link.target.clone(), is_permanent, source: LinkKind::Redirect })
    });
    by_status.or_else(|| {
        let page = document.page.as_ref().filter(|_| context.definition.canonical == Canonical::Obey);
        let canonical = page?.canonical.as_ref().filter(|canonical| **canonical != capture.url)?;
        Some(RedirectEntry { target: canonical.clone(), is_permanent: true, source: LinkKind::Canonical })
    })
}
