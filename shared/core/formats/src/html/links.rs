//! The links of a page: each kind and URL once, and where they are used.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Range;

use dragline_domain::document::LinkKind;
use dragline_domain::markup::{MalformedLink, MalformedReason, PagePart};
use dragline_domain::url::PlainBase;
use foldhash::fast::RandomState;
use url::Url;

use super::HtmlLimits;
use super::page::{HtmlLink, LinkUrl};
use super::resolve::{Resolver, Unresolved, has_other_scheme, without_fragment};
use super::tag::Value;
use super::uses::{UseId, UseText, Uses};

/// The limit on the malformed references of a page.
const MALFORMED_MAX: usize = 100;

/// The longest beginning of a malformed reference that is kept, in bytes.
const MALFORMED_BYTES_MAX: usize = 256;

/// Whether the page vouches for a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    Yes,
    No,
}

/// The id of a link that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinkId(pub(super) usize);

/// What was added for a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// A link, or another mention of one.
    Link(LinkId),
    /// An entry in the list of malformed references, at this place.
    Malformed(usize),
    /// Nothing: it is not a link, or there is no room.
    Nothing,
}

impl Added {
    /// Returns the link.
    pub(super) const fn link(self) -> Option<LinkId> {
        match self {
            Self::Link(id) => Some(id),
            Self::Malformed(_) | Self::Nothing => None,
        }
    }
}

/// An `<a>` whose text is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenAnchor {
    /// The use of a link.
    Use(UseId),
    /// A link that has no room among the uses.
    Link(LinkId),
    /// A malformed reference.
    Malformed(usize),
}

/// What became of a reference once the base was known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// A link of the page.
    Link {
        /// Its place.
        at: usize,
        /// The text of this spelling of it, if another's is kept.
        own_text: Option<String>,
    },
    /// A place in the page itself.
    Page {
        /// The kind of link.
        kind: LinkKind,
        /// Its text.
        own_text: Option<String>,
    },
    /// Nothing.
    Dropped,
}

/// The links of a page, resolved.
#[derive(Debug)]
pub(super) struct ResolvedLinks {
    pub(super) links: Vec<HtmlLink>,
    pub(super) malformed: Vec<MalformedLink>,
    /// What became of each [`LinkId`].
    pub(super) positions: Vec<Position>,
    pub(super) uses: Uses,
    /// Whether links are missing because of a limit.
    pub(super) is_cut: bool,
    /// Whether malformed references are.
    pub(super) is_malformed_cut: bool,
}

