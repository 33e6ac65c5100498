//! Rows of crawls: `crawl`, `trigger`, and the origins that joined.

use std::ops::Range;

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{CrawlStamp, Switch};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use dragline_domain::url::Origin;
use dragline_ports::frontier::{CrawlRow, PutCrawl};
use jiff::Timestamp;
use rusqlite::params;

use super::values::{Json, Text, Time};
use super::{CrawlRowId, Db, StoreError};

const ON: &str = "on";
const OFF: &str = "off";

impl Db {
    pub(crate) fn crawl_id(&self, crawl: &CrawlId) -> Result<Option<CrawlRowId>, StoreError> {
        self.find("SELECT id FROM crawl WHERE name = ?1", [crawl.as_str()], |row| row.get(0))
    }

    /// Returns the crawl's row, which is made if there is none.
    pub(crate) fn ensure_crawl(&self, crawl: &CrawlId) -> Result<CrawlRowId, StoreError> {
        if let Some(id) = self.crawl_id(crawl)? {
            return Ok(id);
        }
        self.execute("INSERT INTO crawl (name) VALUES (?1)", [crawl.as_str()])?;
        Ok(CrawlRowId(self.connection.last_insert_rowid()))
    }

    /// Returns the names of all crawls that were defined or begun, in order.
    pub(crate) fn crawl_names(&self) -> Result<Vec<CrawlId>, StoreError> {
        let sql = "SELECT name FROM crawl c
                   WHERE definition IS NOT NULL OR EXISTS (SELECT 1 FROM iteration i WHERE i.crawl_id = c.id) ORDER BY name";
        self.all(sql, [], |row| Ok(row.get::<_, Text<CrawlId>>(0)?.0))
    }

    pub(crate) fn crawl(&self, crawl: &CrawlId) -> Result<Option<CrawlRow>, StoreError> {
        let Some(id) = self.crawl_id(crawl)? else { return Ok(None) };
        let sql = "SELECT definition, version, switch, next FROM crawl WHERE id = ?1 AND definition IS NOT NULL";
        let stored = self.find(sql, [id], |row| {
            Ok((row.get::<_, String>(0)?, row.get(1)?, row.get::<_, String>(2)?, row.get::<_, Option<Time>>(3)?))
        })?;
        let Some((definition, version, switch, next)) = stored else { return Ok(None) };
        let switch = match switch.as_str() {
            ON => Switch::On { next: next.map(|Time(next)| next) },
            OFF => Switch::Off,
            other => return Err(StoreError::Damaged(format!("a crawl is switched `{other}`"))),
        };
        Ok(Some(CrawlRow { definition: serde_json::from_str(&definition)?, version, switch }))
    }

    /// Returns the version of a crawl's definition, and how many origins joined; `None` if it has
    /// no definition.
    pub(crate) fn crawl_stamp(&self, crawl: &CrawlId) -> Result<Option<CrawlStamp>, StoreError> {
        let sql = "SELECT version, coalesce((SELECT max(joined) FROM origin o WHERE o.crawl_id = c.id AND joined IS NOT NULL), 0)
                   FROM crawl c WHERE name = ?1 AND version IS NOT NULL";
        self.find(sql, [crawl.as_str()], |row| Ok(CrawlStamp { version: row.get(0)?, joined: row.get(1)? }))
    }

    /// Returns the origins that joined at these places, the first of which is 0.
    pub(crate) fn joined(&self, crawl: CrawlRowId, places: &Range<u64>) -> Result<Vec<Origin>, StoreError> {
        let sql = "SELECT origin FROM origin WHERE crawl_id = ?1 AND joined > ?2 AND joined <= ?3 ORDER BY joined";
        self.all(sql, params![crawl, places.start, places.end], |row| Ok(row.get::<_, Text<Origin>>(0)?.0))
    }

    /// Returns this version of a definition as it was stored.
    pub(crate) fn definition(&self, crawl: &CrawlId, version: u32) -> Result<Option<Definition>, StoreError> {
        let Some(id) = self.crawl_id(crawl)? else { return Ok(None) };
        let sql = "SELECT definition FROM crawl WHERE id = ?1 AND version = ?2
                   UNION ALL SELECT definition FROM past_definition WHERE crawl_id = ?1 AND version = ?2";
        let found = self.find(sql, params![id, version], |row| row.get::<_, Json<Definition>>(0))?;
        Ok(found.map(|Json(definition)| definition))
    }

