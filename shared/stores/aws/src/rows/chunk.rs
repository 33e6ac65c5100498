//! Todo chunks: deflated entries, written once and deleted when they are exhausted.

use dragline_domain::frontier::{OriginKey, TodoChunk};

use super::packed::{pack, unpack};
use super::{fields, keys, row};
use crate::dynamo::{Item, Role, Write};
use crate::errors::StoreError;
use crate::tables::SORT;

const ENTRIES: &str = "entries";
const JSON_BYTES: &str = "json_bytes";

/// Puts a chunk if there is none.
pub(crate) fn put(origin: &OriginKey, chunk: &TodoChunk) -> Result<Write, StoreError> {
    let key = keys::chunk(origin, &chunk.key);
    let (entries, json_bytes) = pack(&chunk.entries)?;
    let item = row(&key, [(ENTRIES, entries), (JSON_BYTES, json_bytes)]);
    Ok(Write::put(Role::Chunk, &key, item).if_absent())
}

pub(crate) fn read(item: &Item) -> Result<TodoChunk, StoreError> {
    let fields = fields(item)?;
    Ok(TodoChunk { key: keys::chunk_key(fields.text(SORT)?)?, entries: unpack(fields, ENTRIES, JSON_BYTES)? })
}
