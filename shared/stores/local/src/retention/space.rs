//! Releasing the space of deleted data.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use crate::db::{Db, StoreError};
use crate::open::{self, DATABASE, OpenError, Remaining};
use crate::store::LEASE_GRACE;

/// The directory of the objects.
const OBJECTS: &str = "raw";

/// The database is rewritten only if one part in this many is free. The next crawl fills less.
const FREE_PART: i64 = 4;

/// How long to wait for readers of the database, whose snapshots keep old data in it.
const READERS_TIMEOUT: Duration = Duration::from_secs(1);

/// When to rewrite the database. It always is while remains of forgotten URLs have to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compaction {
    /// If a quarter of it is free.
    IfWorthIt,
    /// Only if something was forgotten since it was last rewritten: no remains of that may stay in
    /// the file.
    IfOwed,
}

/// The result of releasing the space of deleted rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionResult {
    /// The bytes by which the database has shrunk.
    pub bytes: u64,
    /// The free bytes in it, which are reused.
    pub free_bytes: u64,
    /// Whether the disk had too little room to rewrite the database.
    pub was_full: bool,
}

/// Rewrites the database if wanted, and removes empty directories of objects.
///
/// It uses `VACUUM` rather than `incremental_vacuum`, which needs a file with pointer maps, a cost
/// for each commit of a crawl, and leaves remains of deleted rows in pages that stay. `VACUUM`
/// needs as much room beside the file as the new file takes; without that the free pages stay.
pub(crate) fn compact(directory: &Path, compaction: Compaction) -> Result<CompactionResult, OpenError> {
    let (connection, _lock) = open::for_writing(directory)?;
    let (db, path) = (Db { connection, lease_grace: LEASE_GRACE }, directory.join(DATABASE));
    let (released, remaining) = write_anew(&db, compaction).map_err(|error| OpenError::failed(&path, error))?;
    if let Some(cause) = remaining {
        return Err(OpenError::Remains { path, cause });
    }
    remove_empty(&directory.join(OBJECTS)).map_err(|error| OpenError::failed(directory, error))?;
    Ok(released)
}

/// Rewrites the database if wanted or owed. Also returns what keeps remains of forgotten URLs in
/// the file, if anything does: then the rewrite is still owed.
fn write_anew(db: &Db, compaction: Compaction) -> Result<(CompactionResult, Option<Remaining>), StoreError> {
    let connection = &db.connection;
    let (before, is_owed) = (pages(connection)?, db.owes_writing_anew()?);
    let is_worth_it = match compaction {
        Compaction::IfWorthIt => before.free > 0 && before.free >= before.all / FREE_PART,
        Compaction::IfOwed => false,
    };
    let vacuumed = if is_owed || is_worth_it { vacuum(connection) } else { Ok(()) };
    let was_full = match vacuumed {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => true,
        vacuumed => vacuumed.map(|()| false)?,
    };
    // The write-ahead log holds deleted data. It cannot be emptied while somebody reads an older
    // state.
    connection.busy_timeout(READERS_TIMEOUT)?;
    let is_read: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    let remaining = match (was_full, is_read) {
        _ if !is_owed => None,
        (true, _) => Some(Remaining::DiskFull),
        (false, true) => Some(Remaining::Readers),
        (false, false) => None,
    };
    if is_owed && remaining.is_none() {
        db.put_written_anew()?;
    }
    let after = pages(connection)?;
    let bytes = |pages: i64| u64::try_from(pages * after.bytes).unwrap_or(0);
    let released = CompactionResult { bytes: bytes(before.all - after.all), free_bytes: bytes(after.free), was_full };
    Ok((released, remaining))
}

/// Runs `VACUUM` with its copy in a file: elsewhere temporary data stays in memory.
fn vacuum(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "temp_store", "file")?;
    connection.execute_batch("VACUUM")
}

/// The pages of a database.
struct Pages {
    all: i64,
    free: i64,
    /// The size of a page.
    bytes: i64,
}

fn pages(connection: &Connection) -> rusqlite::Result<Pages> {
    let number = |pragma: &str| connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0));
    Ok(Pages { all: number("page_count")?, free: number("freelist_count")?, bytes: number("page_size")? })
}

/// Removes empty directories, innermost first. Keys have five parts.
fn remove_empty(directory: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut is_empty = true;
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_empty(&entry.path())?;
            is_empty &= !entry.path().exists();
        } else {
            is_empty = false;
        }
    }
    if is_empty { fs::remove_dir(directory) } else { Ok(()) }
}
