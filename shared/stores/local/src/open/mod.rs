//! Opening a data directory: whether it is ours and free, and how SQLite is set up.

mod reading;

use std::fmt::Display;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{io, thread};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::db::schema::{self, FileState};

pub use reading::Reading;
pub(crate) use reading::for_reading;

/// The database within a data directory.
pub const DATABASE: &str = "dragline.db";

/// The file that is locked while a process writes.
const LOCK: &str = "lock";

/// How often to try for the lock, and the pause between two tries.
const LOOKS_MAX: u32 = 10;
const LOOK_TIME: Duration = Duration::from_millis(20);

/// How long to wait for somebody who writes to the database by hand.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The size of a page of a new database. What is written for a crawled page is large, and is copied
/// and looked up page by page: over 10,000 of them this thread needs a fifth less time than with
/// SQLite's default of 4096, and no less with 16,384. While most URLs are new, a smaller size is
/// better.
const PAGE_BYTES: i64 = 8192;

/// How much is written to the log until it is copied to the database. A page that was written
/// several times is copied once.
const LOG_BYTES: i64 = 16 << 20;

/// How many compiled statements are kept: all of them.
const STATEMENTS_MAX: usize = 128;

/// Why a data directory cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process writes to it.
    #[error("{} is in use by another dragline process", .0.display())]
    InUse(PathBuf),
    /// It contains other things.
    #[error("{} is not empty and holds no crawl", .0.display())]
    NotADataDirectory(PathBuf),
    /// There is nothing to read.
    #[error("{} holds no crawl", .0.display())]
    NoCrawl(PathBuf),
    /// The database file is something else.
    #[error("{} is not a dragline database", .0.display())]
    NotOurs(PathBuf),
    /// Another version wrote it.
    #[error("{} has format {found}, and this dragline reads format {known}", path.display())]
    OtherFormat {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: i32,
        /// The format that this program reads.
        known: i32,
    },
    /// Remains of forgotten URLs can still be read in the file.
    #[error("the URLs are forgotten, but remains of them are still in {}: {}", path.display(), cause.reason())]
    Remains {
        /// The database.
        path: PathBuf,
        /// What kept them from being removed.
        cause: Remaining,
    },
    /// The system refused.
    #[error("cannot open {}: {cause}", path.display())]
    Failed {
        /// The directory.
        path: PathBuf,
        /// The system's message.
        cause: String,
    },
}

/// What keeps remains of forgotten URLs in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remaining {
    /// Other processes are reading an older state of it.
    Readers,
    /// There is no room to write it anew.
    DiskFull,
}

impl Remaining {
    const fn reason(self) -> &'static str {
        match self {
            Self::Readers => "another process is reading it",
            Self::DiskFull => "the disk has too little room to write it anew",
        }
    }
}

impl OpenError {
    /// Returns what to do about it; `None` where only the system can tell.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::InUse(_) => Some("wait for it to end, or name another directory"),
            Self::NotADataDirectory(_) => Some("name a new or an empty directory"),
            Self::NoCrawl(_) => Some("run `dragline crawl` with it first"),
            Self::NotOurs(_) => Some("name another directory"),
            Self::OtherFormat { .. } => {
                Some("crawl anew into another directory (`--data`), or use the version that wrote it")
            }
            Self::Remains { cause: Remaining::Readers, .. } => {
                Some("when nobody reads it any more, run the same command again: it removes them")
            }
            Self::Remains { cause: Remaining::DiskFull, .. } => {
                Some("free as much disk space as the database takes, and run the same command again: it removes them")
            }
            Self::Failed { .. } => None,
        }
    }

    pub(crate) fn failed(path: &Path, cause: impl Display) -> Self {
        Self::Failed { path: path.to_owned(), cause: cause.to_string() }
    }
}

/// Opens, or makes, a data directory for this process alone. The lock is held as long as the
/// returned file is open.
pub(crate) fn for_writing(directory: &Path) -> Result<(Connection, File), OpenError> {
    let failed = |e: &dyn Display| OpenError::failed(directory, e);
    fs::create_dir_all(directory).map_err(|e| failed(&e))?;
    if !is_usable(directory).map_err(|e| failed(&e))? {
        return Err(OpenError::NotADataDirectory(directory.to_owned()));
    }
    let lock = OpenOptions::new().create(true).append(true).open(directory.join(LOCK)).map_err(|e| failed(&e))?;
    take(&lock, directory)?;
    let path = directory.join(DATABASE);
    let mut connection = Connection::open(&path).map_err(|e| failed(&e))?;
    let found = ours(&connection, &path)?;
    set_up(&connection).and_then(|()| schema::prepare(&mut connection, found)).map_err(|e| failed(&e))?;
    Ok((connection, lock))
}

/// Takes the lock. A process that only checks the lock holds it for a moment: that is waited for.
fn take(lock: &File, directory: &Path) -> Result<(), OpenError> {
    for _ in 0..LOOKS_MAX {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => thread::sleep(LOOK_TIME),
            Err(TryLockError::Error(e)) => return Err(OpenError::failed(directory, e)),
        }
    }
    Err(OpenError::InUse(directory.to_owned()))
}

/// Whether a process has a data directory for itself. Makes nothing there, and does not get in that
/// process's way.
pub(crate) fn is_in_use(directory: &Path) -> Result<bool, OpenError> {
    let lock = match File::open(directory.join(LOCK)) {
        Ok(lock) => lock,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(OpenError::failed(directory, e)),
    };
    match lock.try_lock_shared() {
        // The lock is released with the file.
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(e)) => Err(OpenError::failed(directory, e)),
    }
}

/// Whether a directory is empty or a data directory. Hidden files do not count.
fn is_usable(directory: &Path) -> io::Result<bool> {
    if directory.join(DATABASE).exists() {
        return Ok(true);
    }
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        if name != LOCK && !name.as_encoded_bytes().starts_with(b".") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns what the database is; an error unless it is empty or can be used.
fn ours(connection: &Connection, path: &Path) -> Result<FileState, OpenError> {
    match schema::inspect(connection) {
        Ok(FileState::Foreign) => Err(OpenError::NotOurs(path.to_owned())),
        Ok(FileState::OtherFormat(found)) => {
            Err(OpenError::OtherFormat { path: path.to_owned(), found, known: schema::FORMAT })
        }
        Ok(found) => Ok(found),
        Err(e) if e.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            Err(OpenError::NotOurs(path.to_owned()))
        }
        Err(e) => Err(OpenError::failed(path, e)),
    }
}

fn set_up(connection: &Connection) -> Result<(), crate::db::StoreError> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    // An existing file keeps the size that it has.
    let page_bytes: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_BYTES / page_bytes)?;
    // Killing the process loses nothing. A power cut may lose the last commits, but never damages
    // the file.
    connection.pragma_update(None, "synchronous", "normal")?;
    // Each reference would be looked up at each write. Operations write what they refer to before;
    // the tests check that nothing refers to nothing.
    connection.pragma_update(None, "foreign_keys", false)?;
    // Query plans must not depend on bound values: otherwise each statement is compiled again when
    // those change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Temporary data stays in memory: opening a file for it can fail when the crawl has many open.
    connection.pragma_update(None, "temp_store", "memory")?;
    // In KiB, when negative.
    connection.pragma_update(None, "cache_size", -10_240)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(())
}
