//! JSON Feed 1.0 and 1.1 (jsonfeed.org). A member of another type than it should have is ignored,
//! and so is an item that is not an object; only a document that is not JSON is not read.

use dragline_domain::feed::{Enclosure, Entry, Feed, FeedFormat, Person};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::Value;
use url::Url;

use super::draft::Draft;
use super::names::{Field, Rank};
use super::text::{Capture, Form, Text};
use super::{ENTRIES_MAX, ReadFeed, TEXTS_BYTES_MAX};

/// What the URL of each version begins with, without its scheme.
const VERSIONS: &str = "://jsonfeed.org/version/";

/// The document, as far as it is read. Version 1.0 has one author where 1.1 has several.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JsonFeed {
    #[serde(deserialize_with = "if_it_fits")]
    version: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    title: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    home_page_url: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    feed_url: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    description: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    next_url: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    author: Option<Author>,
    #[serde(deserialize_with = "if_it_fits")]
    authors: Option<Vec<Author>>,
    #[serde(deserialize_with = "if_it_fits")]
    items: Option<Vec<Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item {
    #[serde(deserialize_with = "if_it_fits")]
    id: Option<Value>,
    #[serde(deserialize_with = "if_it_fits")]
    url: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    external_url: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    title: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    content_html: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    content_text: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    summary: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    date_published: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    date_modified: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    author: Option<Author>,
    #[serde(deserialize_with = "if_it_fits")]
    authors: Option<Vec<Author>>,
    #[serde(deserialize_with = "if_it_fits")]
    tags: Option<Vec<Value>>,
    #[serde(deserialize_with = "if_it_fits")]
    attachments: Option<Vec<Attachment>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Author {
    #[serde(deserialize_with = "if_it_fits")]
    name: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    url: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Attachment {
    #[serde(deserialize_with = "if_it_fits")]
    url: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    mime_type: Option<String>,
    #[serde(deserialize_with = "if_it_fits")]
    size_in_bytes: Option<u64>,
}

/// Reads a member; `None` if it has another type.
fn if_it_fits<'de, D: Deserializer<'de>, T: DeserializeOwned>(member: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(member)?).ok())
}

/// Reads a document; `None` if it is not a feed.
pub(super) fn read(document: &str, url: Option<&Url>) -> Option<ReadFeed> {
    let document: JsonFeed = serde_json::from_str(document).ok()?;
    let version = document.version.as_deref()?.trim().split_once(VERSIONS)?.1.trim_end_matches('/').to_owned();
    let mut reader = Reader { url, text_bytes: 0, is_cut: false };
    let mut draft = Draft::default();
    reader.put_text(&mut draft, Field::Title, Form::Plain, document.title);
    reader.put_text(&mut draft, Field::Summary, Form::Plain, document.description);
    reader.put_url(&mut draft, Rank::Own, document.home_page_url);
    put_line(&mut draft, Field::Id, document.feed_url.as_deref());
    reader.put_authors(&mut draft, document.authors, document.author);
    let items = document.items.unwrap_or_default();
    reader.is_cut |= items.len() > ENTRIES_MAX;
    let mut entries = Vec::new();
    for item in items.into_iter().take(ENTRIES_MAX) {
        if reader.text_bytes > TEXTS_BYTES_MAX {
            reader.is_cut = true;
            break;
        }
        entries.extend(serde_json::from_value(item).ok().map(|item| reader.entry(item)));
    }
    let parts = document.next_url.map(|next| reader.absolute(&next)).into_iter().collect();
    let is_cut = reader.is_cut || draft.is_cut;
    let said = draft.finish();
    let feed = Feed {
        format: FeedFormat::Json,
        version: Some(version).filter(|version| !version.is_empty()),
        title: said.title,
        link: said.link,
        id: said.id,
        authors: said.authors,
        summary: said.summary,
        published: None,
        updated: None,
        categories: Vec::new(),
        entries,
    };
    Some(ReadFeed { feed, parts, is_cut })
}

