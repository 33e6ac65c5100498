//! Bytes of a capture in, what they say out, by media type.
//!
//! [`extract`] reads a body by the first of the [`EXTRACTORS`] that knows what it is. A format is a file that implements [`Extractor`], and an
//! entry there; if its media types were not told apart until now, they get a variant of [`MediaType`](fields::MediaType) as well. Nothing here
//! knows of a crawl's scope: what is done with a link is decided by whoever asked.
//!
//! The header fields that say how a body is read are [`fields`]: the crawler knows by them whether a body that came again is the same
//! document. That needs no extractor, so those are behind the feature `extractors`.

#[cfg(feature = "extractors")]
mod body;
pub mod fields;
#[cfg(feature = "extractors")]
mod html;

#[cfg(feature = "extractors")]
pub use body::{Body, Extracted, Extractor, FoundLink, Settings, Source, Unread};

/// Every extractor, in the order in which they are asked.
#[cfg(feature = "extractors")]
pub const EXTRACTORS: &[&dyn Extractor] = &[&html::Html];

/// What a body says, by the first extractor that knows what it is.
///
/// The same bytes under the same fields and settings give the same again, for as long as the extractor's version stays.
///
/// ```
/// use dragline_domain::url::{CrawlUrl, UrlRules};
/// use dragline_extract::{Settings, Source, extract};
/// use dragline_formats::http_fields::Headers;
///
/// let url_rules = UrlRules::default();
/// let url = CrawlUrl::parse("https://example.org/docs/", &url_rules).unwrap();
/// let headers = Headers::from_iter([("Content-Type", "text/html")]);
/// let source = Source { url: &url, headers: &headers, body: b"<title>Docs</title><a href=a>the first</a>" };
/// let settings = Settings { product_token: "Dragline", url_rules: &url_rules, decoded_bytes_max: 1_000_000 };
///
/// let extracted = extract(&source, &settings).unwrap();
/// assert_eq!(extracted.page.title.as_deref(), Some("Docs"));
/// assert_eq!(extracted.links[0].target.as_str(), "https://example.org/docs/a");
/// ```
///
/// # Errors
/// Nothing here reads it: [`Unread`] says what is known of it all the same.
#[cfg(feature = "extractors")]
pub fn extract(source: &Source<'_>, settings: &Settings<'_>) -> Result<Extracted, Unread> {
    let body = Body::of(source, settings)?;
    EXTRACTORS.iter().find_map(|extractor| extractor.extract(&body)).ok_or_else(|| body.unread())
}
