//! What extractors get, and what they give.

use std::borrow::Cow;

use dragline_domain::document::{Directives, LinkKind, MadeBy, Page};
use dragline_domain::url::{CrawlUrl, Spelling, UrlRules};
use dragline_formats::charset::{self, Decoded};
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::http_fields::{ContentType, Headers, content_type};

use crate::fields::{MediaType, header_directives};

/// Reads bodies of one format.
pub trait Extractor: Sync {
    /// Who made a document. The version is a higher one whenever the same bytes may give another document.
    fn made_by(&self) -> MadeBy;

    /// What the body says; `None` if it is none of this extractor's.
    fn extract(&self, body: &Body<'_>) -> Option<Extracted>;
}

/// A response to be read.
#[derive(Clone, Copy, Debug)]
pub struct Source<'c> {
    /// Where it is from.
    pub url: &'c CrawlUrl,
    /// Its header.
    pub headers: &'c Headers,
    /// Its body, with its content coding.
    pub body: &'c [u8],
}

/// What a crawl's definition says of reading.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'c> {
    /// Whom headers and pages may ask for something.
    pub product_token: &'c str,
    /// How links are normalised.
    pub url_rules: &'c UrlRules,
    /// Of a body that is larger with its coding undone, the rest is not read.
    pub decoded_bytes_max: u64,
}

/// A body whose header was read.
#[derive(Debug)]
pub struct Body<'c> {
    /// The response.
    pub source: Source<'c>,
    /// How it is read.
    pub settings: Settings<'c>,
    /// What the header calls it.
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
    /// The body's coding is one that nobody here undoes.
    pub fn of(source: &Source<'c>, settings: &Settings<'c>) -> Result<Self, Unread> {
        let Source { headers, .. } = source;
        let directives = header_directives(headers, settings.product_token);
        let content_type = headers.text("content-type").as_deref().and_then(content_type);
        let codings = ContentCodings::parse(headers.all("content-encoding"))
            .map_err(|error| Unread { directives, detail: Some(error.to_string()) })?;
        let media = MediaType::of(content_type.as_ref());
        Ok(Self { source: *source, settings: *settings, media, directives, content_type, codings })
    }

    /// The body's beginning, or all of it if it is no larger: its coding undone. No more of it than the settings allow.
    #[must_use]
    pub fn beginning(&self, bytes_max: u64) -> Cow<'c, [u8]> {
        let bytes_max = bytes_max.min(self.settings.decoded_bytes_max);
        decode_all(&self.codings, self.source.body, bytes_max).bytes
    }

    /// The whole body, as far as the settings allow: its coding undone.
    #[must_use]
    pub fn decoded(&self) -> Cow<'c, [u8]> {
        self.beginning(u64::MAX)
    }

    /// Bytes as text, in the character set that the header names or they themselves do.
    #[must_use]
    pub fn text<'b>(&self, bytes: &'b [u8]) -> Decoded<'b> {
        charset::decode(bytes, self.content_type.as_ref().and_then(|kind| kind.charset.as_deref()))
    }

    /// What was odd about reading it; absent if nothing was.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        self.codings.unknown_word().map(|word| format!("`{word}` is not a content coding: read as it is"))
    }

    /// That nothing reads it.
    #[must_use]
    pub fn unread(&self) -> Unread {
        let detail = self.directives.noindex.then(|| "noindex, by X-Robots-Tag".to_owned());
        Unread { directives: self.directives, detail }
    }
}

/// What a body says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// Who made it.
    pub made_by: MadeBy,
    /// What it holds.
    pub page: Page,
    /// Where it leads, each kind and target once: what it calls canonical, where its header leads, then as they stand in it.
    pub links: Vec<FoundLink>,
    /// What was odd about reading it, on one line; absent if nothing was.
    pub remark: Option<String>,
}

/// A link as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLink {
    /// How it is made.
    pub kind: LinkKind,
    /// Where it leads, normalised.
    pub target: CrawlUrl,
    /// Whether the target says all that was written of it.
    pub spelling: Spelling,
    /// Whether the page, or its header, asks not to follow it.
    pub nofollow: bool,
}

/// What is known of a body that nothing here reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// What its header asks of us.
    pub directives: Directives,
    /// Why, on one line; absent where its type says it all.
    pub detail: Option<String>,
}
