//! Rows of `counter`: what each iteration counts over all its origins. They change with the rows
//! that they count, in the same transaction.

use dragline_domain::frontier::Counts;
use dragline_domain::ids::Iteration;
use rusqlite::params;

use super::{CrawlRowId, Db, OriginRowId, StoreError};

const ADD: &str = "INSERT INTO counter (crawl_id, iteration, name, number) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT (crawl_id, iteration, name) DO UPDATE SET number = number + excluded.number";

impl Db {
    pub(crate) fn counts(&self, crawl: CrawlRowId, iteration: Iteration) -> Result<Counts, StoreError> {
        let sql = "SELECT name, number FROM counter WHERE crawl_id = ?1 AND iteration = ?2";
        let numbers = self.all(sql, params![crawl, iteration.number()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(numbers.into_iter().collect())
    }

    /// Adds what a change of an origin's rows counts.
    pub(crate) fn add_counts(
        &self,
        origin: OriginRowId,
        iteration: Iteration,
        more: &Counts,
    ) -> Result<(), StoreError> {
        if more.is_empty() {
            return Ok(());
        }
        let sql = "SELECT crawl_id FROM origin WHERE id = ?1";
        let crawl: Option<CrawlRowId> = self.find(sql, [origin], |row| row.get(0))?;
        let crawl = crawl.ok_or(StoreError::Missing("such origin"))?;
        for (name, number) in more.numbers() {
            self.execute(ADD, params![crawl, iteration.number(), name, number])?;
        }
        Ok(())
    }
}
