//! Style sheets: their references.

use dragline_formats::css::references;

use crate::body::{Body, FoundLink};

/// The most references of one style sheet.
const REFERENCES_MAX: usize = 10_000;

/// Longer references, in bytes, are not crawlable: most are embedded pictures (`data:`).
const REFERENCE_BYTES_MAX: usize = 8 << 10;

/// Returns the links of a style sheet, without references into the styled document (`#gradient`).
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
