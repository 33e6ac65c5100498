//! robots.txt: deflated in its row or, if large, in an object that the row names.

use data_encoding::HEXLOWER;
use dragline_domain::frontier::{ObjectKey, OriginKey};
use dragline_domain::time::written_by;
use dragline_formats::robots::RobotsRecord;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{KeptRobots, RobotsRow};
use dragline_ports::reader::LeftoverRow;
use sha2::{Digest as _, Sha256};

use super::DynamoFrontier;
use crate::dynamo::{Expression, Fields, Item, Role, Write, blob, instant, text};
use crate::errors::{StoreError, at};
use crate::kinds::ROBOTS;
use crate::rows::{self, keys};

/// The most bytes stored in the row itself.
const ROW_BYTES_MAX: usize = 100 * 1_024;

const RECORD: &str = "record";
const JSON_BYTES: &str = "json_bytes";
const OBJECT: &str = "object";

impl KeptRobots for DynamoFrontier {
    async fn load_robots(&self, origin: &OriginKey) -> PortResult<Option<RobotsRow>> {
        at("load robots", origin, async {
            let Some(item) = self.db.get(&keys::robots(origin)).await? else { return Ok(None) };
            let fields = rows::fields(&item)?;
            let record = if fields.has(OBJECT) {
                let object = self.objects.get(&fields.parsed(OBJECT)?, ROBOTS).await?;
                // It may have been deleted together with unreferenced objects: robots.txt is then
                // requested again.
                let Some(object) = object else { return Ok(None) };
                rows::inflate(&object.bytes, fields.number(JSON_BYTES)?)?
            } else {
                read_record(fields)?
            };
            let (fetched_at, expires_at) = (fields.instant("fetched_at")?, fields.instant("expires_at")?);
            Ok(Some(RobotsRow { record, fetched_at, expires_at }))
        })
        .await
    }

    async fn put_robots(&self, origin: &OriginKey, robots: &RobotsRow) -> PortResult<()> {
        at("put robots", origin, async {
            let key = keys::robots(origin);
            let (packed, json_bytes) = rows::pack_bytes(&robots.record)?;
            let record = if packed.len() <= ROW_BYTES_MAX {
                (RECORD, blob(packed))
            } else {
                let object = object_key(origin, &packed)?;
                // An object of the same name has the same content.
                self.objects.put_new(&object, ROBOTS, packed).await?;
                (OBJECT, text(object.as_str()))
            };
            let times = [("fetched_at", instant(robots.fetched_at)), ("expires_at", instant(robots.expires_at))];
            let item = rows::row(&key, [record, (JSON_BYTES, json_bytes)].into_iter().chain(times));
            let is_newer =
                Expression::new("attribute_not_exists(#sk) OR #fetched_at <= :fetched_at OR #fetched_at > :ahead")
                    .with(":fetched_at", instant(robots.fetched_at))
                    .with(":ahead", instant(written_by(robots.fetched_at)));
            // Refused: the stored one was fetched later, and stays.
            self.db.write(&Write::put(Role::Other, &key, item).when(is_newer)).await.map(|_| ())
        })
        .await
    }
}

/// Reads a record that is stored in its row.
fn read_record(fields: Fields<'_>) -> Result<RobotsRecord, StoreError> {
    rows::inflate(fields.blob(RECORD)?, fields.number(JSON_BYTES)?)
}

/// Reads the error of robots.txt; `None` if it was answered. Errors are short, so they are never in
/// an object.
pub(super) fn read_robots_error(item: &Item) -> Result<Option<String>, StoreError> {
    let fields = rows::fields(item)?;
    let record = (!fields.has(OBJECT)).then(|| read_record(fields)).transpose()?;
    Ok(record.as_ref().and_then(LeftoverRow::robots_error))
}

/// Returns the object's key. Each content has its own, so objects are never overwritten.
fn object_key(origin: &OriginKey, content: &[u8]) -> Result<ObjectKey, StoreError> {
    let digest = HEXLOWER.encode(&Sha256::digest(content));
    let key = format!("robots/{}/{digest}.json.deflate", origin.crawl);
    ObjectKey::try_from(key).map_err(|e| StoreError::Damaged(e.to_string()))
}
