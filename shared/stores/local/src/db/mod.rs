//! The database: its schema, how its rows are read and written, and the one thread that does so.

mod candidates;
#[cfg(test)]
mod canonical_tests;
mod counts;
pub(crate) mod crawls;
mod error;
mod hosts;
mod ids;
mod iterations;
mod notices;
mod origins;
pub(crate) mod schema;
mod segments;
mod settings;
mod todo;
pub(crate) mod urls;
pub(crate) mod values;
pub(crate) mod writer;

use std::time::Duration;

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Params, Row};

pub(crate) use self::candidates::{Candidate, Claimed};
pub(crate) use self::error::StoreError;
pub(crate) use self::ids::{CrawlRowId, OriginRowId, SegmentRowId, VisitId};

/// The open database, within a transaction that the caller has begun.
///
/// Its methods read and write single rows. What an operation does with them is in
/// [`crate::frontier`] and [`crate::documents`].
pub(crate) struct Db {
    pub(crate) connection: Connection,
    /// How long after a ticket or a lease expired the sweeper acts.
    pub(crate) lease_grace: Duration,
}

impl Db {
    /// Returns a statement that is compiled once.
    pub(crate) fn statement(&self, sql: &str) -> Result<CachedStatement<'_>, StoreError> {
        Ok(self.connection.prepare_cached(sql)?)
    }

    /// Writes, and returns how many rows were written.
    pub(crate) fn execute(&self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        Ok(self.statement(sql)?.execute(params)?)
    }

    /// Returns the row, if there is one.
    pub(crate) fn find<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.statement(sql)?.query_row(params, read).optional()?)
    }

    /// Returns the row, if there is one, where reading it may find damage.
    pub(crate) fn find_with<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query(params)?;
        rows.next()?.map(read).transpose()
    }

    /// Returns every row. For queries that have a limit, or few rows by nature.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        Ok(self.statement(sql)?.query_map(params, read)?.collect::<Result<_, _>>()?)
    }
}
