//! Rows in a reproducible order: by URL, and visit by visit for each URL.
//!
//! Stores return them in the order of committed segments, which depends on how many sites were
//! visited at once. They are sorted in a temporary file as large as the rows; memory does not grow
//! with them.

use std::ops::ControlFlow;

use dragline_ports::error::{PortError, PortResult};
use dragline_ports::reader::{Batch, Cursor, DocumentRow, each_row};
use rusqlite::{Connection, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why rows could not be read in order.
#[derive(Debug)]
pub(super) enum SortedError {
    /// The crawl cannot be read.
    Reading(PortError),
    /// The temporary file cannot be written or read.
    Sorting(TempFileError),
}

/// A failure of the temporary file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TempFileError {
    /// SQLite failed.
    #[error("{0}")]
    File(#[from] rusqlite::Error),
    /// A row cannot be serialised or parsed.
    #[error("{0}")]
    Row(#[from] serde_json::Error),
}

impl<E: Into<TempFileError>> From<E> for SortedError {
    fn from(error: E) -> Self {
        Self::Sorting(error.into())
    }
}

/// Calls back with each row of a stream in order, until told to stop. `read` returns the batch
/// after a cursor, in the order of the store; `keep` returns a row's URL, and what to call back
/// with.
///
/// # Errors
/// A failure of `read` or of the temporary file.
pub(super) async fn each_sorted<T, K: Serialize + DeserializeOwned, F: Future<Output = PortResult<Batch<T>>>>(
    read: impl Fn(Option<Cursor>) -> F,
    keep: impl Fn(T) -> (String, K),
    visit: impl FnMut(K) -> ControlFlow<()>,
) -> Result<(), SortedError> {
    let rows = Sorted::new()?;
    let mut added = Ok(());
    let add = |row: T| {
        let (url, kept) = keep(row);
        added = rows.add(&url, &kept);
        if added.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    each_row(read, add).await.map_err(SortedError::Reading)?;
    added?;
    Ok(rows.each(visit)?)
}

/// Keeps a whole document.
pub(super) fn keep_document(row: DocumentRow) -> (String, DocumentRow) {
    (row.document.url.to_string(), row)
}

/// The temporary file. SQLite keeps it in memory while it is small, and deletes it when it is
/// closed.
struct Sorted(Connection);

impl Sorted {
    fn new() -> Result<Self, TempFileError> {
        // SQLite creates a temporary file for the empty name.
        let db = Connection::open("")?;
        db.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
             CREATE TABLE row (n INTEGER PRIMARY KEY, url TEXT NOT NULL, json TEXT NOT NULL);
             BEGIN;",
        )?;
        Ok(Self(db))
    }

    fn add(&self, url: &str, kept: &impl Serialize) -> Result<(), TempFileError> {
        let mut add = self.0.prepare_cached("INSERT INTO row (url, json) VALUES (?, ?)")?;
        add.execute(params![url, serde_json::to_string(kept)?])?;
        Ok(())
    }

    fn each<T: DeserializeOwned>(self, mut visit: impl FnMut(T) -> ControlFlow<()>) -> Result<(), TempFileError> {
        // Index entries end with the row id, so rows of one URL keep their order.
        self.0.execute_batch("CREATE INDEX row_url ON row (url)")?;
        let mut read = self.0.prepare("SELECT json FROM row ORDER BY url, n")?;
        let mut rows = read.query([])?;
        while let Some(row) = rows.next()? {
            let json = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            if visit(serde_json::from_str(json)?).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dragline_ports::reader::Rest;

    use super::*;

    #[tokio::test]
    async fn rows_are_sorted_by_url_and_stably() {
        let stored = [("b", "2"), ("a", "9"), ("B", "1"), ("b", "1"), ("a", "8"), ("é", "1"), ("a", "9")];
        let sorted = [("B", "1"), ("a", "9"), ("a", "8"), ("a", "9"), ("b", "2"), ("b", "1"), ("é", "1")];
        let keep = |(url, text): (&str, &str)| (url.to_owned(), (url.to_owned(), format!("{text} é \"\u{0}\n")));
        let sorted = sorted.map(|row| keep(row).1);
        let stored = &stored;
        let read = |after: Option<Cursor>| async move {
            let start = after.map_or(0, |cursor| cursor.as_str().parse().unwrap());
            let rows: Vec<_> = stored.iter().skip(start).take(2).copied().collect();
            let (next, rest) = (start + rows.len(), if rows.len() < 2 { Rest::Nothing } else { Rest::More });
            Ok(Batch { rows, cursor: Some(Cursor::new(next.to_string())), rest })
        };
        for enough in [7, 3] {
            let mut rows = Vec::new();
            let take = |row| {
                rows.push(row);
                if rows.len() < enough { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            each_sorted(read, keep, take).await.unwrap();
            assert_eq!(rows, sorted[..enough], "the first {enough}");
        }
    }
}
