//! The documents in `<iframe srcdoc>`, of which only the links are read.

use std::collections::HashSet;

use dragline_domain::document::LinkKind;

use super::super::HtmlLimits;
use super::super::links::{Links, ResolvedLinks};
use super::super::metadata::Metadata;
use super::super::page::HtmlLink;
use super::super::resolve::Resolver;
use super::super::tokens::Tokens;
use super::{Collector, Syntax};
use url::Url;

/// The limit on the documents of a page.
const FRAMES_MAX: usize = 100;

/// The limit on their nesting.
const NESTING_MAX: usize = 3;

/// The contents of a document.
#[derive(Debug)]
pub(super) struct Frame<'l> {
    links: Links,
    metadata: Metadata<'l>,
}

/// The documents so far, and how many are open around the current one.
#[derive(Debug, Default)]
pub(super) struct Frames<'l> {
    read: Vec<Frame<'l>>,
    nesting: usize,
}

impl Collector<'_> {
    /// Reads the document of an `<iframe srcdoc>`, which is HTML even in XHTML.
    pub(super) fn read_frame(&mut self, html: &str) {
        if html.is_empty() || self.frames.read.len() >= FRAMES_MAX || self.frames.nesting >= NESTING_MAX {
            return;
        }
        let mut inner = Collector::new(self.limits, Syntax::Html);
        inner.frames.nesting = self.frames.nesting + 1;
        Tokens::new(html, &mut inner, self.limits.attribute_bytes_max).read();
        inner.end_anchor();
        inner.unmute();
        let Collector { links, metadata, frames, .. } = inner;
        self.frames.read.push(Frame { links, metadata });
        let room = FRAMES_MAX.saturating_sub(self.frames.read.len());
        self.frames.read.extend(frames.read.into_iter().take(room));
    }
}

impl Frames<'_> {
    /// Adds their links to those of the page, whose base applies unless they declare one.
    pub(super) fn finish(self, resolved: &mut ResolvedLinks, limits: &HtmlLimits, resolver: Resolver<'_>, page: &Url) {
        if self.read.is_empty() {
            return;
        }
        resolved.is_cut |= self.add_links(&mut resolved.links, limits, resolver, page);
    }

    /// Returns whether links are missing because of a limit.
    fn add_links(self, links: &mut Vec<HtmlLink>, limits: &HtmlLimits, resolver: Resolver<'_>, page: &Url) -> bool {
        let mut is_any_cut = false;
        let taken: usize = links.iter().map(|link| link.url.as_str().len()).sum();
        let mut room = limits.links_bytes_max.saturating_sub(taken);
        let mut seen: HashSet<(LinkKind, String)> =
            links.iter().map(|link| (link.kind, link.url.as_str().to_owned())).collect();
        for Frame { links: of_frame, metadata } in self.read {
            let base = metadata.resolved_base(resolver);
            let of_frame = of_frame.finish(Resolver { base: &base, ..resolver }, page);
            is_any_cut |= of_frame.is_cut;
            for link in of_frame.links {
                // A frame's links to itself are irrelevant to the page.
                let kind = match link.kind {
                    LinkKind::Redirect => LinkKind::Iframe,
                    LinkKind::Canonical => LinkKind::Other,
                    kind => kind,
                };
                let bytes = link.url.as_str().len();
                if links.len() >= limits.links_max || bytes > room {
                    return true;
                }
                if seen.insert((kind, link.url.as_str().to_owned())) {
                    room -= bytes;
                    links.push(HtmlLink { kind, ..link });
                }
            }
        }
        is_any_cut
    }
}
