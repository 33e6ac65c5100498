//! Facts about rows that later writes do not read: the size of a chunk, by which its deletion is
//! billed; and the counts of a held lease, with its position in the index.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::dynamo::Key;

/// The most rows remembered. A turn has one chunk and one lease at a time.
const ROWS_MAX: usize = 1_000;

/// A bounded memory.
pub(super) struct RowMemory<T>(Mutex<HashMap<Key, T>>);

impl<T> RowMemory<T> {
    pub(super) fn remember(&self, key: &Key, what: T) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.len() < ROWS_MAX || rows.contains_key(key) {
            rows.insert(key.clone(), what);
        }
    }

    /// Returns the fact about a row, and forgets it.
    pub(super) fn forget(&self, key: &Key) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key)
    }
}

impl<T> Default for RowMemory<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}
