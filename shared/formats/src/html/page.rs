//! What a page says.

use dragline_domain::document::LinkKind;
use url::Url;

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
