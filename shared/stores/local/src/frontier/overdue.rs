//! Work that looks overdue.

use dragline_domain::frontier::{OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration, Turn};
use dragline_domain::url::Origin;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Overdue, OverdueKinds, OverdueWork};
use jiff::Timestamp;
use rusqlite::{Row, params};

use super::SqliteFrontier;
use crate::db::values::{Text, Time};
use crate::db::{CrawlRowId, Db, StoreError};

impl OverdueWork for SqliteFrontier {
    async fn overdue(
        &self,
        crawl: &CrawlId,
        due_by: Timestamp,
        kinds: OverdueKinds,
        limit: usize,
    ) -> PortResult<Vec<Overdue>> {
        let id = crawl.clone();
        self.run("list overdue work", crawl, move |db| list(db, &id, due_by, kinds, limit)).await
    }

    async fn postpone(&self, work: &Overdue, due: Timestamp) -> PortResult<()> {
        let owned = work.clone();
        self.run("postpone overdue work", &format!("{work:?}"), move |db| postpone(db, &owned, due)).await
    }
}

/// Lists work that is due by `due_by`, the longest overdue first. Origins and segments have
/// separate limits.
fn list(
    db: &Db,
    crawl: &CrawlId,
    by: Timestamp,
    kinds: OverdueKinds,
    limit: usize,
) -> Result<Vec<Overdue>, StoreError> {
    let Some(id) = db.crawl_id(crawl)? else { return Ok(Vec::new()) };
    let query = Query { db, crawl: (id, crawl), by: Time(by), limit };
    let mut found = match kinds {
        OverdueKinds::All => query.origins(
            "SELECT l.due, o.origin FROM lease l JOIN origin o ON o.id = l.origin_id
             WHERE l.due <= ?2 AND o.crawl_id = ?1 ORDER BY l.due LIMIT ?3",
            Overdue::Lease,
        )?,
        OverdueKinds::AllButLeases => Vec::new(),
    };
    // A ready or held origin is covered by its lease.
    found.extend(query.origins(
        "SELECT b.due, o.origin FROM inbox b JOIN origin o ON o.id = b.origin_id JOIN lease l ON l.origin_id = b.origin_id
         WHERE b.due <= ?2 AND o.crawl_id = ?1 AND l.state = 'idle' ORDER BY b.due LIMIT ?3",
        Overdue::Inbox,
    )?);
    found.sort_by_key(|(due, _)| *due);
    found.truncate(limit);
    found.extend(query.segments()?);
    found.extend(query.tokens()?);
    found.sort_by_key(|(due, _)| *due);
    Ok(found.into_iter().map(|(_, overdue)| overdue).collect())
}

/// Postpones work that is still owed.
fn postpone(db: &Db, work: &Overdue, due: Timestamp) -> Result<(), StoreError> {
    let due = Time(due);
    match work {
        Overdue::Lease(origin) | Overdue::Inbox(origin) => {
            let Some(id) = db.origin_id(origin)? else { return Ok(()) };
            let sql = match work {
                Overdue::Lease(_) => "UPDATE lease SET due = ?2 WHERE origin_id = ?1 AND due < ?2",
                _ => "UPDATE inbox SET due = ?2 WHERE origin_id = ?1 AND due < ?2",
            };
            db.execute(sql, params![id, due])?;
        }
        Overdue::Segment(segment, _) => {
            let Some(id) = db.origin_id(&segment.origin)? else { return Ok(()) };
            let sql = "UPDATE segment SET due = ?4 WHERE origin_id = ?1 AND turn = ?2 AND n = ?3 AND due < ?4";
            db.execute(sql, params![id, segment.turn.0, segment.n, due])?;
        }
        Overdue::Token(crawl, number) => {
            let Some(id) = db.crawl_id(crawl)? else { return Ok(()) };
            let sql = "UPDATE iteration SET due = ?3 WHERE crawl_id = ?1 AND number = ?2 AND due < ?3";
            db.execute(sql, params![id, number.number(), due])?;
        }
    }
    Ok(())
}

struct Query<'d> {
    db: &'d Db,
    crawl: (CrawlRowId, &'d CrawlId),
    by: Time,
    limit: usize,
}

/// Work, and when it was due.
type Due = (Timestamp, Overdue);

impl Query<'_> {
    fn all(&self, sql: &str, read: impl Fn(&Row<'_>) -> rusqlite::Result<Overdue>) -> Result<Vec<Due>, StoreError> {
        let read = |row: &Row<'_>| Ok((row.get::<_, Time>(0)?.0, read(row)?));
        self.db.all(sql, params![self.crawl.0, self.by, self.limit], read)
    }

    fn key(&self, origin: Text<Origin>) -> OriginKey {
        OriginKey { crawl: self.crawl.1.clone(), origin: origin.0 }
    }

    fn origins(&self, sql: &str, kind: fn(OriginKey) -> Overdue) -> Result<Vec<Due>, StoreError> {
        self.all(sql, |row| Ok(kind(self.key(row.get(1)?))))
    }

    fn segments(&self) -> Result<Vec<Due>, StoreError> {
        let sql = "SELECT s.due, o.origin, s.turn, s.n, s.iteration FROM segment s JOIN origin o ON o.id = s.origin_id
                   WHERE s.due <= ?2 AND o.crawl_id = ?1 ORDER BY s.due LIMIT ?3";
        self.all(sql, |row| {
            let id = SegmentId { origin: self.key(row.get(1)?), turn: Turn(row.get(2)?), n: row.get(3)? };
            Ok(Overdue::Segment(id, iteration(row, 4)?))
        })
    }

    fn tokens(&self) -> Result<Vec<Due>, StoreError> {
        let sql = "SELECT due, number FROM iteration WHERE due <= ?2 AND crawl_id = ?1 ORDER BY due LIMIT ?3";
        self.all(sql, |row| Ok(Overdue::Token(self.crawl.1.clone(), iteration(row, 1)?)))
    }
}

fn iteration(row: &Row<'_>, index: usize) -> rusqlite::Result<Iteration> {
    Iteration::new(row.get(index)?).ok_or(rusqlite::Error::IntegralValueOutOfRange(index, 0))
}
