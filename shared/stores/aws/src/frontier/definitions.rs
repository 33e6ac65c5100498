//! Definitions: each version in immutable rows of its own, deflated and split, as thousands of
//! seeds may exceed the size of a row.

use dragline_domain::definition::Definition;
use dragline_domain::ids::CrawlId;

use super::DynamoFrontier;
use crate::dynamo::{Role, Write, blob, number};
use crate::errors::StoreError;
use crate::meter::capacity::ReadKind;
use crate::rows::{self, keys};

/// Where an earlier version of this program kept a definition, as JSON: also in the crawl's own
/// row.
pub(super) const DEFINITION: &str = "definition";

const PACKED: &str = "packed";
const JSON_BYTES: &str = "json_bytes";
const PARTS: &str = "parts";

/// The most bytes of a definition in one row, which holds 400 KB.
const PART_BYTES_MAX: usize = 350 << 10;

/// The most bytes of a definition, deflated: its parts and the crawl's row fit one transaction of 4
/// MB.
const BYTES_MAX: usize = 3 << 20;

impl DynamoFrontier {
    /// Returns this version of a definition; `None` if it has no row of its own.
    pub(super) async fn definition(&self, crawl: &CrawlId, version: u32) -> Result<Option<Definition>, StoreError> {
        let Some(first) = self.db.get(&keys::definition(crawl, version)).await? else { return Ok(None) };
        let fields = rows::fields(&first)?;
        if fields.has(DEFINITION) {
            return fields.json(DEFINITION).map(Some);
        }
        let further = (1..fields.number(PARTS)?).map(|part| keys::definition_part(crawl, version, part));
        let further: Vec<_> = further.collect();
        let stored = self.db.get_all(further.clone(), ReadKind::Consistent).await?;
        let mut packed = fields.blob(PACKED)?.to_vec();
        for key in &further {
            let part = stored.get(key).ok_or_else(|| StoreError::Damaged(format!("`{}` is missing", key.sort)))?;
            packed.extend_from_slice(rows::fields(part)?.blob(PACKED)?);
        }
        rows::inflate(&packed, fields.number(JSON_BYTES)?).map(Some)
    }
}

/// Returns the writes that put a new version of a definition.
pub(super) fn put_definition(definition: &Definition, version: u32) -> Result<Vec<Write>, StoreError> {
    let (packed, json_bytes) = rows::pack_bytes(definition)?;
    StoreError::check_size("the definition, deflated", packed.len(), BYTES_MAX)?;
    let crawl = &definition.name;
    let first = [(JSON_BYTES, json_bytes), (PARTS, number(packed.len().div_ceil(PART_BYTES_MAX) as u64))];
    let parts = (0..).zip(packed.chunks(PART_BYTES_MAX)).map(|(part, bytes)| {
        let (key, beside) = match part {
            0 => (keys::definition(crawl, version), &first[..]),
            _ => (keys::definition_part(crawl, version, part), &[][..]),
        };
        let attributes = beside.iter().cloned().chain([(PACKED, blob(bytes.to_vec()))]);
        Write::put(Role::Other, &key, rows::row(&key, attributes))
    });
    Ok(parts.collect())
}