impl ResolvedLinks {
    /// Returns the place of a link; `None` if it was dropped.
    pub(super) fn position(&self, LinkId(id): LinkId) -> Option<u32> {
        match self.positions.get(id)? {
            Position::Link { at, .. } => u32::try_from(*at).ok(),
            Position::Page { .. } | Position::Dropped => None,
        }
    }
}

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
    malformed: Vec<MalformedLink>,
    uses: Uses,
    is_cut: bool,
    is_malformed_cut: bool,
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
            malformed: Vec::new(),
            uses: Uses::default(),
            is_cut: false,
            is_malformed_cut: false,
        }
    }

    /// Adds a link. An existing one is not added again, but is followed if either may be.
    pub(super) fn add(&mut self, kind: LinkKind, reference: Value<'_>, follow: Follow) -> Added {
        let text = without_fragment(reference.text());
        let is_long = matches!(reference, Value::Start(_)) || text.len() > self.url_bytes_max;
        if is_long {
            return Added::Nothing;
        }
        if has_other_scheme(text) {
            let why = MalformedReason::from_scheme(kind, text);
            return why.map_or(Added::Nothing, |why| self.add_malformed(kind, text, why));
        }
        // Only a link may lead to the page itself; an image or a script without a URL is not one.
        if text.is_empty() && !kind.leads_to_page() {
            return Added::Nothing;
        }
        let is_same = |link: &UnresolvedLink| link.kind == kind && self.references[link.reference.clone()] == *text;
        let hash = match self.seen.find((kind, text), |id| is_same(&self.links[id])) {
            Ok(id) => {
                if follow == Follow::Yes {
                    self.links[id].follow = Follow::Yes;
                }
                return Added::Link(LinkId(id));
            }
            Err(hash) => hash,
        };
        let id = self.links.len();
        if id >= self.links_max {
            self.is_cut = true;
            return Added::Nothing;
        }
        self.seen.insert(hash, id);
        let start = self.references.len();
        self.references.push_str(text);
        self.links.push(UnresolvedLink { kind, reference: start..self.references.len(), follow, text: None });
        Added::Link(LinkId(id))
    }

    fn add_malformed(&mut self, kind: LinkKind, text: &str, why: MalformedReason) -> Added {
        let written = &text[..text.floor_char_boundary(MALFORMED_BYTES_MAX)];
        if let Some(at) = self.malformed.iter().position(|known| known.kind == kind && &*known.written == written) {
            return Added::Malformed(at);
        }
        if self.malformed.len() >= MALFORMED_MAX {
            self.is_malformed_cut = true;
            return Added::Nothing;
        }
        self.malformed.push(MalformedLink { kind, written: written.into(), why, text: None });
        Added::Malformed(self.malformed.len() - 1)
    }

    /// Adds the link of an `<a>` or `<area>`, whose text follows. `None` if it is not a link.
    pub(super) fn begin_anchor(
        &mut self,
        kind: LinkKind,
        reference: Value<'_>,
        (follow, rel): (Follow, Option<&str>),
        part: Option<PagePart>,
    ) -> Option<OpenAnchor> {
        match self.add(kind, reference, follow) {
            Added::Link(id) => {
                let used = self.uses.begin(id, reference.text(), rel, part);
                Some(used.map_or(OpenAnchor::Link(id), OpenAnchor::Use))
            }
            Added::Malformed(at) => Some(OpenAnchor::Malformed(at)),
            Added::Nothing => None,
        }
    }

    /// Sets the text of an `<a>` or `<area>`, and the alternative text of the picture in it. The
    /// first text that is not empty is that of the link.
    pub(super) fn end_anchor(&mut self, anchor: OpenAnchor, text: Option<String>, alt: Option<&str>) {
        let link = match anchor {
            OpenAnchor::Use(used) => self.uses.link(used),
            OpenAnchor::Link(id) => Some(id),
            OpenAnchor::Malformed(at) => {
                if let Some(malformed) = self.malformed.get_mut(at) {
                    malformed.text = malformed.text.take().or(text.map(Into::into));
                }
                return;
            }
        };
        let Some(link) = link.and_then(|LinkId(id)| self.links.get_mut(id)) else { return };
        let is = match (&link.text, &text) {
            (_, None) => UseText::Nothing,
            (Some(of_link), Some(text)) if of_link != text => UseText::Other,
            _ => UseText::OfLink,
        };
        if let OpenAnchor::Use(used) = anchor {
            self.uses.end(used, is, text.as_deref().unwrap_or_default(), alt);
        }
        if link.text.is_none() {
            link.text = text;
        }
    }

    /// Resolves all links. References to a place in `page` itself are not among them.
    pub(super) fn finish(mut self, resolver: Resolver<'_>, page: &Url) -> ResolvedLinks {
        let (references, unresolved) = (std::mem::take(&mut self.references), std::mem::take(&mut self.links));
        let mut room = self.links_bytes_max;
        let mut links: Vec<HtmlLink> = Vec::with_capacity(unresolved.len());
        let mut positions = Vec::with_capacity(unresolved.len());
        let mut seen = LinkIndex::default();
        let plain = PlainBase::from_url(resolver.base);
        for UnresolvedLink { kind, reference, follow, text } in unresolved {
            let reference = &references[reference];
            let plain = plain.and_then(|base| base.join(reference)).filter(|url| resolver.fits(url.as_str()));
            let url = match plain {
                Some(url) if resolver.fits(reference) => LinkUrl::Normalised(url),
                _ => match resolver.resolve(reference) {
                    Ok(url) if reference.is_empty() && is_same_page(&url, page) => {
                        positions.push(Position::Page { kind, own_text: text });
                        continue;
                    }
                    Ok(url) => LinkUrl::Parsed(url),
                    Err(refused) => {
                        if let Unresolved::Malformed(why) = refused
                            && let Added::Malformed(at) = self.add_malformed(kind, reference, why)
                        {
                            self.end_anchor(OpenAnchor::Malformed(at), text, None);
                        }
                        positions.push(Position::Dropped);
                        continue;
                    }
                },
            };
            match seen.find((kind, url.as_str()), |id| links[id].kind == kind && links[id].url == url) {
                Ok(at) => {
                    let link = &mut links[at];
                    link.nofollow &= follow == Follow::No;
                    if link.text.is_none() {
                        link.text.clone_from(&text);
                    }
                    positions.push(Position::Link { at, own_text: text });
                }
                Err(hash) => {
                    let Some(left) = room.checked_sub(url.as_str().len()) else {
                        self.is_cut = true;
                        positions.push(Position::Dropped);
                        continue;
                    };
                    room = left;
                    seen.insert(hash, links.len());
                    positions.push(Position::Link { at: links.len(), own_text: None });
                    links.push(HtmlLink { kind, url, nofollow: follow == Follow::No, text });
                }
            }
        }
        let Self { malformed, uses, is_cut, is_malformed_cut, .. } = self;
        ResolvedLinks { links, malformed, positions, uses, is_cut, is_malformed_cut }
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
