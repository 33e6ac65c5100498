//! The links of a feed: the pages of its entries, and its further parts.

use dragline_domain::document::LinkKind;
use url::Url;

use super::{ReadFeed, read_text, sniff};
use crate::body::{Body, FoundLink};
use crate::fields::MediaType;
use crate::files::FILE_BYTES_MAX;

/// How many bytes of a body are examined before all of it is read.
const LOOK_BYTES: u64 = 4 << 10;

/// Returns the links of a body that is a feed by its media type and beginning; `None` if it is
/// something else.
pub(crate) fn links(body: &Body<'_>) -> Option<Vec<FoundLink>> {
    let begins_one = match body.media {
        MediaType::Json => sniff::begins_json,
        MediaType::Html | MediaType::Xml => sniff::begins_xml,
        MediaType::Plain | MediaType::Unknown | MediaType::Binary | MediaType::Other => sniff::begins_any,
        MediaType::Xhtml | MediaType::Pdf | MediaType::Office | MediaType::Css => return None,
    };
    if begins_one(&body.text(&body.beginning(LOOK_BYTES)).text) { named_links(body) } else { None }
}

/// Returns the links of a body that was named as a feed, whatever its media type; `None` if it is
/// something else.
pub(crate) fn named_links(body: &Body<'_>) -> Option<Vec<FoundLink>> {
    let bytes = body.beginning(FILE_BYTES_MAX);
    let read = read_text(&body.text(&bytes).text, Url::parse(body.source.url.as_str()).ok().as_ref())?;
    let ReadFeed { feed, parts, .. } = read;
    let parts = parts.into_iter().map(|url| (LinkKind::Feed, url));
    let entries = feed.entries.into_iter().filter_map(|entry| Some((LinkKind::FeedEntry, entry.link?)));
    Some(body.links(parts.chain(entries)))
}
