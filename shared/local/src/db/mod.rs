//! The database: its schema, how its rows are read and written, and the one thread that does it.

mod candidates;
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

pub(crate) use self::candidates::Candidate;
pub(crate) use self::error::StoreError;
pub(crate) use self::ids::{CrawlRowId, OriginRowId, SegmentRowId, VisitId};

/// The open database, within a transaction that the caller has begun.
///
/// Its methods read and write single rows; what an operation does with them stands in [`crate::frontier`] and [`crate::documents`].
pub(crate) struct Db {
    pub(crate) connection: Connection,
    /// How long after a ticket or a lease ran out the sweeper looks.
    pub(crate) lease_grace: Duration,
}

impl Db {
    /// A statement that is compiled once.
    pub(crate) fn statement(&self, sql: &str) -> Result<CachedStatement<'_>, StoreError> {
        Ok(self.connection.prepare_cached(sql)?)
    }

    /// Writes, and says how many rows it wrote.
    pub(crate) fn execute(&self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        Ok(self.statement(sql)?.execute(params)?)
    }

    /// The row, if there is one.
    pub(crate) fn find<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.statement(sql)?.query_row(params, read).optional()?)
    }

    /// Every row. For queries that have a limit, or few rows by their nature.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        Ok(self.statement(sql)?.query_map(params, read)?.collect::<Result<_, _>>()?)
    }
}
