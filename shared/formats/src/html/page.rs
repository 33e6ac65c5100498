//! What a page is read from, how much of it is kept, and what it says.

use dragline_domain::document::LinkKind;
use url::Url;

/// A page before it is read: all that its text does not say itself.
#[derive(Clone, Copy, Debug)]
pub struct PageSource<'a> {
    /// Where it was fetched from, of http or https: what its links are relative to.
    pub url: &'a Url,
    /// The encoding that its bytes were in, by its name as in [`Decoded`](crate::charset::Decoded): the queries of its
    /// links are in it, too. An unknown one counts as UTF-8.
    pub encoding: &'a str,
    /// By which rules it is read.
    pub syntax: Syntax,
}

impl<'a> PageSource<'a> {
    /// HTML in UTF-8, as most pages are.
    #[must_use]
    pub const fn html(url: &'a Url) -> Self {
        Self { url, encoding: "UTF-8", syntax: Syntax::Html }
    }
}

/// The two ways to write a page. The same text can be either; which it is, its media type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `text/html`: what `/` at the end of a tag says depends on the element.
    Html,
    /// `application/xhtml+xml`: a tag that ends in `/>` is a whole element, and CDATA sections are text. What is not
    /// well-formed, and stops a browser, is read on as HTML.
    Xhtml,
}

/// How much of a page is kept. Reading goes on to the page's end either way, as metadata may come late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HtmlLimits {
    /// Distinct links.
    pub links_max: usize,
    /// Visible text, in bytes of UTF-8, like all that follow.
    pub text_bytes_max: usize,
    /// The title.
    pub title_bytes_max: usize,
    /// The description.
    pub description_bytes_max: usize,
    /// The text of one link.
    pub link_text_bytes_max: usize,
    /// One attribute's value, entities decoded. Of a longer one the start is read, where a part of it means something.
    pub attribute_bytes_max: usize,
    /// One URL, before and after it is resolved. A longer one is no link: a long base would make every short reference
    /// a long URL.
    pub url_bytes_max: usize,
    /// All `<meta>` for robots, with what it takes to hold them: far more than any page has, as one that is passed over may
    /// be the one that forbids.
    pub robots_bytes_max: usize,
}

impl Default for HtmlLimits {
    fn default() -> Self {
        Self {
            links_max: 10_000,
            text_bytes_max: 2 * 1024 * 1024,
            title_bytes_max: 1024,
            description_bytes_max: 4 * 1024,
            link_text_bytes_max: 256,
            attribute_bytes_max: 32 * 1024,
            url_bytes_max: 4 * 1024,
            robots_bytes_max: 128 * 1024,
        }
    }
}

/// What a page says about itself, where it leads, and what a reader sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The first `<title>` that is not empty, white space collapsed.
    pub title: Option<String>,
    /// The first `<meta name=description>` that is not empty, white space collapsed.
    pub description: Option<String>,
    /// The language tag of `<html lang>`, or else of `<meta http-equiv=content-language>`, or else of `<html xml:lang>`, as
    /// it is written. In XHTML `xml:lang` goes first.
    pub language: Option<String>,
    /// What the page asks of robots, in order.
    pub robots: Vec<RobotsMeta>,
    /// The page that this one says it is a copy of: `<link rel=canonical>` in the head. None if there are several that
    /// differ, which Google's documentation says it ignores, all of them, as it does those in the body.
    pub canonical: Option<Url>,
    /// The visible text of the body: blocks on lines of their own, table cells separated by tabs, white space collapsed
    /// but in `<pre>`, without soft hyphens and the like. What is hidden by an attribute or an inline style is left out; images'
    /// alternative texts, form fields' contents and what only style sheets or scripts hide or show are not looked at.
    pub text: String,
    /// Every link, in order, each kind and URL once.
    pub links: Vec<HtmlLink>,
    /// What the limits cut off.
    pub truncated: Truncated,
}

/// A reference to another URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtmlLink {
    /// How the page refers to it.
    pub kind: LinkKind,
    /// Absolute, of http or https, without its fragment.
    pub url: Url,
    /// Whether its `rel` says `nofollow`, everywhere that the page has this link.
    pub nofollow: bool,
    /// The text of an `<a>` including its images' alternative texts, or the alternative text of an `<area>`: the first
    /// that is not empty.
    pub text: Option<String>,
}

/// A `<meta>` that speaks to robots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsMeta {
    /// Whom it speaks to, in lower case: `robots`, or one of them by its name.
    pub agent: String,
    /// What it asks, as it is written: `noindex, nofollow`.
    pub content: String,
}

/// Which parts of a page a limit cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truncated {
    /// Some links are missing.
    pub links: bool,
    /// The end of the text is missing.
    pub text: bool,
}
