//! Looking at one page, for people who write a definition.

use dragline_domain::content::Content;
use url::Url;

use crate::body::{Body, Extracted, Settings, Source, Unread};
use crate::content::{ReadPage, traced};
use crate::items::{Markup, markup};
use crate::typed::{FieldTrace, Tracing};

/// All that is made of a page, and where it came from.
#[derive(Clone, Debug)]
pub struct Look {
    /// What a crawl makes of it.
    pub extracted: Extracted,
    /// Where each field of the definition's types came from, or why it did not.
    pub fields: Vec<FieldTrace>,
    /// What the page says in each notation of structured data, as it says it; `None` if its tree would be too deep or too large.
    pub markup: Option<Markup>,
}

impl Look {
    /// Returns what the page says beyond text and links; empty if that is nothing.
    #[must_use]
    pub fn content(&self) -> Content {
        self.extracted.content.as_deref().cloned().unwrap_or_default()
    }
}

/// Looks at a page.
///
/// # Errors
/// [`Unread`] if it is in no format that an extractor reads.
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
