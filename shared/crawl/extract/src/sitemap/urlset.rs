//! XML sitemaps and indexes as sites write them: with other namespaces, without `loc`, and with
//! unclosed elements.
//!
//! Extensions add what belongs to an entry: its page in other languages (`xhtml:link`), its
//! pictures (`image:loc`) and videos (`video:content_loc`, `video:thumbnail_loc`). They are
//! recognised by their names, whatever the namespaces.

use std::borrow::Cow;
use std::collections::HashSet;

use dragline_domain::document::LinkKind;
use quick_xml::escape::unescape;
use quick_xml::events::BytesStart;

use super::{ENTRIES_MAX, URL_BYTES_MAX, UrlText, is_absolute};
use crate::files::xml::attribute;

/// The innermost open element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenElement {
    /// The root.
    Root,
    /// `url` or `sitemap`.
    Entry,
    /// `loc`. Some sites nest another `url` in it.
    Loc,
}

/// The result so far.
#[derive(Debug)]
pub(super) struct Urlset {
    /// The prefix of the root, which distinguishes elements of extensions.
    prefix: Option<String>,
    /// The kind of entries according to the root.
    root_kind: LinkKind,
    /// The kind of the open entry.
    kind: LinkKind,
    open: OpenElement,
    /// An ignored element, and the nesting depth of its name.
    muted: Option<(String, usize)>,
    said: UrlText,
    /// The open element of an extension, and its text.
    extra: Option<(LinkKind, UrlText)>,
    /// What extensions add.
    extras: Vec<(LinkKind, String)>,
    pub(super) links: Vec<(LinkKind, String)>,
}

impl Urlset {
    pub(super) fn new(root_kind: LinkKind, prefix: Option<String>) -> Self {
        let (muted, said, extra, extras, links) = Default::default();
        Self { prefix, root_kind, kind: root_kind, open: OpenElement::Root, muted, said, extra, extras, links }
    }

    /// Returns its entries, and then what extensions add to them.
    pub(super) fn into_links(self) -> Vec<(LinkKind, String)> {
        let Self { mut links, extras, .. } = self;
        let listed: HashSet<&str> = links.iter().map(|(_, url)| url.as_str()).collect();
        // Each language of a page is usually an entry of its own.
        let is_new = |(kind, url): &(LinkKind, String)| *kind != LinkKind::Alternate || !listed.contains(url.as_str());
        let extras: Vec<_> = extras.into_iter().filter(is_new).collect();
        links.extend(extras);
        links
    }

    pub(super) fn start(&mut self, name: &str, prefix: Option<&str>, element: &BytesStart<'_>) {
        self.start_extra(name, element);
        let is_own = prefix.is_none() || prefix == self.prefix.as_deref();
        let (is_entry, is_loc) = (is_own && is_entry(name), is_own && name == "loc");
        if let Some((muted, depth)) = &mut self.muted {
            if !(is_entry || is_loc && is_field(muted)) {
                *depth += usize::from(muted == name);
                return;
            }
            self.muted = None;
        }
        self.flush();
        if is_loc {
            self.open = OpenElement::Loc;
        } else if !is_entry {
            self.muted = Some((name.to_owned(), 1));
        } else if self.open != OpenElement::Loc {
            self.open = OpenElement::Entry;
            self.kind = if name == "sitemap" { LinkKind::SitemapFile } else { self.root_kind };
        }
    }

    /// Begins an element of an extension, if it is a known one.
    fn start_extra(&mut self, name: &str, element: &BytesStart<'_>) {
        let around = self.muted.as_ref().map(|(name, _)| name.as_str());
        let kind = match (around, name) {
            (Some("image"), "loc") | (Some("video"), "thumbnail_loc") => LinkKind::Img,
            (Some("video"), "content_loc") => LinkKind::Video,
            (None, "link") if self.open == OpenElement::Entry => return self.alternate(element),
            _ => return,
        };
        self.extra = Some((kind, UrlText::default()));
    }

    /// Adds the page in another language.
    fn alternate(&mut self, element: &BytesStart<'_>) {
        if !attribute(element, "rel").is_some_and(|rel| rel.trim().eq_ignore_ascii_case("alternate")) {
            return;
        }
        let Some(written) = attribute(element, "href") else { return };
        let url = unescape(&written).map_or_else(|_| written.to_string(), Cow::into_owned);
        if url.len() <= URL_BYTES_MAX {
            self.add_extra(LinkKind::Alternate, url.trim().to_owned());
        }
    }

    fn add_extra(&mut self, kind: LinkKind, url: String) {
        if !url.is_empty() && self.extras.len() < ENTRIES_MAX {
            self.extras.push((kind, url));
        }
    }

    pub(super) fn end(&mut self, name: &str) {
        if let Some((kind, mut said)) = self.extra.take()
            && let Some(url) = said.take()
        {
            self.add_extra(kind, url);
        }
        if let Some((muted, depth)) = &mut self.muted {
            *depth -= usize::from(muted == name);
            let is_left_open = is_field(muted) && is_entry(name);
            if *depth > 0 && !is_left_open {
                return;
            }
            self.muted = None;
            if !is_left_open {
                return;
            }
        }
        self.flush();
        match (name, self.open) {
            ("loc", _) => self.open = OpenElement::Entry,
            ("url" | "sitemap", OpenElement::Entry) => (self.open, self.kind) = (OpenElement::Root, self.root_kind),
            _ => {}
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        if let Some((_, said)) = &mut self.extra {
            said.push(text);
        } else if self.muted.is_none() && self.open != OpenElement::Root {
            self.said.push(text);
        }
    }

    /// Adds the collected text as a URL. Text directly in an entry counts only if it looks like
    /// one.
    pub(super) fn flush(&mut self) {
        let url = self.said.take().filter(|url| self.open == OpenElement::Loc || is_absolute(url));
        self.links.extend(url.map(|url| (self.kind, url)));
    }
}

fn is_entry(name: &str) -> bool {
    matches!(name, "url" | "sitemap")
}

/// Whether this is a field of an entry. Fields have no child elements, so an unclosed one ends with
/// the next.
fn is_field(name: &str) -> bool {
    matches!(name, "lastmod" | "changefreq" | "priority")
}
