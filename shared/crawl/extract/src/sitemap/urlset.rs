//! XML sitemaps and indexes as sites write them: with other namespaces, without `loc`, and with
//! unclosed elements.

use dragline_domain::document::LinkKind;

use super::{UrlText, is_absolute};

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
    pub(super) links: Vec<(LinkKind, String)>,
}

impl Urlset {
    pub(super) fn new(root_kind: LinkKind, prefix: Option<String>) -> Self {
        let (muted, said, links) = Default::default();
        Self { prefix, root_kind, kind: root_kind, open: OpenElement::Root, muted, said, links }
    }

    pub(super) fn start(&mut self, name: &str, prefix: Option<&str>) {
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

    pub(super) fn end(&mut self, name: &str) {
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
        if self.muted.is_none() && self.open != OpenElement::Root {
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
