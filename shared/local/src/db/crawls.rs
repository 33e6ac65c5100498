//! Rows of crawls: `crawl`, `trigger`, and the origins that joined.

use dragline_domain::definition::Definition;
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use dragline_domain::url::Origin;
use dragline_pipeline::ports::frontier::CrawlRow;
use rusqlite::params;

use super::values::Text;
use super::{CrawlRowId, Db, StoreError};

impl Db {
    pub(crate) fn crawl_id(&self, crawl: &CrawlId) -> Result<Option<CrawlRowId>, StoreError> {
        self.find("SELECT id FROM crawl WHERE name = ?1", [crawl.as_str()], |row| row.get(0))
    }

    /// The crawl's row, made if there is none.
    pub(crate) fn ensure_crawl(&self, crawl: &CrawlId) -> Result<CrawlRowId, StoreError> {
        if let Some(id) = self.crawl_id(crawl)? {
            return Ok(id);
        }
        self.execute("INSERT INTO crawl (name) VALUES (?1)", [crawl.as_str()])?;
        Ok(CrawlRowId(self.connection.last_insert_rowid()))
    }

    pub(crate) fn crawl(&self, crawl: &CrawlId) -> Result<Option<CrawlRow>, StoreError> {
        let Some(id) = self.crawl_id(crawl)? else { return Ok(None) };
        let sql = "SELECT definition, version FROM crawl WHERE id = ?1 AND definition IS NOT NULL";
        let stored = self.find(sql, [id], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
        let Some((definition, version)) = stored else { return Ok(None) };
        let joined = self.all(
            "SELECT origin FROM origin WHERE crawl_id = ?1 AND joined IS NOT NULL ORDER BY joined",
            [id],
            |row| Ok(row.get::<_, Text<Origin>>(0)?.0),
        )?;
        Ok(Some(CrawlRow { definition: serde_json::from_str(&definition)?, version, joined }))
    }

    pub(crate) fn put_definition(&self, definition: &Definition, version: u32) -> Result<(), StoreError> {
        let id = self.ensure_crawl(&definition.name)?;
        let sql = "UPDATE crawl SET definition = ?2, version = ?3 WHERE id = ?1";
        self.execute(sql, params![id, serde_json::to_string(definition)?, version])?;
        Ok(())
    }

    /// Marks the origin as joined, after those that joined before it.
    pub(crate) fn join_origin(&self, crawl: CrawlRowId, origin: &Origin) -> Result<(), StoreError> {
        let id = self.ensure_origin_of(crawl, origin)?;
        let sql = "UPDATE origin SET joined = (SELECT coalesce(max(joined), 0) + 1 FROM origin WHERE crawl_id = ?1)
                   WHERE id = ?2 AND joined IS NULL";
        self.execute(sql, params![crawl, id])?;
        Ok(())
    }

    /// The iteration that a trigger began.
    pub(crate) fn trigger(&self, crawl: CrawlRowId, trigger: &TriggerId) -> Result<Option<Iteration>, StoreError> {
        let sql = "SELECT iteration FROM \"trigger\" WHERE crawl_id = ?1 AND \"trigger\" = ?2";
        let number = self.find(sql, params![crawl, trigger.0], |row| row.get(0))?;
        number.map(iteration_number).transpose()
    }

    pub(crate) fn put_trigger(
        &self,
        crawl: CrawlRowId,
        trigger: &TriggerId,
        iteration: Iteration,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO \"trigger\" (crawl_id, \"trigger\", iteration) VALUES (?1, ?2, ?3)";
        self.execute(sql, params![crawl, trigger.0, iteration.number()])?;
        Ok(())
    }
}

/// The iteration of a stored number.
pub(super) fn iteration_number(number: u32) -> Result<Iteration, StoreError> {
    Iteration::new(number).ok_or_else(|| StoreError::Damaged("an iteration is numbered 0".to_owned()))
}