/// What is needed while a document is read.
struct Reader<'u> {
    url: Option<&'u Url>,
    text_bytes: usize,
    is_cut: bool,
}

impl Reader<'_> {
    fn entry(&mut self, item: Item) -> Entry<Text> {
        let mut draft = Draft::default();
        self.put_text(&mut draft, Field::Title, Form::Plain, item.title);
        self.put_text(&mut draft, Field::Summary, Form::Plain, item.summary);
        self.put_text(&mut draft, Field::Content, Form::Html, item.content_html);
        self.put_text(&mut draft, Field::Content, Form::Plain, item.content_text);
        // `external_url` is the page that the item is about. Some feeds have no other one.
        self.put_url(&mut draft, Rank::Own, item.url);
        self.put_url(&mut draft, Rank::Near, item.external_url);
        put_line(&mut draft, Field::Id, item.id.and_then(line_of).as_deref());
        put_line(&mut draft, Field::Published, item.date_published.as_deref());
        put_line(&mut draft, Field::Updated, item.date_modified.as_deref());
        self.put_authors(&mut draft, item.authors, item.author);
        item.tags.into_iter().flatten().for_each(|tag| put_line(&mut draft, Field::Category, line_of(tag).as_deref()));
        for Attachment { url, mime_type, size_in_bytes } in item.attachments.into_iter().flatten() {
            let Some(url) = url.filter(|url| !url.trim().is_empty()) else { continue };
            let media_type = mime_type.map(|kind| kind.trim().to_owned()).filter(|kind| !kind.is_empty());
            draft.put_enclosure(Enclosure { url: self.absolute(&url), media_type, bytes: size_in_bytes });
        }
        self.is_cut |= draft.is_cut;
        draft.finish().into_entry()
    }

    fn put_text(&mut self, draft: &mut Draft, field: Field, form: Form, said: Option<String>) {
        let Some(said) = said else { return };
        let mut text = Capture::new(form);
        text.text(&said);
        self.is_cut |= text.is_cut;
        self.text_bytes += text.characters().len();
        if let Some(text) = text.finish() {
            draft.put_text(field, Rank::Own, text);
        }
    }

    fn put_url(&self, draft: &mut Draft, rank: Rank, written: Option<String>) {
        if let Some(written) = written.filter(|written| !written.trim().is_empty()) {
            draft.put_line(Field::Link, rank, &self.absolute(&written));
        }
    }

    fn put_authors(&self, draft: &mut Draft, authors: Option<Vec<Author>>, only: Option<Author>) {
        let trimmed = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        for Author { name, url } in authors.unwrap_or_default().into_iter().chain(only) {
            let url = trimmed(url).map(|url| self.absolute(&url));
            let person = Person { name: trimmed(name), email: None, url };
            if person != Person::default() {
                draft.put_author(Rank::Own, person);
            }
        }
    }

    fn absolute(&self, written: &str) -> String {
        let written = written.trim();
        let joined = self.url.and_then(|url| url.join(written).ok());
        joined.filter(|_| Url::parse(written).is_err()).map_or_else(|| written.to_owned(), String::from)
    }
}

