//! How large the chunks were that were read: their deletion is billed by it, and does not say it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::dynamo::Key;

/// Chunks that are remembered at most. A turn reads one at a time.
const CHUNKS_MAX: usize = 1_000;

/// About what a chunk takes that nobody remembers.
const USUAL_BYTES: u64 = 4 << 10;

/// A bounded memory.
#[derive(Default)]
pub(super) struct ChunkSizes(Mutex<HashMap<Key, u64>>);

impl ChunkSizes {
    pub(super) fn remember(&self, key: &Key, bytes: u64) {
        let mut sizes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sizes.len() < CHUNKS_MAX || sizes.contains_key(key) {
            sizes.insert(key.clone(), bytes);
        }
    }

    /// The size of a chunk that is deleted now.
    pub(super) fn forget(&self, key: &Key) -> u64 {
        let mut sizes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sizes.remove(key).unwrap_or(USUAL_BYTES)
    }
}
