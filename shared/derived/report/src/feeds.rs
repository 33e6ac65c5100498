//! Feeds as rows: one for each feed, and one for each entry.

use dragline_domain::feed::{Enclosure, Entry, Feed, Person};
use dragline_domain::ids::CrawlId;
use dragline_ports::reader::DocumentRow;
use dragline_ports::row;
use jiff::Timestamp;
use serde::Serialize;

/// A feed, or one of its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedRow {
    /// The crawl.
    pub crawl: String,
    /// The iteration that stored the feed's document.
    pub iteration: u32,
    /// The URL of the feed.
    pub url: String,
    /// When it was requested; `None` if that is not known.
    pub at: Option<Timestamp>,
    /// 0 for the feed itself; entries are numbered from 1, in the feed's order.
    pub n: u32,
    /// `feed` or `entry`.
    pub kind: &'static str,
    /// The format of the feed, such as `rss 2.0`.
    pub format: String,
    /// The title, on one line.
    pub title: Option<String>,
    /// The page of the feed or of the entry.
    pub link: Option<String>,
    /// Its identifier in the feed.
    pub id: Option<String>,
    /// The names of its authors, separated by commas; for an entry without any, those of the feed.
    pub author: Option<String>,
    /// Its summary.
    pub summary: Option<String>,
    /// The full text of an entry.
    pub content: Option<String>,
    /// When it was published: ISO 8601 if it could be parsed, otherwise as written.
    pub published: Option<String>,
    /// When it was last changed, in the same form.
    pub updated: Option<String>,
    /// Its categories, as a JSON array; `None` if there are none.
    pub categories: Option<String>,
    /// The files of an entry, as a JSON array of objects with `url`, `media_type` and `bytes`;
    /// `None` if there are none.
    pub enclosures: Option<String>,
}

row! {
    FeedRow {
        crawl, iteration, url, at, n, kind, format, title, link, id, author, summary, content, published as Instant, updated as Instant,
        categories, enclosures,
    }
}

impl FeedRow {
    /// Returns the rows of a document: none if it is not a feed, otherwise the feed's, followed by
    /// those of its entries.
    pub fn rows_of_document<'d>(crawl: &'d CrawlId, row: &'d DocumentRow) -> impl Iterator<Item = Self> + use<'d> {
        let feed = row.document.content.as_ref().and_then(|content| content.feed.as_deref());
        feed.into_iter().flat_map(move |feed| {
            let base = Self::from_feed(crawl, row, feed);
            let entries = (1..).zip(&feed.entries).map({
                let base = base.clone();
                move |(n, entry)| base.entry_row(n, entry)
            });
            std::iter::once(base).chain(entries)
        })
    }

    fn from_feed(crawl: &CrawlId, row: &DocumentRow, feed: &Feed) -> Self {
        let DocumentRow { iteration, document } = row;
        let version = feed.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        Self {
            crawl: crawl.to_string(),
            iteration: iteration.number(),
            url: document.url.to_string(),
            at: document.body.as_ref().map(|body| body.at),
            n: 0,
            kind: "feed",
            format: format!("{}{version}", feed.format.name()),
            title: feed.title.clone(),
            link: feed.link.clone(),
            id: feed.id.clone(),
            author: author_names(&feed.authors),
            summary: feed.summary.clone(),
            content: None,
            published: feed.published.clone(),
            updated: feed.updated.clone(),
            categories: json_list(&feed.categories),
            enclosures: None,
        }
    }

    /// Returns the row of an entry of this feed.
    fn entry_row(&self, n: u32, entry: &Entry) -> Self {
        Self {
            crawl: self.crawl.clone(),
            iteration: self.iteration,
            url: self.url.clone(),
            at: self.at,
            n,
            kind: "entry",
            format: self.format.clone(),
            title: entry.title.clone(),
            link: entry.link.clone(),
            id: entry.id.clone(),
            author: author_names(&entry.authors).or_else(|| self.author.clone()),
            summary: entry.summary.clone(),
            content: entry.content.clone(),
            published: entry.published.clone(),
            updated: entry.updated.clone(),
            categories: json_list(&entry.categories),
            enclosures: json_list::<Enclosure>(&entry.enclosures),
        }
    }
}

fn author_names(authors: &[Person]) -> Option<String> {
    let called: Vec<&str> = authors.iter().filter_map(Person::display_name).collect();
    (!called.is_empty()).then(|| called.join(", "))
}

fn json_list<T: Serialize>(values: &[T]) -> Option<String> {
    (!values.is_empty()).then(|| serde_json::to_string(values).ok())?
}

#[cfg(test)]
mod tests {
    use dragline_domain::document::Document;
    use dragline_domain::ids::Iteration;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_feed_and_its_entries_are_rows() {
        let document: Document = serde_json::from_value(json!({
            "n": 0, "url": "https://a.example/feed", "outcome": 20, "detail": null, "state": "processed", "page": null, "links": [],
            "content": {"feed": {"format": "rss", "version": "2.0", "title": "F", "authors": [{"name": "A"}, {"email": "b@b.example"}], "entries": [
                {"title": "E", "categories": ["x", "y"], "enclosures": [{"url": "https://a.example/e", "bytes": 3}]},
                {"authors": [{"name": "C", "email": "c@c.example"}], "published": "2021-03-03"}]}}
        }))
        .unwrap();
        let crawl = "docs".parse().unwrap();
        let row = DocumentRow { iteration: Iteration::FIRST, document };
        let rows: Vec<_> = FeedRow::rows_of_document(&crawl, &row).collect();
        let said: Vec<_> =
            rows.iter().map(|row| (row.n, row.kind, row.title.as_deref(), row.author.as_deref())).collect();
        assert_eq!(
            said,
            [
                (0, "feed", Some("F"), Some("A, b@b.example")),
                (1, "entry", Some("E"), Some("A, b@b.example")),
                (2, "entry", None, Some("C")),
            ]
        );
        assert_eq!(rows[1].categories.as_deref(), Some(r#"["x","y"]"#));
        assert_eq!(rows[1].enclosures.as_deref(), Some(r#"[{"url":"https://a.example/e","bytes":3}]"#));
        let none = DocumentRow { document: Document { content: None, ..row.document.clone() }, ..row };
        assert_eq!(FeedRow::rows_of_document(&crawl, &none).count(), 0, "it is not a feed");
    }
}
