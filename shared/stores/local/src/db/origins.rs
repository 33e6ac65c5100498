//! Rows of origins: `origin`, `lease`, `inbox`, `seeding`, `leftover`, `robots`.

use dragline_domain::frontier::{Counts, Inbox, Lease, Leftover, OriginKey, OriginRows, Seeding, SeedingMark};
use dragline_domain::ids::Iteration;
use dragline_domain::time::written_by;
use dragline_domain::url::Origin;
use dragline_ports::frontier::RobotsRow;
use rusqlite::params;

use super::values::{Json, Time};
use super::{CrawlRowId, Db, OriginRowId, StoreError};

impl Db {
    pub(crate) fn origin_id(&self, key: &OriginKey) -> Result<Option<OriginRowId>, StoreError> {
        let sql = "SELECT o.id FROM origin o JOIN crawl c ON c.id = o.crawl_id WHERE c.name = ?1 AND o.origin = ?2";
        self.find(sql, [key.crawl.as_str(), key.origin.as_str()], |row| row.get(0))
    }

    /// Returns the origin's row, which is made if there is none.
    pub(crate) fn ensure_origin(&self, key: &OriginKey) -> Result<OriginRowId, StoreError> {
        match self.origin_id(key)? {
            Some(id) => Ok(id),
            None => self.ensure_crawl_origin(self.ensure_crawl(&key.crawl)?, &key.origin),
        }
    }

    pub(crate) fn ensure_crawl_origin(&self, crawl: CrawlRowId, origin: &Origin) -> Result<OriginRowId, StoreError> {
        let sql = "INSERT INTO origin (crawl_id, origin) VALUES (?1, ?2)
                   ON CONFLICT (crawl_id, origin) DO UPDATE SET origin = excluded.origin RETURNING id";
        let id = self.find(sql, params![crawl, origin.as_str()], |row| row.get(0))?;
        id.ok_or(StoreError::Missing("origin that was just put"))
    }

    pub(crate) fn lease(&self, origin: OriginRowId) -> Result<Option<Lease>, StoreError> {
        self.find("SELECT record FROM lease WHERE origin_id = ?1", [origin], |row| Ok(row.get::<_, Json<_>>(0)?.0))
    }

    /// Puts a lease, and counts what it changes.
    pub(crate) fn put_lease(&self, origin: OriginRowId, lease: &Lease) -> Result<(), StoreError> {
        let more = Counts::from_lease_change(self.lease(origin)?.as_ref(), lease);
        self.add_counts(origin, lease.iteration, &more)?;
        let sql = "INSERT INTO lease (origin_id, record, due) VALUES (?1, ?2, ?3)
                   ON CONFLICT (origin_id) DO UPDATE SET record = excluded.record, due = excluded.due";
        self.execute(sql, params![origin, Json(lease), lease.due(self.lease_grace).map(Time)])?;
        Ok(())
    }

    pub(crate) fn inbox(&self, origin: OriginRowId) -> Result<Option<Inbox>, StoreError> {
        self.find("SELECT record, due FROM inbox WHERE origin_id = ?1", [origin], |row| {
            let (Json(inbox), due): (Json<Inbox>, Option<Time>) = (row.get(0)?, row.get(1)?);
            Ok(Inbox { due: due.map(|due| due.0), ..inbox })
        })
    }

    /// Puts an inbox, and counts what it changes.
    pub(crate) fn put_inbox(&self, origin: OriginRowId, inbox: &Inbox) -> Result<(), StoreError> {
        let more = Counts::from_inbox_change(self.inbox(origin)?.as_ref(), inbox);
        self.add_counts(origin, inbox.iteration, &more)?;
        let sql = "INSERT INTO inbox (origin_id, record, due) VALUES (?1, ?2, ?3)
                   ON CONFLICT (origin_id) DO UPDATE SET record = excluded.record, due = excluded.due";
        self.execute(sql, params![origin, Json(inbox), inbox.due.map(Time)])?;
        Ok(())
    }

