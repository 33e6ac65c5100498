//! Reading a page that was to be rendered: what its scripts made of it, beside what its server had
//! sent.

use std::collections::HashSet;

use dragline_domain::content::{ContentLevel, Gap};
use dragline_domain::document::LinkKind;
use dragline_domain::rendering::{PageGist, PageRendering, Rendering};
use dragline_domain::scripted;
use dragline_domain::url::CrawlUrl;
use dragline_extract::{Extracted, FoundLink, Settings, Source, Unread, extract_as};
use dragline_formats::shell::{headers_of_dom, without_noscript};

use crate::parse::read::records::{Capture, Response};

/// Reads the answer of a page, or the document that its scripts made. The links of both are links
/// of the page, and so is where scripts tried to send the browser.
pub(super) fn extract(capture: &Capture, response: &Response, settings: &Settings<'_>) -> Result<Extracted, Unread> {
    let source = Source { url: &capture.url, headers: &response.headers, body: &response.body };
    let read_served = |settings: &Settings<'_>| extract_as(&source, settings, capture.visit.sighting.read_as);
    let Some(rendering) = capture.rendering() else { return read_served(settings) };
    let Some(dom) = &capture.dom else {
        return read_served(settings).map(|served| with_rendering(served, rendering, None));
    };
    // Of what was sent, title, text and links are enough.
    let served = read_served(&Settings { content: ContentLevel::Text, ..*settings });
    let headers = headers_of_dom(&response.headers);
    let shown = without_noscript(dom);
    let source = Source { url: &capture.url, headers: &headers, body: &shown };
    let mut rendered = extract_as(&source, settings, capture.visit.sighting.read_as)?;
    rendered.remark = rendered.remark.filter(|remark| scripted::element_from_detail(remark).is_none());
    let mut sent = None;
    if let Ok(Extracted { page, links, .. }) = served {
        sent = Some(PageGist::new(&page, links.iter().map(|link| link.kind)));
        add_links(&mut rendered, links);
    }
    add_links(&mut rendered, navigations(&capture.url, rendering));
    Ok(with_rendering(rendered, rendering, sent))
}

/// Adds links that the page does not have yet. What only its server sent stands behind what is
/// shown. A page has one canonical URL: that which is there in the end.
fn add_links(page: &mut Extracted, links: Vec<FoundLink>) {
    let known: HashSet<(LinkKind, CrawlUrl)> = page.links.iter().map(|link| (link.kind, link.target.clone())).collect();
    let is_new =
        |link: &FoundLink| link.kind != LinkKind::Canonical && !known.contains(&(link.kind, link.target.clone()));
    page.links.extend(links.into_iter().filter(is_new));
}

fn navigations(url: &CrawlUrl, rendering: &Rendering) -> Vec<FoundLink> {
    let elsewhere = rendering.navigations.iter().filter(|target| *target != url);
    elsewhere.map(|target| FoundLink::plain(LinkKind::Redirect, target.clone())).collect()
}

fn with_rendering(mut page: Extracted, rendering: &Rendering, served: Option<PageGist>) -> Extracted {
    let remark = rendering.remark();
    let content = page.content.get_or_insert_default();
    if remark.is_some() {
        content.gaps.push(Gap::Rendering);
    }
    content.rendering = Some(Box::new(PageRendering::new(rendering, served)));
    page.remark = match (page.remark, remark) {
        (Some(own), Some(remark)) => Some(format!("{own}; {remark}")),
        (own, remark) => own.or(remark),
    };
    page
}
