//! The crawl log: one row per URL that ended or was postponed in a segment, with the rows that
//! belong to it.

use std::sync::Arc;

use dragline_domain::capture::{CrawlType, Finality, LogEntry, RecordKind, RedirectEntry, SegmentLog};
use dragline_domain::change::VisitChange;
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::CrawlLog;
use dragline_ports::reader::PageRequests;
use jiff::Timestamp;
use rusqlite::{Statement, params};

use super::SqliteFrontier;
use crate::db::urls::shorten;
use crate::db::values::{Code, Hex, Json, Millis, Sha1};
use crate::db::{Db, OriginRowId, StoreError, VisitId};

impl CrawlLog for SqliteFrontier {
    async fn put_log(&self, log: &Arc<SegmentLog>) -> PortResult<()> {
        let content = Arc::clone(log);
        self.run("put log", &log.segment, move |db| put_log(db, &content)).await
    }
}

// Not inlined, so that profiles show it by its name.
#[inline(never)]
fn put_log(db: &Db, log: &SegmentLog) -> Result<(), StoreError> {
    let segment = db.segment(&log.segment)?.ok_or(StoreError::Missing("such segment"))?;
    if segment.is_logged {
        return Ok(());
    }
    let origin = db.ensure_origin(&log.segment.origin)?;
    let common = Common { origin, agent: ensure_agent(db, &log.agent)?, iteration: log.iteration };
    let mut statement = db.statement(VISIT)?;
    for entry in &log.entries {
        let id = VisitId::new(segment.row_id, entry.n)?;
        let body_of =
            entry.unchanged_since.map(|since| find_body_visit(db, &common, entry, since)).transpose()?.flatten();
        put_visit(&mut statement, id, &common, log, entry, body_of)?;
        if let Some(redirect) = &entry.redirect {
            put_redirect(db, id, redirect)?;
        }
    }
    db.execute("UPDATE segment SET is_logged = 1 WHERE id = ?1", [segment.row_id])?;
    Ok(())
}

/// Values common to all rows of a segment's log.
struct Common {
    origin: OriginRowId,
    agent: i64,
    iteration: Iteration,
}

fn ensure_agent(db: &Db, name: &str) -> Result<i64, StoreError> {
    db.execute("INSERT OR IGNORE INTO agent (name) VALUES (?1)", [name])?;
    let id = db.find("SELECT id FROM agent WHERE name = ?1", [name], |row| row.get(0))?;
    id.ok_or(StoreError::Missing("agent that was just put"))
}

const VISIT: &str =
    "INSERT INTO visit (id, crawl_type, agent_id, origin_id, iteration, url, depth, via, redirects, robotstxt_approved, outcome, is_final,
                        tries, at, detail, body_of, change, changed_parts, duration_ms, first_byte_ms, status, remote, record, offset,
                        length, content_type, body_bytes, decoded_bytes, payload_sha1, decoded_sha1, etag, last_modified, truncated,
                        resends, page_requests)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26,
             ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35)";

fn put_visit(
    statement: &mut Statement<'_>,
    id: VisitId,
    common: &Common,
    log: &SegmentLog,
    entry: &LogEntry,
    body_of: Option<i64>,
) -> Result<(), StoreError> {
    let visit = &entry.visit;
    let exchange = visit.exchange.as_ref();
    let file = entry.file.as_ref();
    let robotstxt_approved = match visit.outcome {
        Outcome::BlockedByRobotsTxt => Some(false),
        _ if visit.crawl_type == CrawlType::Import => None,
        _ => exchange.map(|exchange| exchange.robots.is_approved()),
    };
    statement.execute(params![
        id,
        visit.crawl_type.name(),
        common.agent,
        common.origin,
        common.iteration.number(),
        entry.url.as_str(),
        visit.sighting.depth,
        visit.sighting.via.as_ref().map(|via| shorten(&log.segment.origin.origin, via)),
        visit.redirects,
        robotstxt_approved,
        Code(visit.outcome),
        visit.finality == Finality::Final,
        visit.tries,
        Millis(entry.at),
        visit.detail,
        body_of,
        entry.change.as_ref().map(|change| change.kind.name()),
        entry.change.as_ref().map(VisitChange::part_names).filter(|names| !names.is_empty()),
        exchange.map(|exchange| u64::try_from(exchange.elapsed.as_millis()).unwrap_or(u64::MAX)),
        exchange.and_then(|exchange| exchange.first_byte_ms),
        exchange.and(entry.status),
        exchange.and_then(|exchange| exchange.remote).map(|remote| remote.to_string()),
        file.map(|file| record_name(file.record)),
        file.map(|file| file.offset),
        file.map(|file| file.length),
        file.and_then(|file| file.content_type.as_deref()),
        file.map(|file| file.body_bytes),
        file.and(exchange).map(|exchange| exchange.decoded_bytes),
        file.map(|file| Sha1(file.payload_sha1)),
        file.and(exchange).and_then(|exchange| exchange.decoded_sha1.as_deref()).map(Hex),
        file.and_then(|file| file.etag.as_deref()),
        file.and_then(|file| file.last_modified.as_deref()),
        file.and_then(|file| file.truncated.as_deref()),
        exchange.map(|exchange| exchange.resends).filter(|resends| *resends > 0),
        exchange.and_then(|exchange| PageRequests::from_exchange(exchange)).map(Json),
    ])?;
    Ok(())
}

const fn record_name(record: RecordKind) -> &'static str {
    match record {
        RecordKind::Response => "response",
        RecordKind::Revisit => "revisit",
    }
}

/// Returns the visit that fetched a URL's unchanged body; `None` if it is missing.
fn find_body_visit(db: &Db, common: &Common, entry: &LogEntry, since: Timestamp) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT id FROM visit WHERE url = ?1 AND is_final = 1 AND at = ?2 AND origin_id = ?3 AND iteration < ?4
               ORDER BY iteration DESC LIMIT 1";
    let of = params![entry.url.as_str(), Millis(since), common.origin, common.iteration.number()];
    db.find(sql, of, |row| row.get(0))
}

pub(crate) fn put_redirect(db: &Db, id: VisitId, redirect: &RedirectEntry) -> Result<(), StoreError> {
    let sql = "INSERT INTO redirect (id, to_url, is_permanent, information_source) VALUES (?1, ?2, ?3, ?4)";
    db.execute(sql, params![id, redirect.target.as_str(), redirect.is_permanent, redirect.source.name()])?;
    Ok(())
}
