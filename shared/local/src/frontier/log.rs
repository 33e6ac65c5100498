//! The crawl log: one row per URL that ended or was postponed in a segment, and what belongs to it.

use dragline_domain::capture::{Exchange, FileEntry, Finality, LogEntry, RecordKind, RedirectEntry, SegmentLog};
use dragline_domain::change::VisitChange;
use dragline_domain::frontier::SegmentRow;
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::CrawlLog;
use jiff::Timestamp;
use rusqlite::params;
use uuid::{Builder, Uuid};

use super::SqliteFrontier;
use crate::db::urls::shorten;
use crate::db::values::{Code, Sha1, Time};
use crate::db::{Db, OriginRowId, StoreError, VisitId};

impl CrawlLog for SqliteFrontier {
    async fn put_log(&self, log: &SegmentLog) -> PortResult<()> {
        let content = log.clone();
        self.run("put log", &log.segment, move |db| put_log(db, &content)).await
    }
}

fn put_log(db: &Db, log: &SegmentLog) -> Result<(), StoreError> {
    let segment = db.segment(&log.segment)?.ok_or(StoreError::Missing("such segment"))?;
    if segment.is_logged {
        return Ok(());
    }
    let origin = db.ensure_origin(&log.segment.origin)?;
    let common = Common { origin, agent: ensure_agent(db, &log.agent)?, iteration: log.iteration };
    for entry in &log.entries {
        let id = VisitId::new(segment.row_id, entry.n)?;
        put_visit(db, id, &common, visit_uuid(&segment.row, entry.n), log, entry)?;
        if let Some(exchange) = &entry.visit.exchange {
            put_request(db, id, entry, exchange)?;
        }
        if let Some(file) = &entry.file {
            put_file(db, id, file, entry.visit.exchange.as_ref())?;
        }
        if let Some(redirect) = &entry.redirect {
            put_redirect(db, id, redirect)?;
        }
    }
    db.execute("UPDATE segment SET is_logged = 1 WHERE id = ?1", [segment.row_id])?;
    Ok(())
}

/// What all rows of a segment's log share.
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

/// Returns a globally unique name for the visit: the lease's random bits, then the segment's and the visit's numbers, as a UUID of version 8 (RFC
/// 9562). `None` if the token is not 128 bits.
fn visit_uuid(segment: &SegmentRow, n: u32) -> Option<Uuid> {
    let mut bytes = u128::from_str_radix(segment.token.as_str(), 16).ok()?.to_be_bytes();
    bytes[10..12].copy_from_slice(&segment.id.n.to_be_bytes()[6..]);
    bytes[12..].copy_from_slice(&n.to_be_bytes());
    Some(Builder::from_custom_bytes(bytes).into_uuid())
}

fn put_visit(
    db: &Db,
    id: VisitId,
    common: &Common,
    uuid: Option<Uuid>,
    log: &SegmentLog,
    entry: &LogEntry,
) -> Result<(), StoreError> {
    let sql =
        "INSERT INTO crawl_log (id, crawl_uuid, crawl_type, agent_id, origin_id, iteration, url, depth, via, redirects,
                                      robotstxt_approved, outcome, is_final, tries, at, detail, body_of,
                                      change, changed_parts)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";
    let visit = &entry.visit;
    let robotstxt_approved = match visit.outcome {
        Outcome::BlockedByRobotsTxt => Some(false),
        _ => visit.exchange.as_ref().map(|_| true),
    };
    db.execute(
        sql,
        params![
            id,
            uuid.map(|uuid| uuid.to_string()),
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
            Time(entry.at),
            visit.detail,
            entry.unchanged_since.map(|since| body_of(db, common, entry, since)).transpose()?.flatten(),
            entry.change.as_ref().map(|change| change.kind.name()),
            entry.change.as_ref().map(VisitChange::part_names).filter(|names| !names.is_empty()),
        ],
    )?;
    Ok(())
}

/// Returns the visit that fetched the body which a URL still has; `None` if it is not there.
fn body_of(db: &Db, common: &Common, entry: &LogEntry, since: Timestamp) -> Result<Option<i64>, StoreError> {
    let sql =
        "SELECT id FROM crawl_log WHERE url = ?1 AND is_final = 1 AND at = ?2 AND origin_id = ?3 AND iteration < ?4
               ORDER BY iteration DESC LIMIT 1";
    let of = params![entry.url.as_str(), Time(since), common.origin, common.iteration.number()];
    db.find(sql, of, |row| row.get(0))
}

fn put_request(db: &Db, id: VisitId, entry: &LogEntry, exchange: &Exchange) -> Result<(), StoreError> {
    let sql =
        "INSERT INTO request (id, sent_at, duration_ms, first_byte_ms, status, remote) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let duration_ms = u64::try_from(exchange.elapsed.as_millis()).unwrap_or(u64::MAX);
    let remote = exchange.remote.map(|remote| remote.to_string());
    db.execute(sql, params![id, Time(entry.at), duration_ms, exchange.first_byte_ms, entry.status, remote])?;
    Ok(())
}

fn put_file(db: &Db, id: VisitId, file: &FileEntry, exchange: Option<&Exchange>) -> Result<(), StoreError> {
    let sql = "INSERT INTO file (id, record, offset, length, content_type, body_bytes, decoded_bytes, payload_sha1, decoded_sha1,
                                 etag, last_modified, truncated)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let record = match file.record {
        RecordKind::Response => "response",
        RecordKind::Revisit => "revisit",
    };
    db.execute(
        sql,
        params![
            id,
            record,
            file.offset,
            file.length,
            file.content_type,
            file.body_bytes,
            exchange.map(|exchange| exchange.decoded_bytes),
            Sha1(file.payload_sha1),
            exchange.and_then(|exchange| exchange.decoded_sha1.as_deref()),
            file.etag,
            file.last_modified,
            file.truncated,
        ],
    )?;
    Ok(())
}

fn put_redirect(db: &Db, id: VisitId, redirect: &RedirectEntry) -> Result<(), StoreError> {
    let sql = "INSERT INTO redirect (id, to_url, is_permanent, information_source) VALUES (?1, ?2, ?3, ?4)";
    db.execute(sql, params![id, redirect.target.as_str(), redirect.is_permanent, redirect.source.name()])?;
    Ok(())
}
