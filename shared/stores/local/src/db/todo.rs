//! Rows of `todo`: chunks of claimed URLs, deflated.

use dragline_domain::frontier::{ChunkKey, TodoChunk, TodoPlace, TodoSource};
use dragline_domain::ids::Iteration;
use dragline_formats::deflated::{self, CompressionGoal, deflate};
use rusqlite::params;

use super::{Db, OriginRowId, StoreError};

/// The maximum size of a chunk's JSON. [`dragline_domain::frontier::CHUNK_BYTES_MAX`] is far below;
/// one URL with its entity tag may exceed that.
const JSON_BYTES_MAX: usize = 4 << 20;

impl Db {
    pub(crate) fn chunk(&self, origin: OriginRowId, key: &ChunkKey) -> Result<Option<TodoChunk>, StoreError> {
        let sql = "SELECT entries, json_bytes FROM todo
                   WHERE origin_id = ?1 AND iteration = ?2 AND depth = ?3 AND source = ?4 AND part = ?5";
        let row = params![origin, key.iteration.number(), key.place.stored(), key.source.as_str(), key.part];
        let stored = self.find(sql, row, |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, usize>(1)?)))?;
        let Some((deflated, json_bytes)) = stored else { return Ok(None) };
        Ok(Some(TodoChunk { key: key.clone(), entries: serde_json::from_slice(&inflate(&deflated, json_bytes)?)? }))
    }

    /// Returns the key of the first chunk, in key order, that is not in `skip`.
    pub(crate) fn first_chunk_key(
        &self,
        origin: OriginRowId,
        iteration: Iteration,
        skip: &[ChunkKey],
    ) -> Result<Option<ChunkKey>, StoreError> {
        // Among one more than are skipped, at least one is not skipped.
        let limit = skip.len().saturating_add(1);
        let sql = "SELECT depth, source, part FROM todo WHERE origin_id = ?1 AND iteration = ?2
                   ORDER BY depth, source, part LIMIT ?3";
        let keys = self.all(sql, params![origin, iteration.number(), limit], |row| {
            Ok(ChunkKey {
                iteration,
                place: TodoPlace::from_stored(row.get(0)?),
                source: TodoSource::from_stored(row.get(1)?),
                part: row.get(2)?,
            })
        })?;
        Ok(keys.into_iter().find(|key| !skip.contains(key)))
    }

    /// Puts a chunk if there is none with its key.
    pub(crate) fn put_chunk(&self, origin: OriginRowId, chunk: &TodoChunk) -> Result<(), StoreError> {
        let json = serde_json::to_vec(&chunk.entries)?;
        if json.len() > JSON_BYTES_MAX {
            return Err(StoreError::OutOfRange("the size of a todo chunk"));
        }
        let sql = "INSERT OR IGNORE INTO todo (origin_id, iteration, depth, source, part, urls, json_bytes, entries)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let key = &chunk.key;
        self.execute(
            sql,
            params![
                origin,
                key.iteration.number(),
                key.place.stored(),
                key.source.as_str(),
                key.part,
                chunk.entries.len(),
                json.len(),
                deflate(&json, CompressionGoal::Time),
            ],
        )?;
        Ok(())
    }

    /// Deletes a chunk, which must exist.
    pub(crate) fn delete_chunk(&self, origin: OriginRowId, key: &ChunkKey) -> Result<(), StoreError> {
        let sql =
            "DELETE FROM todo WHERE origin_id = ?1 AND iteration = ?2 AND depth = ?3 AND source = ?4 AND part = ?5";
        let row = params![origin, key.iteration.number(), key.place.stored(), key.source.as_str(), key.part];
        if self.execute(sql, row)? == 0 {
            return Err(StoreError::Damaged("a todo chunk was consumed before it was exhausted".to_owned()));
        }
        Ok(())
    }

    /// Deletes whatever an origin has left in an iteration.
    pub(crate) fn delete_chunks(&self, origin: OriginRowId, iteration: Iteration) -> Result<(), StoreError> {
        let sql = "DELETE FROM todo WHERE origin_id = ?1 AND iteration = ?2";
        self.execute(sql, params![origin, iteration.number()])?;
        Ok(())
    }
}

fn inflate(deflated: &[u8], json_bytes: usize) -> Result<Vec<u8>, StoreError> {
    let json = if json_bytes > JSON_BYTES_MAX { None } else { deflated::inflate(deflated, json_bytes) };
    json.ok_or_else(|| StoreError::Damaged("a todo chunk cannot be inflated".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_that_would_be_too_large_is_damaged() {
        let json = vec![b' '; 9];
        let deflated = deflate(&json, CompressionGoal::Time);
        assert_eq!(inflate(&deflated, json.len()).unwrap(), json);
        assert!(inflate(&deflated, JSON_BYTES_MAX + 1).is_err(), "over the maximum");
    }
}
