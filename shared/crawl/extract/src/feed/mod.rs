//! Feeds: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0 (RFC 4287), JSON Feed 1.0 and 1.1.
//!
//! Names are matched by namespace, whatever the prefix. The document need not be well-formed: it is
//! read up to the first unrecoverable error. Nothing grows: entities that it declares are not
//! expanded, and texts, entries and depth are limited.

mod draft;
mod json;
pub(crate) mod links;
#[cfg(test)]
mod links_tests;
mod markup;
mod names;
mod person;
mod reader;
mod scope;
pub(crate) mod sniff;
#[cfg(test)]
mod tests;
mod text;

use dragline_domain::feed::Feed;
use dragline_formats::charset;
use serde::Serialize;
use url::Url;

pub use self::text::{Text, TextKind};

/// The longest document that is read, in bytes.
const DOCUMENT_BYTES_MAX: usize = 10 << 20;

/// The most entries that are read.
const ENTRIES_MAX: usize = 10_000;

/// The most bytes of all texts.
const TEXTS_BYTES_MAX: usize = 4 << 20;

/// The most further parts of a feed that are taken. It has one, or two that are the same.
const PARTS_MAX: usize = 4;

/// The maximum nesting of elements, besides those in texts.
const DEPTH_MAX: usize = 32;

/// The contents of a feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadFeed {
    /// The feed.
    pub feed: Feed<Text>,
    /// Its further parts, from which older entries can be read (RFC 5005): absolute URLs, if the
    /// feed allows that.
    #[serde(skip)]
    pub parts: Vec<String>,
    /// Whether something was left out because of a limit.
    pub is_cut: bool,
}

/// Reads a feed from the bytes of a document, given the character set from its header, and its URL.
/// `None` if the document is not a feed.
///
/// ```
/// let rss = "<rss version='2.0'><channel><title>News</title><item><title>One &amp;amp; two</title></item></channel></rss>";
/// let read = dragline_extract::feed::read(rss.as_bytes(), None, None).unwrap();
/// assert_eq!(read.feed.title.unwrap().plain(), "News");
/// assert_eq!(read.feed.entries[0].title.as_ref().unwrap().plain(), "One & two");
/// ```
#[must_use]
pub fn read(bytes: &[u8], header_charset: Option<&str>, url: Option<&Url>) -> Option<ReadFeed> {
    let kept = &bytes[..bytes.len().min(DOCUMENT_BYTES_MAX)];
    let read = read_text(&charset::decode(kept, header_charset).text, url)?;
    Some(ReadFeed { is_cut: read.is_cut || kept.len() < bytes.len(), ..read })
}

/// Reads a feed from the text of a document.
pub(crate) fn read_text(document: &str, url: Option<&Url>) -> Option<ReadFeed> {
    if document.trim_ascii_start().starts_with('{') { json::read(document, url) } else { reader::read(document, url) }
}

impl ReadFeed {
    /// Returns the feed as it is stored: its titles on one line, its other texts as rendered.
    #[must_use]
    pub fn stored(self) -> Feed {
        let mut feed = self.feed.map(|text| text.plain());
        let titles = feed.entries.iter_mut().map(|entry| &mut entry.title).chain([&mut feed.title]);
        for title in titles {
            *title = title.take().map(|title| crate::tree::in_one_line(&title)).filter(|title| !title.is_empty());
        }
        feed
    }
}
