//! XML sitemaps and indexes as sites write them: with other namespaces, without `loc`, and with
//! unclosed elements.
//!
//! Extensions add what belongs to an entry: its page in other languages (`xhtml:link`), its
//! pictures (`image:loc`) and videos (`video:content_loc`, `video:thumbnail_loc`). They are
//! recognised by their names, whatever the namespaces.

use std::borrow::Cow;
use std::collections::HashSet;
use std::mem;

use dragline_domain::document::LinkKind;
use dragline_domain::lastmod::LastMod;
use quick_xml::escape::unescape;
use quick_xml::events::BytesStart;

use super::{ENTRIES_MAX, URL_BYTES_MAX, UrlText, is_absolute};
use crate::files::xml::attribute;
use crate::validity::w3c_instant;

/// The longest language that is kept, in bytes.
const LANGUAGE_BYTES_MAX: usize = 40;

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
    /// The open element of an extension or the entry's `lastmod`, and its text.
    extra: Option<(Extra, UrlText)>,
    /// What extensions add.
    extras: Vec<(LinkKind, String)>,
    pub(super) links: Vec<(LinkKind, String)>,
    /// The place of the open entry's first link, and when that changed last.
    entry: (usize, Option<LastMod>),
    /// The links with a `lastmod`, by their places.
    changes: Vec<(usize, LastMod)>,
    /// The languages of the open entry's page, and then those of all.
    entry_languages: Vec<Language>,
    languages: Vec<(usize, Language)>,
}

/// A language, and the URL of the page in it.
#[derive(Clone, Debug)]
pub(super) struct Language {
    pub(super) code: String,
    pub(super) url: String,
}

/// An element of an entry beside its `loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extra {
    /// The URL of something that belongs to it.
    Url(LinkKind),
    LastMod,
}

impl Urlset {
    pub(super) fn new(root_kind: LinkKind, prefix: Option<String>) -> Self {
        let (muted, said, extra, extras, links) = Default::default();
        let (entry, changes, entry_languages, languages) = Default::default();
        let (kind, open) = (root_kind, OpenElement::Root);
        Self {
            prefix,
            root_kind,
            kind,
            open,
            muted,
            said,
            extra,
            extras,
            links,
            entry,
            changes,
            entry_languages,
            languages,
        }
    }

    /// Returns when its entries changed last, as far as it says so.
    pub(super) fn into_changes(mut self) -> Vec<(String, LastMod)> {
        self.end_entry();
        let mut urls: Vec<_> = self.links.into_iter().map(|(_, url)| Some(url)).collect();
        let changes = self.changes.into_iter();
        changes.filter_map(|(place, lastmod)| Some((urls.get_mut(place)?.take()?, lastmod))).collect()
    }

    /// Takes the languages of its pages, by the pages' URLs.
    pub(super) fn take_languages(&mut self) -> Vec<(String, Language)> {
        self.end_entry();
        let languages = mem::take(&mut self.languages).into_iter();
        languages.filter_map(|(place, language)| Some((self.links.get(place)?.1.clone(), language))).collect()
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
        let is_own = prefix.is_none() || prefix == self.prefix.as_deref();
        if matches!(self.extra, Some((Extra::LastMod, _))) {
            // It was left open.
            self.end_extra();
        }
        self.start_extra(name, element, is_own);
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
            self.end_entry();
            self.open = OpenElement::Entry;
            self.kind = if name == "sitemap" { LinkKind::SitemapFile } else { self.root_kind };
        }
    }

    /// Begins an element of an extension, or a `lastmod`, if it is a known one.
    fn start_extra(&mut self, name: &str, element: &BytesStart<'_>, is_own: bool) {
        let around = self.muted.as_ref().map(|(name, _)| name.as_str());
        let kind = match (around, name) {
            (Some("image"), "loc") | (Some("video"), "thumbnail_loc") => Extra::Url(LinkKind::Img),
            (Some("video"), "content_loc") => Extra::Url(LinkKind::Video),
            (None, "lastmod") if is_own && self.open != OpenElement::Root => Extra::LastMod,
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
        if url.len() > URL_BYTES_MAX {
            return;
        }
        let url = url.trim().to_owned();
        if let Some(code) = attribute(element, "hreflang").filter(|code| code.len() <= LANGUAGE_BYTES_MAX)
            && self.languages.len() + self.entry_languages.len() < ENTRIES_MAX
        {
            self.entry_languages.push(Language { code: code.trim().to_owned(), url: url.clone() });
        }
        self.add_extra(LinkKind::Alternate, url);
    }

    fn add_extra(&mut self, kind: LinkKind, url: String) {
        if !url.is_empty() && self.extras.len() < ENTRIES_MAX {
            self.extras.push((kind, url));
        }
    }

    fn end_extra(&mut self) {
        if let Some((extra, mut said)) = self.extra.take()
            && let Some(said) = said.take()
        {
            match extra {
                Extra::Url(kind) => self.add_extra(kind, said),
                Extra::LastMod => self.entry.1 = w3c_instant(&said).map(LastMod::new),
            }
        }
    }

    /// Ends the open entry: it has all of its links.
    fn end_entry(&mut self) {
        let (first, lastmod) = mem::replace(&mut self.entry, (self.links.len(), None));
        if let Some(lastmod) = lastmod {
            self.changes.extend((first..self.links.len()).map(|place| (place, lastmod)));
        }
        let languages = mem::take(&mut self.entry_languages);
        if first < self.links.len() {
            self.languages.extend(languages.into_iter().map(|language| (first, language)));
        }
    }

    pub(super) fn end(&mut self, name: &str) {
        self.end_extra();
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
            ("url" | "sitemap", OpenElement::Entry) => {
                self.end_entry();
                (self.open, self.kind) = (OpenElement::Root, self.root_kind);
            }
            // Its `loc` was left open.
            ("url" | "sitemap", OpenElement::Loc) => self.end_entry(),
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
