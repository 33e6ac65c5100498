//! Rows of `counter`: what each iteration counts over all its origins. They change with the rows that they count, in the same transaction.

use std::collections::HashMap;

use dragline_domain::frontier::{Counts, Inbox, Lease, Leftover, LeftoverReason, OriginRows};
use dragline_domain::ids::{Iteration, Turn};
use rusqlite::{Connection, params};

use super::crawls::iteration_number;
use super::values::Json;
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
        if more.is_nothing() {
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

/// Counts the rows of a file in which nobody counted them so far.
pub(super) fn count_rows(connection: &Connection) -> Result<(), StoreError> {
    let mut counts: HashMap<(CrawlRowId, Iteration), Counts> = HashMap::new();
    let sql = "SELECT o.crawl_id, l.record, b.record FROM origin o
               JOIN lease l ON l.origin_id = o.id JOIN inbox b ON b.origin_id = o.id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (Json(lease), Json(inbox)): (Json<Lease>, Json<Inbox>) = (row.get(1)?, row.get(2)?);
        let iteration = inbox.iteration;
        let more = Counts::of_change(None, &OriginRows { lease, inbox });
        counts.entry((row.get(0)?, iteration)).or_default().add(&more);
    }
    let sql =
        "SELECT o.crawl_id, f.iteration, f.turn, f.reason, f.urls FROM leftover f JOIN origin o ON o.id = f.origin_id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let iteration = iteration_number(row.get(1)?)?;
        let reason = LeftoverReason::from_name(&row.get::<_, String>(3)?)
            .ok_or_else(|| StoreError::Damaged("a leftover has an unknown reason".to_owned()))?;
        let left = Leftover { iteration, turn: Turn(row.get(2)?), reason, count: row.get(4)? };
        counts.entry((row.get(0)?, iteration)).or_default().add(&Counts::of_leftover(&left));
    }
    let mut add = connection.prepare(ADD)?;
    for ((crawl, iteration), counts) in &counts {
        for (name, number) in counts.numbers() {
            add.execute(params![crawl, iteration.number(), name, number])?;
        }
    }
    Ok(())
}
