//! The input of extractors, and what they return.

use std::borrow::Cow;
use std::collections::HashSet;

use dragline_domain::content::{Content, ContentLevel};
use dragline_domain::document::{Directives, Disposition, Link, LinkKind, MadeBy, Page, Rel};
use dragline_domain::url::{CrawlUrl, Spelling, UrlRules};
use dragline_formats::charset::{self, Decoded};
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::http_fields::{ContentType, Headers};

use crate::article::MainRules;
use crate::fields::{MediaType, header_directives};
use crate::typed::Types;
use crate::wall::Wall;

/// An extractor of one format: makes a document of a body.
pub trait Extractor: Sync {
    /// Returns the extractor's name and version. The version must rise whenever the same bytes may give another document.
    fn made_by(&self) -> MadeBy;

    /// Extracts what the body says; `None` if it is not in this extractor's format.
    fn extract(&self, body: &Body<'_>) -> Option<Extracted>;
}

/// A response to be read.
#[derive(Clone, Copy, Debug)]
pub struct Source<'c> {
    /// The URL that it came from.
    pub url: &'c CrawlUrl,
    /// Its header.
    pub headers: &'c Headers,
    /// Its body, with its content coding.
    pub body: &'c [u8],
}

/// What a crawl's definition says about reading bodies.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'c> {
    /// The crawler's name, by which headers and pages may address it.
    pub product_token: &'c str,
    /// How links are normalised.
    pub url_rules: &'c UrlRules,
    /// The most bytes of a decoded body that are read.
    pub decoded_bytes_max: u64,
    /// How much to extract from each page.
    pub content: ContentLevel,
    /// The definition's own types of items.
    pub types: &'c Types,
    /// What the definition says of main parts.
    pub main: &'c MainRules,
}

/// A body whose header was read.
#[derive(Debug)]
pub struct Body<'c> {
    /// The response.
    pub source: Source<'c>,
    /// How to read it.
    pub settings: Settings<'c>,
    /// The media type, according to the header.
    pub media: MediaType,
    /// What the header asks of us.
    pub directives: Directives,
    content_type: Option<ContentType>,
    codings: ContentCodings,
}

impl<'c> Body<'c> {
    /// Reads the header.
    ///
    /// # Errors
    /// The body's content coding is not supported.
    pub fn read(source: &Source<'c>, settings: &Settings<'c>) -> Result<Self, Unread> {
        let Source { headers, .. } = source;
        let directives = header_directives(headers, settings.product_token);
        let content_type = headers.content_type();
        let codings = ContentCodings::parse(headers.all("content-encoding")).map_err(|error| Unread {
            directives,
            detail: Some(error.to_string()),
            links: Vec::new(),
            content: None,
        })?;
        let media = MediaType::from_content_type(content_type.as_ref());
        Ok(Self { source: *source, settings: *settings, media, directives, content_type, codings })
    }

    /// Decodes the beginning of the body, up to this size and the settings' limit. It is empty if it should be text,
    /// and is in another coding than its header names.
    #[must_use]
    pub fn beginning(&self, bytes_max: u64) -> Cow<'c, [u8]> {
        let bytes_max = bytes_max.min(self.settings.decoded_bytes_max);
        let decoded = decode_all(&self.codings, self.source.body, bytes_max);
        let is_text = self.content_type.as_ref().is_some_and(ContentType::is_text);
        if is_text && decoded.is_garbled() { Cow::Borrowed(&[]) } else { decoded.bytes }
    }

    /// Decodes the whole body, up to the settings' limit.
    #[must_use]
    pub fn decoded(&self) -> Cow<'c, [u8]> {
        self.beginning(u64::MAX)
    }

    /// Decodes bytes to text, in the character set that the header or the bytes themselves declare.
    #[must_use]
    pub fn text<'b>(&self, bytes: &'b [u8]) -> Decoded<'b> {
        charset::decode(bytes, self.content_type.as_ref().and_then(|kind| kind.charset.as_deref()))
    }

    /// Makes links of references as they were written: each kind and target once, without those that cannot be crawled.
    #[must_use]
    pub fn links(&self, references: impl IntoIterator<Item = (LinkKind, String)>) -> Vec<FoundLink> {
        let mut seen = HashSet::new();
        let mut links = Vec::new();
        for (kind, url) in references {
            let Ok((target, spelling)) = self.source.url.join_spelled(&url, self.settings.url_rules) else { continue };
            if seen.insert((kind, target.clone())) {
                links.push(FoundLink { kind, target, spelling, rel: Rel::Follow, anchor: None });
            }
        }
        links
    }

    /// What was odd about reading it; `None` if nothing was.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        self.codings.unknown_word().map(|word| format!("`{word}` is not a content coding: read as not encoded"))
    }

    /// Makes the result for a body that no extractor reads.
    #[must_use]
    pub fn unread(&self) -> Unread {
        let detail = self.directives.noindex.then(|| "noindex, by X-Robots-Tag".to_owned());
        Unread { directives: self.directives, detail, links: Vec::new(), content: None }
    }
}

/// What a body says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// The extractor and its version.
    pub made_by: MadeBy,
    /// The page's content.
    pub page: Page,
    /// Its links, each kind and target once: its canonical URL, then those of its header, then the page's in order.
    pub links: Vec<FoundLink>,
    /// What it says beyond that; `None` if that is nothing, or was not asked for.
    pub content: Option<Box<Content>>,
    /// What was odd about reading it, on one line; `None` if nothing was.
    pub remark: Option<String>,
    /// The wall that it is instead of the page; `None` if it is none.
    pub wall: Option<Wall>,
}

/// A link as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLink {
    /// How the page makes it.
    pub kind: LinkKind,
    /// Where it leads, normalised.
    pub target: CrawlUrl,
    /// Whether the target is as it was written, or parameters were stripped.
    pub spelling: Spelling,
    /// Whether the page, or its header, asks not to follow it.
    pub rel: Rel,
    /// What it says; `None` if that is nothing, or the page asks for noindex.
    pub anchor: Option<String>,
}

impl FoundLink {
    /// Returns the link, with what is done with it.
    #[must_use]
    pub fn decided(self, disposition: Disposition) -> Link {
        let Self { kind, target, spelling, rel, anchor } = self;
        Link { kind, target, disposition, spelling, rel, anchor }
    }
}

/// What is known about a body that no extractor reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// What its header asks of us.
    pub directives: Directives,
    /// Why, on one line; `None` if its type says it all.
    pub detail: Option<String>,
    /// What it lists for crawlers if it is a sitemap or robots.txt, and what it refers to if it is a style sheet: each kind and target once.
    pub links: Vec<FoundLink>,
    /// What can be said of it all the same; `None` if that is nothing, or was not asked for.
    pub content: Option<Box<Content>>,
}