    /// Writes a definition, keeps the previous one, and switches its crawl on.
    pub(crate) fn put_definition(&self, put: &PutCrawl, version: u32) -> Result<(), StoreError> {
        let id = self.ensure_crawl(&put.definition.name)?;
        let sql = "INSERT INTO past_definition (crawl_id, version, definition)
                   SELECT id, version, definition FROM crawl WHERE id = ?1 AND definition IS NOT NULL";
        self.execute(sql, [id])?;
        let sql = "UPDATE crawl SET definition = ?2, version = ?3 WHERE id = ?1";
        self.execute(sql, params![id, serde_json::to_string(&put.definition)?, version])?;
        self.put_switch(id, Switch::On { next: put.next })
    }

    pub(crate) fn put_switch(&self, crawl: CrawlRowId, switch: Switch) -> Result<(), StoreError> {
        let name = match switch {
            Switch::On { .. } => ON,
            Switch::Off => OFF,
        };
        let sql = "UPDATE crawl SET switch = ?2, next = ?3 WHERE id = ?1";
        self.execute(sql, params![crawl, name, switch.next().map(Time)])?;
        Ok(())
    }

    /// Returns the crawls whose schedule calls for an iteration by now, the longest due first.
    pub(crate) fn due_crawls(&self, now: Timestamp, limit: usize) -> Result<Vec<CrawlId>, StoreError> {
        let sql = "SELECT name FROM crawl WHERE next <= ?1 ORDER BY next LIMIT ?2";
        self.all(sql, params![Time(now), limit], |row| Ok(row.get::<_, Text<CrawlId>>(0)?.0))
    }

    /// Returns the crawls with an iteration that is not closed, the longest running first.
    pub(crate) fn running_crawls(&self, limit: usize) -> Result<Vec<CrawlId>, StoreError> {
        let sql = "SELECT c.name FROM crawl c JOIN iteration i ON i.crawl_id = c.id
                   WHERE i.status <> 'closed' ORDER BY i.started_at LIMIT ?1";
        self.all(sql, [limit], |row| Ok(row.get::<_, Text<CrawlId>>(0)?.0))
    }

    /// Marks the origin as joined at this place, the first of which is 0.
    pub(crate) fn put_joined(&self, crawl: CrawlRowId, origin: &Origin, place: u64) -> Result<(), StoreError> {
        let id = self.ensure_crawl_origin(crawl, origin)?;
        self.execute("UPDATE origin SET joined = ?2 WHERE id = ?1 AND joined IS NULL", params![id, place + 1])?;
        Ok(())
    }

    /// Returns the iteration that a trigger began.
    pub(crate) fn trigger(&self, crawl: CrawlRowId, trigger: &TriggerId) -> Result<Option<Iteration>, StoreError> {
        let sql = "SELECT iteration FROM \"trigger\" WHERE crawl_id = ?1 AND \"trigger\" = ?2";
        let number = self.find(sql, params![crawl, trigger.0], |row| row.get(0))?.flatten();
        number.map(iteration_number).transpose()
    }

    pub(crate) fn put_trigger(
        &self,
        crawl: CrawlRowId,
        trigger: &TriggerId,
        iteration: Iteration,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO \"trigger\" (crawl_id, \"trigger\", iteration) VALUES (?1, ?2, ?3)
                   ON CONFLICT DO UPDATE SET iteration = excluded.iteration";
        self.execute(sql, params![crawl, trigger.0, iteration.number()])?;
        Ok(())
    }

    pub(crate) fn mark_handled(&self, crawl: CrawlRowId, trigger: &TriggerId) -> Result<(), StoreError> {
        let sql = "INSERT INTO \"trigger\" (crawl_id, \"trigger\", handled) VALUES (?1, ?2, 1)
                   ON CONFLICT DO UPDATE SET handled = 1";
        self.execute(sql, params![crawl, trigger.0])?;
        Ok(())
    }

    pub(crate) fn was_handled(&self, crawl: CrawlRowId, trigger: &TriggerId) -> Result<bool, StoreError> {
        let sql = "SELECT handled FROM \"trigger\" WHERE crawl_id = ?1 AND \"trigger\" = ?2";
        Ok(self.find(sql, params![crawl, trigger.0], |row| row.get(0))?.unwrap_or(false))
    }
}

/// Returns the iteration with a stored number.
pub(crate) fn iteration_number(number: u32) -> Result<Iteration, StoreError> {
    Iteration::new(number).ok_or_else(|| StoreError::Damaged("an iteration has the number 0".to_owned()))
}
