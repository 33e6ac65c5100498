//! Examining one page, for authors of definitions.

use dragline_domain::content::Content;
use url::Url;

use crate::body::{Body, Extracted, Settings, Source, Unread};
use crate::content::{ReadPage, traced};
use crate::items::{Markup, markup};
use crate::typed::{FieldTrace, Tracing};

/// Everything extracted from a page, and where it came from.
#[derive(Clone, Debug)]
pub struct Look {
    /// The result that a crawl would get.
    pub extracted: Extracted,
    /// Where each field of the definition's types came from, or why it is missing.
    pub fields: Vec<FieldTrace>,
    /// The page's structured data in each notation, as written; `None` if its tree would be too
    /// deep or too large.
    pub markup: Option<Markup>,
}

impl Look {
    /// Returns the page's content beyond text and links; may be empty.
    #[must_use]
    pub fn content(&self) -> Content {
        self.extracted.content.as_deref().cloned().unwrap_or_default()
    }
}

/// Examines a page.
///
/// # Errors
/// Returns [`Unread`] if no extractor reads its format.
pub fn look(source: &Source<'_>, settings: &Settings<'_>) -> Result<Look, Unread> {
    let extracted = crate::extract(source, settings)?;
    let body = Body::read(source, settings)?;
    let bytes = body.decoded();
    let html = body.text(&bytes).text;
    let Ok(url) = Url::parse(source.url.as_str()) else { return Err(body.unread()) };
    let page = ReadPage { html: &html, text: &extracted.page.text, url: &url, crawl_url: source.url };
    let (_, fields) = traced(&page, settings, Tracing::On);
    let markup = markup(&html, &url);
    Ok(Look { extracted, fields, markup })
}
