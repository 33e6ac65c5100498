//! The links of a page: each kind and URL once.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Range;

use dragline_domain::document::LinkKind;
use dragline_domain::url::PlainBase;
use foldhash::fast::RandomState;
use url::Url;

use super::HtmlLimits;
use super::page::{HtmlLink, LinkUrl};
use super::resolve::{Resolver, has_other_scheme, without_fragment};
use super::tag::Value;

/// Whether the page vouches for a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    Yes,
    No,
}

/// The id of a link that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinkId(usize);

/// A link with an unresolved URL: the page's base is only known at its end, and most references are
/// repeated.
#[derive(Debug)]
struct UnresolvedLink {
    kind: LinkKind,
    reference: Range<usize>,
    follow: Follow,
    text: Option<String>,
}

/// The links found so far.
#[derive(Debug)]
pub(super) struct Links {
    links_max: usize,
    links_bytes_max: usize,
    url_bytes_max: usize,
    /// All references, one after the other.
    references: String,
    links: Vec<UnresolvedLink>,
    seen: LinkIndex,
    is_cut: bool,
}

impl Links {
    pub(super) fn new(limits: &HtmlLimits) -> Self {
        Self {
            links_max: limits.links_max,
            links_bytes_max: limits.links_bytes_max,
            url_bytes_max: limits.url_bytes_max,
            references: String::new(),
            links: Vec::new(),
            seen: LinkIndex::default(),
            is_cut: false,
        }
    }

    /// Adds a link; `None` if it is not a link or there is no room for it. An existing one is not
    /// added again, but is followed if either may be.
    pub(super) fn add(&mut self, kind: LinkKind, reference: Value<'_>, follow: Follow) -> Option<LinkId> {
        let text = without_fragment(reference.text());
        let is_long = matches!(reference, Value::Start(_)) || text.len() > self.url_bytes_max;
        if is_long || has_other_scheme(text) {
            return None;
        }
        // Only a link may lead to the page itself; an image or a script without a URL is not one.
        if text.is_empty() && !kind.leads_to_page() {
            return None;
        }
        let is_same = |link: &UnresolvedLink| link.kind == kind && self.references[link.reference.clone()] == *text;
        let hash = match self.seen.find((kind, text), |id| is_same(&self.links[id])) {
            Ok(id) => {
                if follow == Follow::Yes {
                    self.links[id].follow = Follow::Yes;
                }
                return Some(LinkId(id));
            }
            Err(hash) => hash,
        };
        let id = self.links.len();
        if id >= self.links_max {
            self.is_cut = true;
            return None;
        }
        self.seen.insert(hash, id);
        let start = self.references.len();
        self.references.push_str(text);
        self.links.push(UnresolvedLink { kind, reference: start..self.references.len(), follow, text: None });
        Some(LinkId(id))
    }

    /// Whether a link has no text yet.
    pub(super) fn wants_text(&self, LinkId(id): LinkId) -> bool {
        self.links[id].text.is_none()
    }

    /// Sets the text of a link.
    pub(super) fn set_text(&mut self, LinkId(id): LinkId, text: Option<String>) {
        self.links[id].text = text;
    }

    /// Resolves all links, and returns whether some are missing because of a limit. References to a
    /// place in `page` itself are dropped.
    pub(super) fn finish(self, resolver: Resolver<'_>, page: &Url) -> (Vec<HtmlLink>, bool) {
        let Self { references, links: unresolved, mut is_cut, links_bytes_max: mut room, .. } = self;
        let mut links: Vec<HtmlLink> = Vec::with_capacity(unresolved.len());
        let mut seen = LinkIndex::default();
        let plain = PlainBase::from_url(resolver.base);
        for UnresolvedLink { kind, reference, follow, text } in unresolved {
            let reference = &references[reference];
            let plain = plain.and_then(|base| base.join(reference)).filter(|url| resolver.fits(url.as_str()));
            let url = match plain {
                Some(url) if resolver.fits(reference) => LinkUrl::Normalised(url),
                _ => match resolver.resolve(reference) {
                    Some(url) if !(reference.is_empty() && is_same_page(&url, page)) => LinkUrl::Parsed(url),
                    _ => continue,
                },
            };
            match seen.find((kind, url.as_str()), |id| links[id].kind == kind && links[id].url == url) {
                Ok(id) => {
                    let link = &mut links[id];
                    link.nofollow &= follow == Follow::No;
                    link.text = link.text.take().or(text);
                }
                Err(hash) => {
                    let Some(left) = room.checked_sub(url.as_str().len()) else {
                        is_cut = true;
                        continue;
                    };
                    room = left;
                    seen.insert(hash, links.len());
                    links.push(HtmlLink { kind, url, nofollow: follow == Follow::No, text });
                }
            }
        }
        (links, is_cut)
    }
}

/// Whether two URLs differ at most in their fragments.
fn is_same_page(url: &Url, page: &Url) -> bool {
    url[..url::Position::AfterQuery] == page[..url::Position::AfterQuery]
}

/// An index of links by kind and URL that does not copy them. The hash is keyed, so that no page
/// can cause collisions on purpose.
#[derive(Debug, Default)]
struct LinkIndex {
    hasher: RandomState,
    ids: HashMap<u64, usize, RandomState>,
}

impl LinkIndex {
    /// Returns a key's id, or else the hash under which to add it.
    ///
    /// If two keys share a hash (one in 2^64), one of them is not found again.
    fn find(&self, key: (LinkKind, &str), is_same: impl Fn(usize) -> bool) -> Result<usize, u64> {
        let hash = self.hasher.hash_one(key);
        self.ids.get(&hash).copied().filter(|id| is_same(*id)).ok_or(hash)
    }

    fn insert(&mut self, hash: u64, id: usize) {
        self.ids.insert(hash, id);
    }
}
