//! HTML: links, metadata, visible text.
//!
//! One pass over the tokens, without a tree: the time is linear in the page's size, however its
//! tags are nested, and nothing recurses. Where a tree would be needed, a stack of limited depth
//! approximates it; each approximation is documented in its place. Scripts are not run, so
//! `<noscript>` is read; `<template>` and comments are not.

mod cdata;
mod character_reference;
mod collector;
mod foreign;
mod hiding;
mod links;
mod marks;
mod metadata;
mod open_elements;
mod page;
mod prolog;
mod rel;
mod resolve;
mod scan;
mod tag;
#[cfg(test)]
mod tests;
mod tokens;
mod uses;
mod words;

pub use hiding::ElementVisibility;
pub use page::{HtmlLimits, HtmlLink, LinkUrl, Page, PageSource, RobotsMeta, Syntax, Truncated};
pub use prolog::is_xhtml;
pub use words::without_invisible;

use self::collector::Collector;
use self::tokens::Tokens;

/// Reads a page from its text.
///
/// Every text is a page: a text that is not HTML at all becomes a page without links.
///
/// ```
/// use dragline_formats::html::{HtmlLimits, PageSource, extract};
/// let url = url::Url::parse("https://example.org/docs/").unwrap();
/// let page = extract("<title>Docs</title><a href=a>the first</a>", &PageSource::html(&url), &HtmlLimits::default());
/// assert_eq!(page.title.as_deref(), Some("Docs"));
/// assert_eq!(page.links[0].url.as_str(), "https://example.org/docs/a");
/// ```
#[must_use]
pub fn extract(html: &str, source: &PageSource<'_>, limits: &HtmlLimits) -> Page {
    let html = match source.syntax {
        Syntax::Html => html,
        Syntax::Xhtml => prolog::after_prolog(html),
    };
    let mut collector = Collector::new(limits, source.syntax);
    Tokens::new(html, &mut collector, limits.attribute_bytes_max).read();
    collector.finish(source)
}
