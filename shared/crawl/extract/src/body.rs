//! The input and output of extractors.

use std::borrow::Cow;
use std::collections::HashSet;

use dragline_domain::content::{Content, ContentLevel};
use dragline_domain::definition::Noindex;
use dragline_domain::document::{Directives, Disposition, ExtractorVersion, Link, LinkKind, Page, Rel};
use dragline_domain::url::{CrawlUrl, Spelling, UrlRules};
use dragline_domain::use_preferences::UseStatement;
use dragline_formats::charset::{self, Decoded};
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::http_fields::{ContentType, Headers};

use crate::article::MainRules;
use crate::fields::{MediaType, header_directives};
use crate::typed::Types;
use crate::wall::Wall;

/// An extractor for one format, which makes a document from a body.
pub trait Extractor: Sync {
    /// Returns the extractor's name and version. The version must rise whenever the same bytes may
    /// give another document.
    fn made_by(&self) -> ExtractorVersion;

    /// Extracts a body; `None` if it is not in this extractor's format.
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

/// A definition's settings for reading bodies.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'c> {
    /// The crawler's name, by which headers and pages may address it.
    pub product_token: &'c str,
    /// The rules for normalising links.
    pub url_rules: &'c UrlRules,
    /// The most bytes of a decoded body to read.
    pub decoded_bytes_max: u64,
    /// Whether pages are kept that ask for noindex.
    pub noindex: Noindex,
    /// How much to extract from each page.
    pub content: ContentLevel,
    /// The definition's own types of items.
    pub types: &'c Types,
    /// The definition's rules for main parts.
    pub main: &'c MainRules,
}

#[cfg(test)]
impl<'c> Settings<'c> {
    /// Returns the settings of a definition with all defaults, except for this level.
    pub(crate) const fn at(content: ContentLevel, url_rules: &'c UrlRules) -> Self {
        Self {
            product_token: "Dragline",
            url_rules,
            decoded_bytes_max: 8 << 20,
            noindex: Noindex::Obey,
            content,
            types: Types::NONE,
            main: MainRules::NONE,
        }
    }
}

/// A body with its parsed header.
#[derive(Debug)]
pub struct Body<'c> {
    /// The response.
    pub source: Source<'c>,
    /// How to read it.
    pub settings: Settings<'c>,
    /// The media type, according to the header.
    pub media: MediaType,
    /// The header's directives for this crawler.
    pub directives: Directives,
    content_type: Option<ContentType>,
    codings: ContentCodings,
}

impl<'c> Body<'c> {
    /// Reads the header.
    ///
    /// # Errors
    /// Fails if the body's content coding is not supported.
    pub fn read(source: &Source<'c>, settings: &Settings<'c>) -> Result<Self, Unread> {
        let Source { headers, .. } = source;
        let directives = settings.noindex.heed(header_directives(headers, settings.product_token));
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

    /// Decodes the beginning of the body, up to this size and the settings' limit. The result is
    /// empty if the body should be text, but is in another coding than its header names.
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

    /// Resolves references as written into links: each kind and target once, without those that
    /// cannot be crawled.
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

    /// Returns a remark on decoding problems; `None` without any.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        self.codings.unknown_word().map(|word| format!("`{word}` is not a content coding: read as not encoded"))
    }

    /// Returns the result for a body that no extractor reads.
    #[must_use]
    pub fn unread(&self) -> Unread {
        let detail = self.directives.noindex.then(|| "noindex, by X-Robots-Tag".to_owned());
        Unread { directives: self.directives, detail, links: Vec::new(), content: None }
    }
}

/// The content of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// The extractor and its version.
    pub made_by: ExtractorVersion,
    /// The page's content.
    pub page: Page,
    /// Its links, each kind and target once: its canonical URL, then those of its header, then the
    /// page's in order.
    pub links: Vec<FoundLink>,
    /// Its further content; `None` if there is none, or it was not asked for.
    pub content: Option<Box<Content>>,
    /// A remark on problems with reading it, on one line; `None` without any.
    pub remark: Option<String>,
    /// The wall in the page's place; `None` if there is none.
    pub wall: Option<Wall>,
    /// What the page itself says of its use.
    pub uses: Vec<UseStatement>,
}

/// A link, before its disposition is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLink {
    /// The kind of link.
    pub kind: LinkKind,
    /// Its normalised target.
    pub target: CrawlUrl,
    /// Whether the target is as written, or parameters were stripped.
    pub spelling: Spelling,
    /// Whether the page or its header marks it as nofollow.
    pub rel: Rel,
    /// Its text; `None` if that is empty, or the page asks for noindex.
    pub anchor: Option<String>,
}

impl FoundLink {
    /// Returns a link that is followed, whose target is as written, without a text.
    #[must_use]
    pub const fn plain(kind: LinkKind, target: CrawlUrl) -> Self {
        Self { kind, target, spelling: Spelling::Whole, rel: Rel::Follow, anchor: None }
    }

    /// Returns the link with this disposition.
    #[must_use]
    pub fn with_disposition(self, disposition: Disposition) -> Link {
        let Self { kind, target, spelling, rel, anchor } = self;
        Link { kind, target, disposition, spelling, rel, anchor }
    }
}

/// The data of a body that no extractor reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The header's directives for this crawler.
    pub directives: Directives,
    /// The reason, on one line; `None` if the media type explains it.
    pub detail: Option<String>,
    /// The links of a sitemap, robots.txt or style sheet, each kind and target once.
    pub links: Vec<FoundLink>,
    /// Its content as a file; `None` if there is none, or it was not asked for.
    pub content: Option<Box<Content>>,
}
