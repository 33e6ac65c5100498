//! Chunks of todo as they are stored: deflated JSON with its length.

use dragline_domain::frontier::{
    CHUNK_BYTES_MAX, LastCapture, TodoChunk, TodoEntry, TodoPlace, TodoSource, split_into_chunks,
};
use dragline_domain::ids::Iteration;
use dragline_domain::url::Origin;
use dragline_formats::deflated::{CompressionGoal, deflate, inflate};

/// More than a chunk has, so that a false length may be wrong in both directions.
const JSON_BYTES_MAX: usize = 1 << 17;

/// Input: the JSON of entries; or, after its length in three bytes, the same deflated.
///
/// Inflating gives the stated length, or nothing. Entries are the same when read back, and are
/// split into chunks that keep them all in their order, each within its limit.
///
/// # Panics
/// If one of these does not hold.
pub fn todo(data: &[u8]) {
    check(data);
    if let Some(([high, middle, low], deflated)) = data.split_first_chunk::<3>() {
        let bytes = usize::from(*high) << 16 | usize::from(*middle) << 8 | usize::from(*low);
        if let Some(json) = inflate(deflated, bytes.min(JSON_BYTES_MAX)) {
            assert_eq!(json.len(), bytes.min(JSON_BYTES_MAX));
            check(&json);
        }
    }
}

fn check(json: &[u8]) {
    for goal in [CompressionGoal::Time, CompressionGoal::Bytes] {
        assert_eq!(inflate(&deflate(json, goal), json.len()).as_deref(), Some(json), "deflated and back");
    }
    let Ok(entries) = serde_json::from_slice::<Vec<TodoEntry>>(json) else { return };
    let written = written(&entries);
    let again: Vec<TodoEntry> = serde_json::from_slice(&written).expect("it was just written");
    assert_eq!(again, entries, "written and read back");
    // What is split comes from URLs and captures, whose lengths are limited.
    if entries.iter().all(is_sound) {
        check_chunks(&entries);
    }
}

fn check_chunks(entries: &[TodoEntry]) {
    let source = TodoSource::from_stored("0#a".to_owned());
    let split = || split_into_chunks(Iteration::FIRST, TodoPlace::by_depth(1), &source, entries.iter().cloned());
    let chunks = split();
    assert_eq!(chunks, split(), "the same entries give the same chunks");
    let kept: Vec<&TodoEntry> = chunks.iter().flat_map(|chunk| &chunk.entries).collect();
    assert_eq!(kept, entries.iter().collect::<Vec<_>>(), "all of them, in their order");
    for TodoChunk { key, entries } in &chunks {
        let bytes = written(entries).len();
        assert!(bytes <= CHUNK_BYTES_MAX || entries.len() == 1, "{bytes} bytes in part {}", key.part);
        assert!(entries.len() > 1 || bytes <= TodoEntry::JSON_BYTES_MAX + 2, "{bytes} bytes of one entry");
    }
    assert!(chunks.iter().zip(0..).all(|(chunk, part)| chunk.key.part == part), "parts are counted");
}

fn written(entries: &[TodoEntry]) -> Vec<u8> {
    serde_json::to_vec(entries).expect("texts and numbers")
}

fn is_sound(entry: &TodoEntry) -> bool {
    let origin: Origin = "https://example.org".parse().expect("an origin");
    let is_short = |text: Option<&String>, bytes_max| text.is_none_or(|text| text.len() <= bytes_max);
    origin.url_at(&entry.path_and_query).is_ok()
        && entry.known.last.as_ref().is_none_or(|last| {
            is_short(last.etag.as_ref(), LastCapture::ETAG_BYTES_MAX)
                && is_short(last.last_modified.as_ref(), LastCapture::LAST_MODIFIED_BYTES_MAX)
        })
}
