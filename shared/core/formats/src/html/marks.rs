//! What the markup of a page tells its owner, as it is read.

use dragline_domain::markup::{ANCHORS_MAX, AnchorSet, LanguageLink, Markup, anchor_hash};

use super::links::{LinkId, ResolvedLinks};
use super::page::HtmlLink;

/// The limit on links to other languages.
const LANGUAGES_MAX: usize = 500;

/// The longest language tag that is kept, in bytes; of a longer one, the beginning.
const LANGUAGE_BYTES_MAX: usize = 64;

/// The limit on pictures without `alt` whose URLs are kept.
const UNDESCRIBED_MAX: usize = 5;

/// The limit on references that are empty.
const EMPTY_MAX: usize = 20;

/// The limit on the places of a page before each counts once.
const ANCHORS_READ_MAX: usize = 4 * ANCHORS_MAX;

/// The marks so far. Links are not resolved yet.
#[derive(Debug, Default)]
pub(super) struct Marks {
    h1: u32,
    undescribed: u32,
    undescribed_links: Vec<LinkId>,
    anchors: Vec<u32>,
    has_more_anchors: bool,
    languages: Vec<(LinkId, Box<str>)>,
    is_cut: bool,
}

impl Marks {
    pub(super) const fn add_h1(&mut self) {
        self.h1 = self.h1.saturating_add(1);
    }

    /// Adds a picture without `alt`; `None` if its URL is not a link.
    pub(super) fn add_undescribed(&mut self, link: Option<LinkId>) {
        self.undescribed = self.undescribed.saturating_add(1);
        if let Some(link) = link
            && self.undescribed_links.len() < UNDESCRIBED_MAX
        {
            self.undescribed_links.push(link);
        }
    }

    /// Adds a place that fragments can name.
    pub(super) fn add_anchor(&mut self, name: &str) {
        if self.anchors.len() < ANCHORS_READ_MAX {
            self.anchors.push(anchor_hash(name.as_bytes()));
        } else {
            self.has_more_anchors = true;
        }
    }

    /// Adds a link to the page in this language.
    pub(super) fn add_language(&mut self, link: LinkId, code: &str) {
        if self.languages.len() < LANGUAGES_MAX {
            let code = code.trim_ascii();
            self.languages.push((link, code[..code.floor_char_boundary(LANGUAGE_BYTES_MAX)].into()));
        } else {
            self.is_cut = true;
        }
    }

    /// Returns the links of a page, and what its markup tells.
    pub(super) fn finish(self, resolved: ResolvedLinks) -> (Vec<HtmlLink>, Markup) {
        let Self { h1, undescribed, undescribed_links, anchors, has_more_anchors, languages, mut is_cut } = self;
        let undescribed_links = undescribed_links.into_iter().filter_map(|link| resolved.position(link)).collect();
        let language = |(link, code)| Some(LanguageLink { link: resolved.position(link)?, code, page: None });
        let languages = languages.into_iter().filter_map(language).collect();
        let ResolvedLinks { links, mut malformed, positions, uses, is_malformed_cut, .. } = resolved;
        let (uses, mut empty, are_uses_cut) = uses.finish(&positions, &links);
        is_cut |= is_malformed_cut || are_uses_cut || empty.len() > EMPTY_MAX;
        empty.truncate(EMPTY_MAX);
        malformed.extend(empty);
        let anchors = if has_more_anchors { None } else { AnchorSet::from_hashes(anchors) };
        let markup =
            Markup { h1: Some(h1), undescribed, undescribed_links, anchors, malformed, languages, uses, is_cut };
        (links, markup)
    }
}
