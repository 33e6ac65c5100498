//! What was seen of rows that later writes do not read, and are billed by: how large a chunk is that is deleted, where in the index a lease
//! was that is renewed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::dynamo::Key;

/// Rows that are remembered at most. A turn has one chunk and one lease at a time.
const ROWS_MAX: usize = 1_000;

/// A bounded memory.
pub(super) struct Noted<T>(Mutex<HashMap<Key, T>>);

impl<T> Noted<T> {
    pub(super) fn remember(&self, key: &Key, what: T) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.len() < ROWS_MAX || rows.contains_key(key) {
            rows.insert(key.clone(), what);
        }
    }

    /// What is known of a row, which is of no use any more.
    pub(super) fn forget(&self, key: &Key) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key)
    }
}

impl<T> Default for Noted<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}
