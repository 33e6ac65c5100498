//! Recovery from a crash, when the directory is next opened: the lock proves that no other process
//! uses it.

use std::path::Path;

use dragline_domain::frontier::{HostRow, Lease, ObjectKey, OriginKey};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::{HostKey, Origin};
use jiff::Timestamp;

use crate::archive::{delete, list_files};
use crate::db::values::{Json, Text, Time};
use crate::db::{Db, OriginRowId, StoreError};

/// Why recovery failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecoveryError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("an orphaned object cannot be deleted: {0}")]
    Io(#[from] std::io::Error),
}

impl From<rusqlite::Error> for RecoveryError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Marks every running parse as crashed: it is counted when the next begins.
pub(crate) fn end_parses(db: &Db, now: Timestamp) -> Result<(), RecoveryError> {
    let sql = "UPDATE segment SET parsing = json_set(parsing, '$.until', ?1) WHERE parsing IS NOT NULL";
    db.execute(sql, [Time(now)])?;
    Ok(())
}

/// Voids every held lease with its host, and deletes the objects that its holder wrote and did not
/// commit.
pub(crate) fn void_leases(db: &Db, directory: &Path, now: Timestamp) -> Result<(), RecoveryError> {
    let transaction = db.connection.unchecked_transaction()?;
    db.clear_domains()?;
    for (name, row) in db.hosts()? {
        db.update_host(&name, &row.void(now))?;
    }
    for (origin_id, key, lease) in held_leases(db)? {
        delete_orphans(db, directory, &key, &lease)?;
        let iteration = db.iteration(&key.crawl, lease.iteration)?.ok_or(StoreError::Missing("such iteration"))?;
        if let Some((lease, iteration)) = lease.void(&iteration, now) {
            let host = HostKey::from_origin(&key.origin);
            db.put_host(&host, &HostRow::void_with(db.host(&host)?.as_ref(), &lease, now))?;
            db.put_lease(origin_id, &lease)?;
            db.update_iteration(&iteration)?;
        }
    }
    Ok(transaction.commit()?)
}

fn held_leases(db: &Db) -> Result<Vec<(OriginRowId, OriginKey, Lease)>, StoreError> {
    let sql = "SELECT o.id, c.name, o.origin, l.record FROM lease l
               JOIN origin o ON o.id = l.origin_id JOIN crawl c ON c.id = o.crawl_id WHERE l.state = 'leased'";
    db.all(sql, [], |row| {
        let key = OriginKey { crawl: row.get::<_, Text<CrawlId>>(1)?.0, origin: row.get::<_, Text<Origin>>(2)?.0 };
        Ok((row.get(0)?, key, row.get::<_, Json<Lease>>(3)?.0))
    })
}

/// Deletes the objects under the turn's prefix that belong to no segment, including partially
/// written files.
fn delete_orphans(db: &Db, directory: &Path, key: &OriginKey, lease: &Lease) -> Result<(), RecoveryError> {
    let prefix = ObjectKey::turn_prefix(key, lease.iteration, lease.turn);
    for path in list_files(directory, &prefix, None, usize::MAX, |_| true)? {
        if db.find("SELECT 1 FROM segment WHERE object = ?1", [&path], |_| Ok(()))?.is_none() {
            tracing::info!(object = path, "deleting an object that was never committed");
            delete(&directory.join(path))?;
        }
    }
    Ok(())
}
