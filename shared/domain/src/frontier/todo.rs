//! Claimed URLs that wait, in chunks.

use serde::{Deserialize, Serialize};

use super::{ChunkKey, LastCapture, TodoSource};
use crate::ids::Iteration;
use crate::url::CrawlUrl;

/// A chunk's entries as JSON are at most so large, so that deflated it stays below 64 KB, however badly it compresses.
pub const CHUNK_BYTES_MAX: usize = 60_000;

/// A claimed URL that waits to be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TodoEntry {
    /// The URL within its origin.
    #[serde(rename = "u")]
    pub path_and_query: String,
    /// The page that led to it; absent for a seed.
    #[serde(rename = "v", default, skip_serializing_if = "Option::is_none")]
    pub via: Option<CrawlUrl>,
    /// Redirects and canonical links followed in a row to get here.
    #[serde(rename = "r", default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub redirects: u8,
    /// What its last good capture left; absent if it is new.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastCapture>,
}

/// Todo of one origin and depth from one source. Written once, consumed by offset, deleted when exhausted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoChunk {
    /// Where it stands in the order.
    pub key: ChunkKey,
    /// In the order in which they were found.
    pub entries: Vec<TodoEntry>,
}

impl TodoEntry {
    /// An upper bound of the entry's size as JSON. URLs are ASCII without quotes or backslashes, or nearly so: twice their length is enough.
    fn json_bytes_max(&self) -> usize {
        let last = self.last.as_ref().map_or(0, |last| {
            let text = last.etag.as_ref().map_or(0, String::len) + last.last_modified.as_ref().map_or(0, String::len);
            500 + 6 * text
        });
        self.path_and_query.len() + self.via.as_ref().map_or(0, |via| via.as_str().len()) + last + 40
    }
}

/// Splits the todo of one origin, source and depth into chunks within the size limit. The same entries give the same chunks.
#[must_use]
pub fn split_into_chunks(
    iteration: Iteration,
    depth: u32,
    source: &TodoSource,
    entries: impl IntoIterator<Item = TodoEntry>,
) -> Vec<TodoChunk> {
    let mut chunks: Vec<TodoChunk> = Vec::new();
    let mut bytes = usize::MAX;
    for entry in entries {
        let size = entry.json_bytes_max();
        match chunks.last_mut() {
            Some(chunk) if bytes.saturating_add(size) <= CHUNK_BYTES_MAX => {
                chunk.entries.push(entry);
                bytes += size;
            }
            _ => {
                let part = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
                let key = ChunkKey { iteration, depth, source: source.clone(), part };
                chunks.push(TodoChunk { key, entries: vec![entry] });
                bytes = size;
            }
        }
    }
    chunks
}
