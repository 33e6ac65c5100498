//! What was captured, in a temporary file: which objects there are, which bodies were written, and the lines of the index.

use dragline_formats::warc::Sha1Digest;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::ArchiveError;

/// A response whose body was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) url: String,
    /// Its `WARC-Date`, as written.
    pub(crate) date: String,
}

/// The temporary file. SQLite deletes it when it is closed, and keeps it in memory as long as it is small.
pub(crate) struct Captures(Connection);

impl Captures {
    pub(crate) fn new() -> Result<Self, ArchiveError> {
        // The empty name is that of a temporary file.
        let db = Connection::open("")?;
        db.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
             CREATE TABLE object (key TEXT PRIMARY KEY) WITHOUT ROWID;
             CREATE TABLE body (digest BLOB PRIMARY KEY, url TEXT NOT NULL, date TEXT NOT NULL) WITHOUT ROWID;
             CREATE TABLE line (key TEXT NOT NULL, json TEXT NOT NULL);
             BEGIN;",
        )?;
        Ok(Self(db))
    }

    /// Notes an object, unless it is known.
    pub(crate) fn add_object(&self, key: &str) -> Result<(), ArchiveError> {
        self.0.prepare_cached("INSERT OR IGNORE INTO object VALUES (?)")?.execute([key])?;
        Ok(())
    }

    /// Returns the first object after another one, in order; `None` after the last.
    pub(crate) fn object_after(&self, key: &str) -> Result<Option<String>, ArchiveError> {
        let mut next = self.0.prepare_cached("SELECT key FROM object WHERE key > ? ORDER BY key LIMIT 1")?;
        Ok(next.query_row([key], |row| row.get(0)).optional()?)
    }

    /// Returns the response that was written with this body; otherwise notes that this one is, and returns `None`.
    pub(crate) fn body(&self, digest: &Sha1Digest, written: &Written) -> Result<Option<Written>, ArchiveError> {
        let mut find = self.0.prepare_cached("SELECT url, date FROM body WHERE digest = ?")?;
        let read = |row: &rusqlite::Row<'_>| Ok(Written { url: row.get(0)?, date: row.get(1)? });
        let earlier = find.query_row([digest.as_bytes().as_slice()], read).optional()?;
        if earlier.is_none() {
            let mut note = self.0.prepare_cached("INSERT INTO body VALUES (?, ?, ?)")?;
            note.execute(params![digest.as_bytes().as_slice(), written.url, written.date])?;
        }
        Ok(earlier)
    }

    /// Adds a line to the index.
    pub(crate) fn add_line(&self, key: &str, json: &str) -> Result<(), ArchiveError> {
        self.0.prepare_cached("INSERT INTO line VALUES (?, ?)")?.execute([key, json])?;
        Ok(())
    }

    /// Calls back with each line of the index, in order.
    pub(crate) fn each_line(
        &self,
        mut visit: impl FnMut(&str, &str) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        let mut lines = self.0.prepare("SELECT key, json FROM line ORDER BY key, rowid")?;
        let mut rows = lines.query([])?;
        while let Some(row) = rows.next()? {
            visit(row.get_ref(0)?.as_str().unwrap_or_default(), row.get_ref(1)?.as_str().unwrap_or_default())?;
        }
        Ok(())
    }
}
