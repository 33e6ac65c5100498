//! Opening a database to read it, even where nothing can be written: read-only media, another
//! user's directory, a copy.
//!
//! SQLite reads a database with a write-ahead log through an index in a file of its own, `-shm`. If
//! that file neither exists nor can be made, SQLite gives up. There are two ways out, one for each
//! case.

use std::fmt;
use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use dragline_domain::definition::Definition;
use dragline_domain::ids::CrawlId;
use dragline_ports::error::{PortError, PortResult};
use dragline_ports::frontier::CrawlRow;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{BUSY_TIMEOUT, DATABASE, LOCK, OpenError, ours};
use crate::db::schema::FileState;
use crate::db::{Db, StoreError};
use crate::store::{Allowance, LEASE_GRACE};

/// A database that is open for reading.
pub struct Reading {
    db: Db,
    /// Keeps a crawl from beginning while SQLite has been told that nobody writes.
    _nobody_writes: Option<File>,
}

impl Reading {
    fn new(connection: Connection, nobody_writes: Option<File>) -> Self {
        // A reader writes no due times.
        Self { db: Db { connection, lease_grace: LEASE_GRACE }, _nobody_writes: nobody_writes }
    }

    pub(crate) const fn db(&self) -> &Db {
        &self.db
    }

    /// Returns the crawls in the data directory by name, those that have not begun included.
    ///
    /// # Errors
    /// Fails if the database cannot be read.
    pub fn crawls(&self) -> PortResult<Vec<CrawlId>> {
        self.db.crawl_names().map_err(|error| self.failed("read crawls", error))
    }

    /// Returns a crawl with the newest version of its definition; `None` if there is none of this
    /// name.
    ///
    /// # Errors
    /// Fails if the database cannot be read.
    pub fn load_crawl(&self, crawl: &CrawlId) -> PortResult<Option<CrawlRow>> {
        self.db.crawl(crawl).map_err(|error| self.failed("load crawl", error))
    }

    /// Returns this version of a crawl's definition as it was stored; `None` if there never was
    /// one.
    ///
    /// # Errors
    /// Fails if the database cannot be read.
    pub fn load_definition(&self, crawl: &CrawlId, version: u32) -> PortResult<Option<Definition>> {
        self.db.definition(crawl, version).map_err(|error| self.failed("load definition", error))
    }

    /// Returns what a crawl was ever allowed.
    ///
    /// # Errors
    /// Fails if the database cannot be read.
    pub fn allowed(&self, crawl: &CrawlId) -> PortResult<Vec<Allowance>> {
        let mut allowed = Vec::new();
        for allowance in Allowance::ALL {
            let is_allowed = self.db.is_allowed(crawl, allowance);
            if is_allowed.map_err(|error| self.failed("read settings", error))? {
                allowed.push(allowance);
            }
        }
        Ok(allowed)
    }

    fn failed(&self, operation: &'static str, error: StoreError) -> PortError {
        let subject = self.db.connection.path().unwrap_or_default().to_owned();
        PortError::new(error.kind(), operation, subject, error)
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reading").field(&self.db.connection).finish()
    }
}

impl Deref for Reading {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.db.connection
    }
}

/// Opens the database of a data directory for reading. Makes no file of ours, and takes no lock
/// that a crawl has to wait for unless nothing can be written there.
pub(crate) fn for_reading(directory: &Path) -> Result<Reading, OpenError> {
    let path = directory.join(DATABASE);
    if !path.is_file() {
        return Err(OpenError::NoCrawl(directory.to_owned()));
    }
    let opened = match shared(&path) {
        Err(error) if is_nothing_writable(&error) => alone(directory, &path),
        opened => opened,
    };
    let reading = opened.map_err(|error| refused(&path, &error))?;
    match ours(&reading, &path)? {
        FileState::Ours => Ok(reading),
        _ => Err(OpenError::NoCrawl(directory.to_owned())),
    }
}

fn refused(path: &Path, error: &rusqlite::Error) -> OpenError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::NotOurs(path.to_owned()),
        _ => OpenError::failed(path, error),
    }
}

const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Opens it while others may read and write.
fn shared(path: &Path) -> rusqlite::Result<Reading> {
    let connection = Connection::open_with_flags(path, FLAGS)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    touch(&connection)?;
    Ok(Reading::new(connection, None))
}

/// Opens it where the files beside the database cannot be made, so no crawl on this machine has
/// them open.
fn alone(directory: &Path, path: &Path) -> rusqlite::Result<Reading> {
    let wal = beside(path, "-wal");
    if wal.metadata().is_ok_and(|wal| wal.len() > 0) {
        return with_log(path);
    }
    // Another user may be crawling there. SQLite is told that nobody writes, so nobody must: the
    // directory is in use until reading ends.
    let lock = match File::open(directory.join(LOCK)) {
        Ok(lock) => match lock.try_lock_shared() {
            Ok(()) => Some(lock),
            // Somebody is just beginning or ending: the files are there.
            Err(std::fs::TryLockError::WouldBlock) => return shared(path),
            // The file system has no locks.
            Err(std::fs::TryLockError::Error(_)) => None,
        },
        // A copy without the lock file.
        Err(_) => None,
    };
    let connection = Connection::open_with_flags(immutable(path), FLAGS | OpenFlags::SQLITE_OPEN_URI)?;
    touch(&connection)?;
    Ok(Reading::new(connection, lock))
}

/// Opens what a killed process left, or a copy of it: the latest data is only in the log. The index
/// is kept in this process's memory, which SQLite does for an exclusive user, and it takes no locks
/// on what it cannot write.
#[cfg(unix)]
fn with_log(path: &Path) -> rusqlite::Result<Reading> {
    let connection = Connection::open_with_flags_and_vfs(path, FLAGS, c"unix-none")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "locking_mode", "exclusive")?;
    touch(&connection)?;
    Ok(Reading::new(connection, None))
}

#[cfg(not(unix))]
fn with_log(path: &Path) -> rusqlite::Result<Reading> {
    shared(path)
}

/// Reads something, which makes SQLite open the files.
fn touch(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

/// Whether the error is a file that cannot be made, or a lock that cannot be had.
fn is_nothing_writable(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the URI of a database that nobody changes.
fn immutable(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => uri.push(char::from(*byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri + "?immutable=1"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_means_itself_within_a_uri() {
        for (path, expected) in [
            ("data/dragline.db", "file:data/dragline.db?immutable=1"),
            ("/srv/a b?c#d%/ä.db", "file:/srv/a%20b%3Fc%23d%25/%C3%A4.db?immutable=1"),
        ] {
            assert_eq!(immutable(Path::new(path)), expected);
        }
    }
}