/// Returns a text or a number as a line: identifiers should be texts, and are numbers in some
/// feeds.
fn line_of(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn put_line(draft: &mut Draft, field: Field, line: Option<&str>) {
    if let Some(line) = line.map(str::trim).filter(|line| !line.is_empty()) {
        draft.put_line(field, Rank::Own, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(members: &str) -> ReadFeed {
        let url = Url::parse("https://a.example/dir/feed.json").unwrap();
        let document = format!("{{\"version\": \"https://jsonfeed.org/version/1.1\", {members}}}");
        read(&document, Some(&url)).unwrap_or_else(|| panic!("{document}"))
    }

    #[test]
    fn all_members_have_their_places() {
        let read = feed(
            r#""title": " Weir <news> ", "home_page_url": "/", "feed_url": "https://a.example/dir/feed.json",
            "description": "On water", "next_url": "feed2.json", "authors": [{"name": "Ann"}, {"url": "/bee"}, {}],
            "items": [{
                "id": 7, "url": "../7", "external_url": "https://b.example/", "title": "Sluice",
                "content_html": "<p>One</p><p>Two</p>", "content_text": "not this", "summary": "A gate",
                "date_published": "2024-05-01T12:00:00+02:00", "date_modified": "2024-05-02T00:00:00Z",
                "author": {"name": "Bee"}, "tags": ["locks", "gates", "locks", null],
                "attachments": [{"url": "7.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 12}, {"url": 3}]
            }]"#,
        );
        assert!(!read.is_cut);
        assert_eq!(read.parts, ["https://a.example/dir/feed2.json"]);
        let expected = serde_json::json!({
            "format": "json", "version": "1.1", "title": "Weir <news>", "link": "https://a.example/",
            "id": "https://a.example/dir/feed.json", "summary": "On water",
            "authors": [{"name": "Ann"}, {"url": "https://a.example/bee"}],
            "entries": [{
                "title": "Sluice", "link": "https://a.example/7", "id": "7", "authors": [{"name": "Bee"}],
                "summary": "A gate", "content": "One\n\nTwo", "published": "2024-05-01T12:00:00+02:00",
                "updated": "2024-05-02T00:00:00Z", "categories": ["locks", "gates"],
                "enclosures": [{"url": "https://a.example/dir/7.mp3", "media_type": "audio/mpeg", "bytes": 12}],
            }],
        });
        assert_eq!(serde_json::to_value(read.stored()).unwrap(), expected);
    }

    #[test]
    fn what_has_another_type_is_left_out_and_nothing_else() {
        for (members, title, links, why) in [
            (r#""items": [{"url": "/a"}, 3, {"url": 4}, {"url": "/b"}]"#, None, vec!["/a", "/b"], "items"),
            (r#""title": ["x"], "items": [{"url": "/a"}]"#, None, vec!["/a"], "a title"),
            (r#""title": "x", "items": {"url": "/a"}"#, Some("x"), vec![], "the list of items"),
            (r#""title": "x", "authors": "Ann", "author": 4"#, Some("x"), vec![], "people"),
            (r#""items": [{"external_url": "/elsewhere"}]"#, None, vec!["/elsewhere"], "no page of its own"),
        ] {
            let read = feed(members).stored();
            let found: Vec<_> = read.entries.iter().filter_map(|entry| entry.link.as_deref()).collect();
            let expected: Vec<_> = links.iter().map(|path| format!("https://a.example{path}")).collect();
            assert_eq!((read.title.as_deref(), found), (title, expected.iter().map(String::as_str).collect()), "{why}");
        }
    }

    #[test]
    fn other_documents_are_not_feeds() {
        for (document, why) in [
            ("{\"title\": \"x\", \"items\": []}", "no version"),
            ("{\"version\": \"https://json-schema.org/draft\"}", "another version"),
            ("{\"version\": \"https://jsonfeed.org/version/1\", \"items\": [", "it breaks off"),
            ("[]", "a list"),
            ("", "nothing"),
        ] {
            assert_eq!(read(document, None), None, "{why}");
        }
        let deep = format!("{{\"version\": \"https://jsonfeed.org/version/1\", \"x\": {}", "[".repeat(1_000_000));
        assert_eq!(read(&deep, None), None, "nested without end");
    }

    #[test]
    fn a_long_feed_is_cut() {
        let items = |count: usize, text: &str| {
            let item = format!("{{\"url\": \"/a\", \"content_text\": \"{text}\"}}");
            format!("\"items\": [{}]", vec![item; count].join(","))
        };
        let many = feed(&items(ENTRIES_MAX + 1, "x"));
        assert_eq!((many.feed.entries.len(), many.is_cut), (ENTRIES_MAX, true), "by its entries");
        let long = feed(&items(100, &"x".repeat(100_000)));
        assert!(long.is_cut && long.feed.entries.len() < 50, "by its texts");
    }
}
