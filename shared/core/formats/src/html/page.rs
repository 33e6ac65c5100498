//! The input of the reader, its limits, and the page that it returns.

use std::fmt;

use dragline_domain::document::LinkKind;
use dragline_domain::markup::Markup;
use dragline_domain::url::{CrawlUrl, Spelling, UrlError, UrlRules};
use url::Url;

/// The context of a page's text.
#[derive(Clone, Copy, Debug)]
pub struct PageSource<'a> {
    /// Its http or https URL, to which its links are relative.
    pub url: &'a Url,
    /// The name of the encoding of its bytes, as in [`Decoded`](crate::charset::Decoded), which
    /// also applies to the queries of its links. An unknown one counts as UTF-8.
    pub encoding: &'a str,
    /// The syntax by which it is parsed.
    pub syntax: Syntax,
}

impl<'a> PageSource<'a> {
    /// Creates the source of a page in HTML and UTF-8, as most are.
    #[must_use]
    pub const fn html(url: &'a Url) -> Self {
        Self { url, encoding: "UTF-8", syntax: Syntax::Html }
    }
}

/// The syntax of a page. The same text can be in either; its media type decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `text/html`: the meaning of `/` at the end of a tag depends on the element.
    Html,
    /// `application/xhtml+xml`: a tag that ends in `/>` is a whole element, and CDATA sections are
    /// text. Where it is not well-formed, and a browser would stop, parsing continues as HTML.
    Xhtml,
}

/// Limits on the parts of a page that are kept. It is read to the end in any case, as metadata may
/// come late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HtmlLimits {
    /// The number of distinct links.
    pub links_max: usize,
    /// The total size of their URLs, once resolved: a long base makes long URLs of short
    /// references.
    pub links_bytes_max: usize,
    /// The visible text, in bytes of UTF-8, like all that follow.
    pub text_bytes_max: usize,
    /// The title.
    pub title_bytes_max: usize,
    /// The description.
    pub description_bytes_max: usize,
    /// The text of one link.
    pub link_text_bytes_max: usize,
    /// One attribute's value, with entities decoded. Of a longer one, only the start is used, and
    /// only if a part of it is meaningful.
    pub attribute_bytes_max: usize,
    /// One URL, before and after it is resolved. A longer one is not a link: a long base would make
    /// every short reference a long URL.
    pub url_bytes_max: usize,
    /// All `<meta>` for robots, with their overhead: far more than any page has, as a skipped one
    /// may be the one that forbids.
    pub robots_bytes_max: usize,
}

impl Default for HtmlLimits {
    fn default() -> Self {
        Self {
            links_max: 10_000,
            links_bytes_max: 2 * 1024 * 1024,
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

/// The contents of a page: its metadata, its links, and its visible text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The first `<title>` that is not empty, white space collapsed.
    pub title: Option<String>,
    /// The first `<meta name=description>` that is not empty, white space collapsed.
    pub description: Option<String>,
    /// The language tag of `<html lang>`, or else of `<meta http-equiv=content-language>`, or else
    /// of `<html xml:lang>`, as written. In XHTML, `xml:lang` takes precedence.
    pub language: Option<String>,
    /// Its directives to robots, in order.
    pub robots: Vec<RobotsMeta>,
    /// The declared canonical URL: `<link rel=canonical>` in the head. `None` if several differ:
    /// according to its documentation, Google then ignores them all, and those in the body as well.
    pub canonical: Option<Url>,
    /// The visible text of the body: blocks on separate lines, table cells separated by tabs, white
    /// space collapsed except in `<pre>`, without soft hyphens and similar characters. Text that an
    /// attribute or an inline style hides is left out. Alternative texts of images, contents of
    /// form fields, and the effects of style sheets and scripts are not considered.
    pub text: String,
    /// All links in order, each kind and URL once.
    pub links: Vec<HtmlLink>,
    /// What the markup tells its owner. Positions of links are those in `links`.
    pub markup: Markup,
    /// The parts that the limits cut off.
    pub truncated: Truncated,
}

/// A reference to another URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtmlLink {
    /// The kind of the reference.
    pub kind: LinkKind,
    /// Absolute, of http or https, without its fragment.
    pub url: LinkUrl,
    /// Whether its `rel` is `nofollow`, wherever the page has this link.
    pub nofollow: bool,
    /// The text of an `<a>` including its images' alternative texts, or the alternative text of an
    /// `<area>`: the first that is not empty.
    pub text: Option<String>,
}

/// The URL of a link.
#[derive(Clone, Debug)]
pub enum LinkUrl {
    /// It was parsed without a parser for URLs, like nearly all, and is normalised, with all its
    /// parameters.
    Normalised(CrawlUrl),
    /// Any other, as parsed.
    Parsed(Url),
}

impl LinkUrl {
    /// Returns the whole URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Normalised(url) => url.as_str(),
            Self::Parsed(url) => url.as_str(),
        }
    }

    /// Normalises it by these rules, and returns whether parameters were stripped.
    ///
    /// # Errors
    /// [`UrlError`] with the reason why it cannot be crawled.
    pub fn normalised(&self, rules: &UrlRules) -> Result<(CrawlUrl, Spelling), UrlError> {
        match self {
            Self::Normalised(url) => url.stripped(rules),
            Self::Parsed(url) => CrawlUrl::spelled(url, rules),
        }
    }
}

/// Only the texts are compared.
impl PartialEq for LinkUrl {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for LinkUrl {}

impl fmt::Display for LinkUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A `<meta>` for robots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsMeta {
    /// Its addressee, in lower case: `robots`, or one robot by its name.
    pub agent: String,
    /// Its directives, as written: `noindex, nofollow`.
    pub content: String,
}

/// The parts of a page that a limit cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truncated {
    /// Some links are missing.
    pub links: bool,
    /// The end of the text is missing.
    pub text: bool,
}
