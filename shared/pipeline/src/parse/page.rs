//! A body that was got: what type it is, and if it is a page, what it says.

use std::collections::HashSet;

use dragline_domain::document::{Directives, Document, Link, LinkFate, LinkKind, Page, PageCut};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, Spelling};
use dragline_formats::charset;
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::directives::{meta_robots, x_robots_tag};
use dragline_formats::html::{self, HtmlLimits, PageSource};
use dragline_formats::http_fields::{content_type, refresh};

use super::read::{Capture, Response};
use super::syntax::Declared;
use super::understand::fate_of;
use crate::context::CrawlContext;
use crate::read_by::canonical_in_header;

/// The document of a good response.
pub(super) fn understand(context: &CrawlContext, capture: &Capture, response: &Response, bare: Document) -> Document {
    let directives = header_directives(context, response);
    let content_type = response.headers.text("content-type").as_deref().and_then(content_type);
    let charset = content_type.as_ref().and_then(|kind| kind.charset.as_deref());
    let codings = match ContentCodings::parse(response.headers.all("content-encoding")) {
        Ok(codings) => codings,
        Err(error) => {
            let detail = Some(error.to_string());
            return Document { outcome: of_unknown_type(directives), detail, ..bare };
        }
    };
    let unknown_type = |bare| {
        let detail = directives.noindex.then(|| "noindex, by X-Robots-Tag".to_owned());
        Document { outcome: of_unknown_type(directives), detail, ..bare }
    };
    let declared = Declared::by(content_type.as_ref());
    let beginning = match declared {
        Declared::Other => return unknown_type(bare),
        Declared::Xml => Some(decode_all(&codings, &response.body, Declared::BEGINNING_BYTES)),
        Declared::Page(_) | Declared::Nothing => None,
    };
    if beginning.is_some_and(|body| declared.syntax(&charset::decode(&body.bytes, charset).text).is_none()) {
        return unknown_type(bare);
    }
    let body = decode_all(&codings, &response.body, context.definition.fetch.decoded_bytes_max);
    let text = charset::decode(&body.bytes, charset);
    let Some(syntax) = declared.syntax(&text.text) else { return unknown_type(bare) };
    let Ok(url) = url::Url::parse(capture.url.as_str()) else { return bare };
    let source = PageSource { url: &url, encoding: text.encoding, syntax };
    let html = html::extract(&text.text, &source, &HtmlLimits::default());
    let metas = html.robots.iter().map(|meta| (meta.agent.as_str(), meta.content.as_str()));
    let directives = directives.and(meta_robots(metas, context.definition.user_agent.product_token()));
    let document = page(context, capture, response, html, directives, text.encoding, bare);
    let read_as_it_is = codings.unknown_word().map(|word| format!("`{word}` is no content coding: read as it is"));
    Document { detail: document.detail.or(read_as_it_is), ..document }
}

/// What the response header asks of us.
pub(super) fn header_directives(context: &CrawlContext, response: &Response) -> Directives {
    let tags: Vec<_> = response.headers.texts("x-robots-tag").collect();
    x_robots_tag(tags.iter().map(AsRef::as_ref), context.definition.user_agent.product_token())
}

const fn of_unknown_type(directives: Directives) -> Outcome {
    if directives.noindex { Outcome::BlockedAtRequestOfRemote } else { Outcome::FileOfUnknownType }
}

fn page(
    context: &CrawlContext,
    capture: &Capture,
    response: &Response,
    html: html::Page,
    directives: Directives,
    charset: &str,
    bare: Document,
) -> Document {
    let rules = &context.definition.strip_query_parameters;
    let header_links: Vec<_> = response.headers.texts("link").collect();
    let in_header = canonical_in_header(header_links.iter().map(AsRef::as_ref));
    let canonical = match &html.canonical {
        Some(url) => CrawlUrl::spelled(url, rules).ok(),
        None => in_header.and_then(|target| capture.url.join_spelled(&target, rules).ok()),
    };
    let links = links(context, capture, response, &html, directives, canonical.as_ref());
    let canonical = canonical.map(|(canonical, _)| canonical);
    let other = canonical.as_ref().filter(|canonical| **canonical != capture.url);
    let is_canonical_elsewhere = other
        .is_some_and(|canonical| fate_of(context, &capture.visit, LinkKind::Canonical, canonical) == LinkFate::Follow);
    // How the canonical ends may not be known yet, and may change: whether it stands for the page is decided where that is read.
    let (outcome, detail) = match other {
        _ if directives.noindex => (Outcome::BlockedAtRequestOfRemote, Some("the page asks for noindex".to_owned())),
        Some(canonical) if is_canonical_elsewhere => {
            (Outcome::NotCanonical, Some(format!("its canonical URL is {canonical}")))
        }
        _ => (Outcome::FileIngested, None),
    };
    let cut = match (html.truncated.text, html.truncated.links) {
        (false, false) => PageCut::Whole,
        (true, false) => PageCut::Text,
        (false, true) => PageCut::Links,
        (true, true) => PageCut::TextAndLinks,
    };
    let (title, description, text) =
        if directives.noindex { (None, None, String::new()) } else { (html.title, html.description, html.text) };
    let page = Page {
        title,
        description,
        language: html.language,
        charset: Some(charset.to_owned()),
        canonical,
        directives,
        text,
        cut,
    };
    Document { outcome, detail, page: Some(page), links, ..bare }
}

/// Every link of a page once, with what is done with it.
fn links(
    context: &CrawlContext,
    capture: &Capture,
    response: &Response,
    html: &html::Page,
    directives: Directives,
    canonical: Option<&(CrawlUrl, Spelling)>,
) -> Vec<Link> {
    let rules = &context.definition.strip_query_parameters;
    let mut seen = HashSet::new();
    let mut links = Vec::with_capacity(html.links.len() + 1);
    let mut add = |kind: LinkKind, (target, spelling): (CrawlUrl, Spelling), is_nofollow: bool| {
        if !seen.insert((kind, target.clone())) {
            return;
        }
        let fate = match fate_of(context, &capture.visit, kind, &target) {
            LinkFate::Follow | LinkFate::Blocked(_) if is_nofollow => LinkFate::NoFollow,
            fate => fate,
        };
        links.push(Link { kind, target, fate, spelling });
    };
    // What a page calls canonical is no link of its text: nofollow says nothing about it.
    if let Some(canonical) = canonical {
        add(LinkKind::Canonical, canonical.clone(), false);
    }
    let by_header = response.headers.text("refresh");
    let refreshed = by_header.as_deref().and_then(refresh).and_then(|url| capture.url.join_spelled(url, rules).ok());
    if let Some(target) = refreshed {
        add(LinkKind::Redirect, target, directives.nofollow);
    }
    for link in &html.links {
        if let Ok(target) = CrawlUrl::spelled(&link.url, rules) {
            add(link.kind, target, directives.nofollow || link.nofollow);
        }
    }
    links
}
