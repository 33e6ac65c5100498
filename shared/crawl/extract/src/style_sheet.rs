//! Style sheets: what they refer to.

use dragline_formats::css::references;

use crate::body::{Body, FoundLink};

/// The most references of one style sheet.
const REFERENCES_MAX: usize = 10_000;

/// A reference longer than this is no URL that can be crawled: most are pictures within the style sheet (`data:`).
const REFERENCE_BYTES_MAX: usize = 8 << 10;

/// Returns the links of a style sheet. What refers to a place in the document that it styles (`#gradient`) is none.
pub(crate) fn links(body: &Body<'_>) -> Vec<FoundLink> {
    let mut found = Vec::new();
    references(&body.text(&body.decoded()).text, |kind, url| {
        let leads_elsewhere = !url.is_empty() && !url.starts_with('#') && url.len() <= REFERENCE_BYTES_MAX;
        if leads_elsewhere && found.len() < REFERENCES_MAX {
            found.push((kind, url.to_owned()));
        }
    });
    body.links(found)
}
