//! Feeds: the metadata of RSS, Atom and JSON Feed, and their entries.

use serde::{Deserialize, Serialize};

/// A feed. Its texts are without markup, or in a reader's own form; URLs are absolute if the feed
/// allows that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
pub struct Feed<T = String> {
    /// The family of its format.
    pub format: FeedFormat,
    /// The format's version, such as `2.0`; `None` if the feed gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<T>,
    /// The page that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Its identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its authors.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<Person>,
    /// Its summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<T>,
    /// When it was published: ISO 8601 if it could be read, or else as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// When it was last changed, in the same form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// Its categories, each once.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Its entries, in its order.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Entry<T>>,
}

/// A family of formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedFormat {
    /// RSS, also in RDF.
    Rss,
    /// Atom (RFC 4287), also before it was a standard.
    Atom,
    /// JSON Feed.
    Json,
}

impl FeedFormat {
    /// Returns the stored name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rss => "rss",
            Self::Atom => "atom",
            Self::Json => "json",
        }
    }
}

/// An entry of a feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
pub struct Entry<T = String> {
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<T>,
    /// The page to read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Its identifier within the feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its authors; empty if it names none, as those of the feed apply then.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<Person>,
    /// Its summary, or its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<T>,
    /// Its full text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<T>,
    /// When it was published, as [`Feed::published`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// When it was last changed, in the same form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// Its categories, each once.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Files that belong to it, such as the recording of a podcast.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub enclosures: Vec<Enclosure>,
}

/// An author. Has a name, an address, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Person {
    /// The name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The e-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The person's own page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl Person {
    /// Returns the name, or else the address.
    #[must_use]
    pub fn display_name(&self) -> Option<&str> {
        [&self.name, &self.email, &self.url].into_iter().find_map(Option::as_deref)
    }
}

/// A file that belongs to an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enclosure {
    /// Its URL.
    pub url: String,
    /// Its media type, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Its length according to the feed, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl<T> Feed<T> {
    /// Returns the same feed with its texts in another form.
    pub fn map<U>(self, mut form: impl FnMut(T) -> U) -> Feed<U> {
        let Self { format, version, title, link, id, authors, summary, published, updated, categories, entries } = self;
        Feed {
            format,
            version,
            title: title.map(&mut form),
            link,
            id,
            authors,
            summary: summary.map(&mut form),
            published,
            updated,
            categories,
            entries: entries.into_iter().map(|entry| entry.map(&mut form)).collect(),
        }
    }
}

impl<T> Entry<T> {
    fn map<U>(self, mut form: impl FnMut(T) -> U) -> Entry<U> {
        let Self { title, link, id, authors, summary, content, published, updated, categories, enclosures } = self;
        Entry {
            title: title.map(&mut form),
            link,
            id,
            authors,
            summary: summary.map(&mut form),
            content: content.map(&mut form),
            published,
            updated,
            categories,
            enclosures,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feed_is_read_back_unchanged() {
        const JSON: &str = r#"{"format":"atom","version":"1.0","title":"T","link":"https://a.example/","id":"urn:a","authors":[{"name":"A","email":"a@a.example","url":"https://a.example/a"}],"summary":"S","published":"2021-03-03","updated":"2021-03-04","categories":["c"],"entries":[{"title":"E","content":"all","enclosures":[{"url":"https://a.example/e.mp3","media_type":"audio/mpeg","bytes":3},{"url":"x"}]},{}]}"#;
        let feed: Feed = serde_json::from_str(JSON).unwrap();
        assert_eq!(serde_json::to_string(&feed).unwrap(), JSON);
        let plain: Feed = serde_json::from_str(r#"{"format":"rss"}"#).unwrap();
        assert_eq!(serde_json::to_string(&plain).unwrap(), r#"{"format":"rss"}"#, "what it does not say is absent");
        let longer = feed.map(|text| text.len());
        assert_eq!((longer.title, longer.entries[0].content), (Some(1), Some(3)));
    }

    #[test]
    fn people_are_called_by_name_or_else_by_address() {
        let person = |name: Option<&str>, email: Option<&str>| Person {
            name: name.map(str::to_owned),
            email: email.map(str::to_owned),
            url: None,
        };
        assert_eq!(person(Some("A"), Some("a@a.example")).display_name(), Some("A"));
        assert_eq!(person(None, Some("a@a.example")).display_name(), Some("a@a.example"), "better than nothing");
        assert_eq!(person(None, None).display_name(), None);
    }
}
