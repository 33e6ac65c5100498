//! What a page's markup tells its owner beyond text and links: malformed links, the places in it
//! that fragments can name, headings, pictures, languages, and each use of a link.
//!
//! Nothing here is needed to crawl. It is stored with the page, and checked against other pages
//! when the link graph is made.

mod anchors;
mod malformed;

use serde::{Deserialize, Serialize};

pub use anchors::{ANCHORS_MAX, AnchorSet, anchor_hash, checkable_fragment};
pub use malformed::{MalformedLink, MalformedReason};

/// What a page's markup tells its owner. Positions of links are those in
/// [`Document::links`](crate::document::Document::links).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Markup {
    /// The number of `<h1>`; `None` if the page was cut before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub h1: Option<u32>,
    /// The number of pictures without `alt`. An empty one is right: it marks decoration.
    #[serde(skip_serializing_if = "is_zero")]
    pub undescribed: u32,
    /// The links to the first of these pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undescribed_links: Vec<u32>,
    /// The places that fragments can name; `None` if not all of them are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchors: Option<AnchorSet>,
    /// References that are not valid URLs, each of a kind once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub malformed: Vec<MalformedLink>,
    /// The page in other languages, and itself: `<link rel=alternate hreflang>`, in order. Of a
    /// sitemap, what it says of the pages that it lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<LanguageLink>,
    /// The uses of links, in order. A link without any has one, which tells no more than the link.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<LinkUse>,
    /// Whether some malformed links, languages or uses are missing because of a limit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Markup {
    /// Marks the page as cut before its end, so that what it lacks is not known.
    pub fn mark_as_cut(&mut self) {
        (self.h1, self.anchors) = (None, None);
    }

    /// Moves all positions of links. What refers to a link without a new position is dropped.
    pub fn move_links(&mut self, new_position: impl Fn(u32) -> Option<u32>) {
        let in_place = |links: &mut Vec<u32>| *links = links.iter().filter_map(|link| new_position(*link)).collect();
        in_place(&mut self.undescribed_links);
        self.languages.retain_mut(|language| {
            moved(&mut language.link, &new_position)
                && language.page.as_mut().is_none_or(|page| moved(page, &new_position))
        });
        self.uses.retain_mut(|used| used.link.as_mut().is_none_or(|link| moved(link, &new_position)));
    }

    /// Returns the memory that it takes beyond its own size, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let Self { undescribed_links, anchors, malformed, languages, uses, .. } = self;
        let text = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        let of_malformed = |link: &MalformedLink| size_of::<MalformedLink>() + link.written.len() + text(&link.text);
        let of_language = |language: &LanguageLink| size_of::<LanguageLink>() + language.code.len();
        let of_use = |used: &LinkUse| {
            size_of::<LinkUse>() + text(&used.fragment) + text(&used.rel) + text(&used.alt) + text(&used.text)
        };
        4 * (undescribed_links.len() + anchors.as_ref().map_or(0, AnchorSet::len))
            + malformed.iter().map(of_malformed).sum::<usize>()
            + languages.iter().map(of_language).sum::<usize>()
            + uses.iter().map(of_use).sum::<usize>()
    }
}

fn moved(link: &mut u32, new_position: impl Fn(u32) -> Option<u32>) -> bool {
    new_position(*link).is_some_and(|new| {
        *link = new;
        true
    })
}

/// A link to a page in a language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LanguageLink {
    /// The position of the link.
    pub link: u32,
    /// The value of `hreflang`, as written.
    pub code: Box<str>,
    /// The position of the link to the page of which a sitemap says this; `None` for the document
    /// itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
}

/// One of the places in a page where a link is used: an `<a>` or an `<area>`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkUse {
    /// The position of the link; `None` for a link to a place in the page itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<u32>,
    /// The fragment, as written, without its `#` and without a text directive; `None` if there is
    /// none, or if it names no element (see [`checkable_fragment`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragment: Option<Box<str>>,
    /// The part of the page; `None` outside of all that have a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<PagePart>,
    /// The value of `rel`, as written; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rel: Option<Box<str>>,
    /// The alternative text of the first picture in it; `None` if there is no picture, or none with
    /// an `alt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alt: Option<Box<str>>,
    /// The text; `None` if it is that of the link itself, empty if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Box<str>>,
}

/// A part of a page, by the innermost element around a place in it.
///
/// As in HTML-AAM ("header" and "footer"), a header or a footer within one of the other parts
/// belongs to that part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PagePart {
    /// `<header>`.
    Header,
    /// `<nav>`.
    Nav,
    /// `<main>`.
    Main,
    /// `<aside>`.
    Aside,
    /// `<footer>`.
    Footer,
}

impl PagePart {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Nav => "nav",
            Self::Main => "main",
            Self::Aside => "aside",
            Self::Footer => "footer",
        }
    }

    /// Returns the part of a place in this element, within `around`.
    #[must_use]
    pub const fn within(self, around: Option<Self>) -> Self {
        match (self, around) {
            (Self::Header | Self::Footer, Some(part @ (Self::Nav | Self::Main | Self::Aside))) => part,
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_links_move_together() {
        let language = |link, code: &str| LanguageLink { link, code: code.into(), page: None };
        let used = |link| LinkUse { link, ..LinkUse::default() };
        let mut markup = Markup {
            undescribed_links: vec![0, 2],
            languages: vec![language(0, "de"), language(1, "en")],
            uses: vec![used(Some(2)), used(None), used(Some(0))],
            ..Markup::default()
        };
        markup.move_links(|link| (link > 0).then_some(link + 10));
        assert_eq!(markup.undescribed_links, [12]);
        assert_eq!(markup.languages, [language(11, "en")], "a link that is gone takes its language along");
        assert_eq!(markup.uses, [used(Some(12)), used(None)], "a place in the page itself is no link");
    }

    #[test]
    fn a_header_of_a_part_is_not_that_of_the_page() {
        use PagePart::{Aside, Footer, Header, Main, Nav};
        for (part, around, expected, why) in [
            (Header, None, Header, "of the page"),
            (Header, Some(Main), Main, "of an article"),
            (Footer, Some(Aside), Aside, "of a box beside it"),
            (Nav, Some(Header), Nav, "the menu in the header is a menu"),
            (Footer, Some(Header), Footer, "neither is more than the other"),
            (Main, Some(Nav), Main, "what is said last"),
        ] {
            assert_eq!(part.within(around), expected, "{part:?} in {around:?}: {why}");
        }
    }

    #[test]
    fn a_page_that_says_nothing_takes_no_room() {
        assert_eq!(serde_json::to_string(&Markup::default()).unwrap(), "{}");
        assert_eq!(serde_json::from_str::<Markup>("{}").unwrap(), Markup::default());
    }
}
