//! Whether a crawl makes progress.

use dragline_domain::ids::CrawlId;
use dragline_ports::error::{PortError, PortResult};
use jiff::Timestamp;
use rusqlite::params;

use crate::db::values::Time;
use crate::db::{Db, StoreError};
use crate::open::Reading;

/// When a crawl last made progress, and when it may next do so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    /// The time of its last segment commit; `None` before the first.
    pub last_commit: Option<Timestamp>,
    /// The number of its origins that are being visited, or were when their process died.
    pub origins_leased: u64,
    /// When the first of the waiting origins may be visited, perhaps in the past; `None` if none
    /// waits.
    pub next_ready: Option<Timestamp>,
}

impl Reading {
    /// Returns when a crawl last made progress.
    ///
    /// # Errors
    /// Fails if the database cannot be read.
    pub fn pulse(&self, crawl: &CrawlId) -> PortResult<Pulse> {
        pulse(self.db(), crawl).map_err(|error: StoreError| PortError::new(error.kind(), "read pulse", crawl, error))
    }
}

fn pulse(db: &Db, crawl: &CrawlId) -> Result<Pulse, StoreError> {
    let Some(crawl) = db.crawl_id(crawl)? else { return Ok(Pulse::default()) };
    let sql = "SELECT max(s.committed_at) FROM segment s JOIN origin o ON o.id = s.origin_id WHERE o.crawl_id = ?1";
    let last_commit = db.find(sql, params![crawl], |row| row.get::<_, Option<Time>>(0))?.flatten();
    let sql = "SELECT coalesce(sum(l.state = 'leased'), 0), min(CASE WHEN l.state = 'ready' THEN l.not_before END)
               FROM lease l JOIN origin o ON o.id = l.origin_id WHERE o.crawl_id = ?1";
    let (origins_leased, next_ready) =
        db.find(sql, params![crawl], |row| Ok((row.get(0)?, row.get::<_, Option<Time>>(1)?)))?.unwrap_or_default();
    Ok(Pulse { last_commit: last_commit.map(|Time(at)| at), origins_leased, next_ready: next_ready.map(|Time(at)| at) })
}