    /// Returns both rows. They are first written together, so one alone is damage.
    pub(crate) fn origin_rows(&self, origin: OriginRowId) -> Result<Option<OriginRows>, StoreError> {
        match (self.lease(origin)?, self.inbox(origin)?) {
            (Some(lease), Some(inbox)) => Ok(Some(OriginRows { lease, inbox })),
            (None, None) => Ok(None),
            _ => Err(StoreError::Damaged("an origin has only one of its two rows".to_owned())),
        }
    }

    pub(crate) fn put_origin_rows(&self, origin: OriginRowId, rows: &OriginRows) -> Result<(), StoreError> {
        self.put_lease(origin, &rows.lease)?;
        self.put_inbox(origin, &rows.inbox)
    }

    pub(crate) fn seeding_mark(
        &self,
        origin: OriginRowId,
        iteration: Iteration,
        seeding: &Seeding,
    ) -> Result<SeedingMark, StoreError> {
        let sql = "SELECT 1 FROM seeding WHERE origin_id = ?1 AND iteration = ?2 AND seeding = ?3";
        let found: Option<i64> =
            self.find(sql, params![origin, iteration.number(), seeding.as_str()], |row| row.get(0))?;
        Ok(found.map_or(SeedingMark::Absent, |_| SeedingMark::There))
    }

    /// Marks a seeding that is not marked yet. Deletes marks of earlier iterations: these are over,
    /// so nothing is added to them any more.
    pub(crate) fn put_seeding(
        &self,
        origin: OriginRowId,
        iteration: Iteration,
        seeding: &Seeding,
    ) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM seeding WHERE origin_id = ?1 AND iteration < ?2",
            params![origin, iteration.number()],
        )?;
        let sql = "INSERT INTO seeding (origin_id, iteration, seeding) VALUES (?1, ?2, ?3)";
        self.execute(sql, params![origin, iteration.number(), seeding.as_str()])?;
        Ok(())
    }

    pub(crate) fn put_leftover(&self, origin: OriginRowId, leftover: &Leftover) -> Result<(), StoreError> {
        let sql =
            "INSERT OR IGNORE INTO leftover (origin_id, iteration, turn, reason, urls) VALUES (?1, ?2, ?3, ?4, ?5)";
        let row = params![origin, leftover.iteration.number(), leftover.turn.0, leftover.reason.name(), leftover.count];
        if self.execute(sql, row)? > 0 {
            self.add_counts(origin, leftover.iteration, &Counts::from_leftover(leftover))?;
        }
        Ok(())
    }

    pub(crate) fn robots(&self, origin: OriginRowId) -> Result<Option<RobotsRow>, StoreError> {
        let sql = "SELECT record, fetched_at, expires_at FROM robots WHERE origin_id = ?1";
        let stored = self.find(sql, [origin], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, Time>(1)?.0, row.get::<_, Time>(2)?.0))
        })?;
        let Some((record, fetched_at, expires_at)) = stored else { return Ok(None) };
        Ok(Some(RobotsRow { record: serde_json::from_str(&record)?, fetched_at, expires_at }))
    }

    pub(crate) fn put_robots(&self, origin: OriginRowId, robots: &RobotsRow) -> Result<(), StoreError> {
        let sql = "INSERT INTO robots (origin_id, record, fetched_at, expires_at) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT DO UPDATE SET record = ?2, fetched_at = ?3, expires_at = ?4
                   WHERE fetched_at <= ?3 OR fetched_at > ?5";
        let record = serde_json::to_string(&robots.record)?;
        let (fetched_at, ahead) = (robots.fetched_at, written_by(robots.fetched_at));
        self.execute(sql, params![origin, record, Time(fetched_at), Time(robots.expires_at), Time(ahead)])?;
        Ok(())
    }
}
