//! Extracts documents from the bytes of captures, by media type.
//!
//! [`extract`] reads a body with the first of the [`EXTRACTORS`] that recognises it. To add a
//! format, implement [`Extractor`] in a file of its own, and add it there; if its media types were
//! not distinguished before, give them a variant of [`MediaType`](fields::MediaType) as well.
//! Nothing here knows a crawl's scope: the caller decides on links.
//!
//! [`fields`] has the header fields that decide how a body is read: by them the crawler knows
//! whether an unchanged body is still the same document. That needs no extractor, so extractors are
//! behind the feature `extractors`.

use dragline_domain::content::ContentLevel;
use dragline_domain::frontier::ReadAs;
use dragline_domain::lastmod::LastMod;
use dragline_domain::url::CrawlUrl;

mod about;
mod article;
mod body;
mod content;
pub mod feed;
pub mod fields;
mod files;
pub mod form;
mod html;
pub mod items;
mod look;
mod manifest;
pub mod missing;
mod repeated;
mod script;
mod sitemap;
mod streamed;
mod style_sheet;
mod tree;
pub mod typed;
mod validity;
pub mod wall;

pub use article::{Article, Extent, MainRules, NoArticle, article};
pub use body::{Body, Extracted, Extractor, FoundLink, Settings, Source, Unread};
pub use files::FILE_BYTES_MAX;
pub use look::{Look, look};
use sitemap::NothingListed;
pub use validity::{FLAWS_MAX, validity};

/// All extractors, in the order in which they are tried.
pub const EXTRACTORS: &[&dyn Extractor] = &[&html::Html];

/// Returns the entries of a body named as a sitemap, with when each changed last (`lastmod`). Those
/// of which it does not say so, to the day, are left out.
#[must_use]
pub fn sitemap_changes(source: &Source<'_>, settings: &Settings<'_>) -> Vec<(CrawlUrl, LastMod)> {
    Body::read(source, settings).map_or_else(|_| Vec::new(), |body| sitemap::changes(&body))
}

/// Extracts a body with the first extractor that recognises it.
///
/// The same bytes under the same fields and settings give the same result, as long as the
/// extractor's version stays the same.
///
/// ```
/// use dragline_domain::content::ContentLevel;
/// use dragline_domain::definition::Noindex;
/// use dragline_domain::url::{CrawlUrl, UrlRules};
/// use dragline_extract::typed::Types;
/// use dragline_extract::{MainRules, Settings, Source, extract};
/// use dragline_formats::http_fields::Headers;
///
/// let url_rules = UrlRules::default();
/// let url = CrawlUrl::parse("https://example.org/docs/", &url_rules).unwrap();
/// let headers = Headers::from_iter([("Content-Type", "text/html")]);
/// let source = Source { url: &url, headers: &headers, body: b"<title>Docs</title><a href=a>the first</a>" };
/// let settings = Settings { product_token: "Dragline", url_rules: &url_rules, decoded_bytes_max: 1_000_000, noindex: Noindex::Obey, content: ContentLevel::Text, types: Types::NONE, main: MainRules::NONE };
///
/// let extracted = extract(&source, &settings).unwrap();
/// assert_eq!(extracted.page.title.as_deref(), Some("Docs"));
/// assert_eq!(extracted.links[0].target.as_str(), "https://example.org/docs/a");
/// ```
///
/// # Errors
/// Returns [`Unread`] if no extractor reads it, with what is known about it.
pub fn extract(source: &Source<'_>, settings: &Settings<'_>) -> Result<Extracted, Unread> {
    extract_as(source, settings, ReadAs::Typed)
}

/// Extracts a body that may have been named as a sitemap or a feed: then it is read as one,
/// whatever media type the server gives. Only if it is something else does its type decide.
///
/// # Errors
/// Returns the errors of [`extract`].
pub fn extract_as(source: &Source<'_>, settings: &Settings<'_>, read_as: ReadAs) -> Result<Extracted, Unread> {
    let mut body = Body::read(source, settings)?;
    let mut read = match read_as {
        ReadAs::Typed | ReadAs::Check => by_type(&body),
        ReadAs::Feed => match feed::links::named_links(&body) {
            Some(links) => Err(Unread { links, ..body.unread() }),
            None => remarked(by_type(&body), "not a feed: neither RSS nor Atom nor JSON Feed"),
        },
        ReadAs::Sitemap | ReadAs::SitemapTrial | ReadAs::Robots => match sitemap::read_named(&body, read_as) {
            Ok(listing) => Err(listing),
            Err(NothingListed::InRobots) => by_type(&body),
            Err(why @ NothingListed::NoUrls) => Err(Unread { detail: Some(why.to_string()), ..body.unread() }),
            // A page there stands for a missing sitemap, and one elsewhere is where that redirects
            // to.
            Err(_) if read_as == ReadAs::SitemapTrial && !sitemap::is_tried(source.url) => by_type(&body),
            Err(why) if read_as == ReadAs::SitemapTrial => {
                Err(Unread { detail: Some(why.to_string()), ..body.unread() })
            }
            Err(why) => remarked(by_type(&body), &why.to_string()),
        },
    };
    if read.is_err() && body.media == fields::MediaType::Html {
        // The only exception is a feed labelled as HTML.
        body.media = fields::MediaType::Xml;
    }
    if let Err(unread) = &mut read
        && !unread.directives.noindex
    {
        files::put(&body, &mut unread.content);
    }
    let (noindex, content) = match &mut read {
        Ok(extracted) => (extracted.page.directives.noindex, &mut extracted.content),
        Err(unread) => (unread.directives.noindex, &mut unread.content),
    };
    if settings.content == ContentLevel::Full
        && !noindex
        && let Some(validity) = validity::validate_body(&body)
    {
        content.get_or_insert_default().validity = Some(validity);
    }
    read
}

fn by_type(body: &Body<'_>) -> Result<Extracted, Unread> {
    let extracted = EXTRACTORS.iter().find_map(|extractor| extractor.extract(body));
    extracted.ok_or_else(|| {
        let links = match body.media {
            fields::MediaType::Css => Some(style_sheet::links(body)),
            _ => feed::links::links(body).or_else(|| manifest::links(body)).or_else(|| script::links(body)),
        };
        links.map_or_else(|| sitemap::read(body), |links| Unread { links, ..body.unread() })
    })
}

/// Adds the reason why a body is not what it was named as.
fn remarked(mut read: Result<Extracted, Unread>, why: &str) -> Result<Extracted, Unread> {
    match &mut read {
        Ok(extracted) => extracted.remark = Some(why.to_owned()),
        Err(unread) => unread.detail = Some(why.to_owned()),
    }
    read
}
