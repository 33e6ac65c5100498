//! HTML: links, metadata, visible text.
//!
//! One pass over the tokens, without a tree: time is linear in the page however its tags are nested, and nothing
//! recurses. What a tree would be needed for is approximated, and the approximations are named where they are made.
//! Scripts are not run, so `<noscript>` counts; `<template>` and comments do not.

mod collector;
mod foreign;
mod limits;
mod links;
mod metadata;
mod page;
mod reader;
mod refresh;
mod rel;
mod resolve;
mod srcset;
mod tag;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

use std::convert::Infallible;

use html5gum::Tokenizer;
use url::Url;

pub use limits::HtmlLimits;
pub use page::{HtmlLink, Page, RobotsMeta, Skipped, Truncated};

use self::collector::Collector;
use self::reader::{AttributeCount, PageReader};
use self::tokens::Tokens;

/// Reads a page. `url` is where it was fetched from, of http or https: what its links are relative to.
///
/// Every text is a page: what is no HTML at all gives a page with text and no links.
#[must_use]
pub fn extract(html: &str, url: &Url, limits: &HtmlLimits) -> Page {
    let mut collector = Collector::new(limits);
    let attributes = AttributeCount::default();
    let tokens = Tokens::new(&mut collector, &attributes, limits.attribute_bytes_max);
    let tokenizer = Tokenizer::new_with_emitter(PageReader::new(html, &attributes), tokens);
    let Ok::<(), Infallible>(()) = tokenizer.finish();
    collector.finish(url)
}
