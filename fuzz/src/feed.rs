//! Feeds.

use dragline_extract::feed::{ReadFeed, read};
use url::Url;

/// Input: a document.
///
/// What is read of it is the same each time, can be stored and read back, and does not grow beyond
/// what its limits let it.
///
/// # Panics
/// If one of these does not hold.
pub fn feed(data: &[u8]) {
    let url = Url::parse("https://feed.example/dir/feed").ok();
    let Some(found) = read(data, None, url.as_ref()) else { return };
    assert_eq!(read(data, None, url.as_ref()).as_ref(), Some(&found), "the same bytes");
    let entries = found.feed.entries.len();
    let texts = texts(&found);
    assert!(texts.iter().all(|text| !text.is_empty() && text.trim().len() == text.len()), "{texts:?}");
    // A character of another set may take more bytes in UTF-8, and a character of a markup six.
    assert!(texts.iter().map(|text| text.len()).sum::<usize>() <= data.len() * 24 + 64, "it grows");
    let stored = found.stored();
    assert_eq!(stored.entries.len(), entries);
    let json = serde_json::to_string(&stored).expect("texts and numbers");
    assert_eq!(serde_json::from_str(&json).ok(), Some(stored), "stored and read back");
}

fn texts(read: &ReadFeed) -> Vec<&str> {
    let feed = &read.feed;
    let of_entries = feed.entries.iter().flat_map(|entry| [&entry.title, &entry.summary, &entry.content]);
    [&feed.title, &feed.summary].into_iter().chain(of_entries).flatten().map(|text| text.value.as_str()).collect()
}
