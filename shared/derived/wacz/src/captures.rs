//! The captures of an archive, in a temporary file: objects, written bodies, the heads of answers
//! that later ones confirm, and the lines of the index.

use dragline_domain::ids::Iteration;
use dragline_formats::warc::{RecordId, RecordSpan, Sha1Digest};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::error::ArchiveError;

/// A written response with its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenBody {
    /// Its `WARC-Target-URI`.
    pub(crate) url: String,
    /// Its `WARC-Date`.
    pub(crate) date: Timestamp,
    pub(crate) id: RecordId,
}

/// An answer that a later one of the same URL confirms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfirmedAnswer {
    /// Its HTTP head.
    pub(crate) head: Vec<u8>,
    /// The digest of its body.
    pub(crate) payload_digest: Sha1Digest,
    /// The record with its body: its own, or the one that it refers to.
    pub(crate) body_in: WrittenBody,
}

/// The temporary file. SQLite keeps it in memory while it is small, and deletes it when it is
/// closed.
pub(crate) struct Captures(Connection);

impl Captures {
    pub(crate) fn new() -> Result<Self, ArchiveError> {
        // SQLite creates a temporary file for the empty name.
        let db = Connection::open("")?;
        db.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
             CREATE TABLE object (place TEXT PRIMARY KEY, key TEXT NOT NULL, iteration INTEGER NOT NULL) WITHOUT ROWID;
             CREATE TABLE body (digest BLOB PRIMARY KEY, url TEXT NOT NULL, date TEXT NOT NULL, id TEXT NOT NULL) WITHOUT ROWID;
             CREATE TABLE answer (url TEXT NOT NULL, at TEXT NOT NULL, digest BLOB NOT NULL, head BLOB NOT NULL,
                                  body_url TEXT NOT NULL, body_date TEXT NOT NULL, body_id TEXT NOT NULL, PRIMARY KEY (url, at));
             CREATE TABLE postponed (object TEXT NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL);
             CREATE TABLE line (key TEXT NOT NULL, json TEXT NOT NULL);
             BEGIN;",
        )?;
        Ok(Self(db))
    }

    /// Adds an object, unless it is known.
    pub(crate) fn add_object(&self, key: &str, iteration: Iteration) -> Result<(), ArchiveError> {
        let mut note = self.0.prepare_cached("INSERT OR IGNORE INTO object VALUES (?, ?, ?)")?;
        note.execute(params![place(key), key, iteration.number()])?;
        Ok(())
    }

    /// Returns the object after `last`, older iterations and turns first; `None` after the last.
    /// Advances `last`.
    pub(crate) fn next_object(&self, last: &mut String) -> Result<Option<(String, Iteration)>, ArchiveError> {
        let mut next =
            self.0.prepare_cached("SELECT place, key, iteration FROM object WHERE place > ? ORDER BY place LIMIT 1")?;
        let next = next.query_row([&*last], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
        let Some((place, key, number)) = next else { return Ok(None) };
        *last = place;
        Ok(Some((key, Iteration::new(number).unwrap_or(Iteration::FIRST))))
    }

    /// Returns the written response with this body, if there is one.
    pub(crate) fn body(&self, digest: &Sha1Digest) -> Result<Option<WrittenBody>, ArchiveError> {
        let mut find = self.0.prepare_cached("SELECT url, date, id FROM body WHERE digest = ?")?;
        let row = find.query_row([digest.as_bytes().as_slice()], |row| read_written(row, 0)).optional()?;
        Ok(row.flatten())
    }

    /// Records a written response with this body.
    pub(crate) fn add_body(&self, digest: &Sha1Digest, written: &WrittenBody) -> Result<(), ArchiveError> {
        let mut note = self.0.prepare_cached("INSERT OR IGNORE INTO body VALUES (?, ?, ?, ?)")?;
        let WrittenBody { url, date, id } = written;
        note.execute(params![digest.as_bytes().as_slice(), url, date.to_string(), id.to_string()])?;
        Ok(())
    }

    /// Records an answer, which a later one may confirm.
    pub(crate) fn add_answer(&self, url: &str, date: Timestamp, answer: &ConfirmedAnswer) -> Result<(), ArchiveError> {
        let mut note = self.0.prepare_cached("INSERT OR IGNORE INTO answer VALUES (?, ?, ?, ?, ?, ?, ?)")?;
        let ConfirmedAnswer { head, payload_digest, body_in } = answer;
        let digest = payload_digest.as_bytes().as_slice();
        note.execute(params![
            url,
            date.to_string(),
            digest,
            head,
            body_in.url,
            body_in.date.to_string(),
            body_in.id.to_string()
        ])?;
        Ok(())
    }

    /// Returns the answer of a URL with this body; of several, the one with the date in a
    /// reference, or the last. Without a digest, only the date counts. `None` if there is none.
    pub(crate) fn confirmed_answer(
        &self,
        url: &str,
        date: Option<Timestamp>,
        digest: Option<&Sha1Digest>,
    ) -> Result<Option<ConfirmedAnswer>, ArchiveError> {
        let mut find = self.0.prepare_cached(
            "SELECT head, digest, body_url, body_date, body_id FROM answer
             WHERE url = ?1 AND (digest = ?3 OR ?3 IS NULL AND at = ?2) ORDER BY at IS ?2 DESC, at DESC LIMIT 1",
        )?;
        let date = date.map(|date| date.to_string());
        let digest = digest.map(|digest| digest.as_bytes().as_slice());
        let row = find
            .query_row(params![url, date, digest], |row| {
                let stated: [u8; 20] = row.get(1)?;
                Ok(read_written(row, 2)?.map(|body_in| (row.get(0), Sha1Digest::from(stated), body_in)))
            })
            .optional()?;
        let Some((head, payload_digest, body_in)) = row.flatten() else { return Ok(None) };
        Ok(Some(ConfirmedAnswer { head: head?, payload_digest, body_in }))
    }

    /// Records a reference to a record that is not yet written.
    pub(crate) fn postpone(&self, object: &str, span: RecordSpan) -> Result<(), ArchiveError> {
        let mut note = self.0.prepare_cached("INSERT INTO postponed VALUES (?, ?, ?)")?;
        note.execute(params![object, span.offset.cast_signed(), span.length.cast_signed()])?;
        Ok(())
    }

    /// Returns the first postponed record after a number, with its own; 0 is before all. `None`
    /// after the last.
    pub(crate) fn postponed_after(&self, number: i64) -> Result<Option<(i64, String, RecordSpan)>, ArchiveError> {
        let mut next = self.0.prepare_cached(
            "SELECT rowid, object, offset, length FROM postponed WHERE rowid > ? ORDER BY rowid LIMIT 1",
        )?;
        let read = |row: &Row<'_>| {
            let (offset, length): (i64, i64) = (row.get(2)?, row.get(3)?);
            let span = RecordSpan { offset: offset.cast_unsigned(), length: length.cast_unsigned() };
            Ok((row.get(0)?, row.get(1)?, span))
        };
        Ok(next.query_row([number], read).optional()?)
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

/// Parses a written response from three columns; `None` if this program did not write them.
fn read_written(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<WrittenBody>> {
    let (date, id): (String, String) = (row.get(first + 1)?, row.get(first + 2)?);
    let url = row.get(first)?;
    Ok(date.parse().ok().zip(RecordId::parse(&id)).map(|(date, id)| WrittenBody { url, date, id }))
}

/// Returns the sort key of an object: its key with a length before each number, so that iteration
/// 10 comes after 9.
fn place(key: &str) -> String {
    let mut place = String::with_capacity(key.len() + 16);
    let mut rest = key;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| c.is_ascii_digit() != first.is_ascii_digit()).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        if first.is_ascii_digit() {
            place.push_str(&format!("{:04}", run.len()));
        }
        place.push_str(run);
        rest = after;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_iterations_turns_and_segments_come_first() {
        let keys = ["raw/c/2/o/9-1-x", "raw/c/2/o/10-2-x", "raw/c/2/o/10-10-x", "raw/c/10/o/1-1-x"];
        let captures = Captures::new().unwrap();
        for key in keys.iter().rev().chain(&keys) {
            captures.add_object(key, Iteration::FIRST).unwrap();
        }
        let mut last = String::new();
        let taken: Vec<String> =
            std::iter::from_fn(|| captures.next_object(&mut last).unwrap()).map(|(key, _)| key).collect();
        assert_eq!(taken, keys);
    }
}
