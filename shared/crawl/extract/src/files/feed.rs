//! Feeds as files: their title, and the titles and summaries of their entries.

use dragline_domain::feed::{Feed, Person};
use url::Url;

use super::{FileText, Text};
use crate::feed;

/// Reads a feed; `None` if the document is not one.
pub(super) fn read(document: &str, url: &str) -> Option<FileText> {
    let read = feed::read_text(document, Url::parse(url).ok().as_ref())?;
    let is_cut = read.is_cut;
    let feed = read.stored();
    let mut text = collect_text(&feed);
    text.is_cut |= is_cut;
    let called: Vec<&str> = feed.authors.iter().filter_map(Person::display_name).collect();
    let author = Some(called.join(", ")).filter(|author| !author.is_empty());
    let (title, published, modified) = (feed.title.clone(), feed.published.clone(), feed.updated.clone());
    Some(FileText { title, author, published, modified, feed: Some(Box::new(feed)), ..text.into_file() })
}

/// Returns the feed's description, and a paragraph for each entry: its title, and its summary, or
/// else its content.
fn collect_text(feed: &Feed) -> Text {
    let mut text = Text::default();
    text.push(feed.summary.as_deref().unwrap_or_default());
    for entry in &feed.entries {
        if text.is_full() {
            break;
        }
        text.separate("\n\n");
        let said = [&entry.title, if entry.summary.is_some() { &entry.summary } else { &entry.content }];
        for (at, part) in said.into_iter().flatten().enumerate() {
            if at > 0 {
                text.separate("\n");
            }
            text.push(part);
        }
    }
    text
}
