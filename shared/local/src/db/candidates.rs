//! Rows of `crawl_candidate`.

use std::ops::ControlFlow;

use dragline_domain::frontier::{
    CandidateState, CandidateUpdate, Claimer, EndedVisit, FieldsDigest, Known, LastCapture, LastDocument, LastVisit,
    LinksDecided, RulesDigest, Sighting, Standing, StateChange, VisitPlace,
};
use dragline_domain::ids::{CrawlId, Iteration, Turn};
use dragline_domain::recrawl::Away;
use dragline_domain::url::Origin;
use jiff::Timestamp;
use rusqlite::{Row, params};

use super::crawls::iteration_number;
use super::urls::shorten;
use super::values::{Code, Sha1, Time};
use super::{Db, OriginRowId, StoreError, VisitId};

macro_rules! select_candidates {
    ($condition:literal) => {
        concat!(
            "SELECT k.path_query, k.queued_in, k.claimed_by, k.due_at, k.last_outcome, k.last_iteration, k.blocked_by, k.depth, k.via,
                    k.capture_outcome, k.captured_at, k.payload_sha1, k.decoded_sha1, k.etag, k.last_modified, k.interval_ms, k.read_by,
                    k.document_id, s.iteration, s.turn, s.n, k.document_outcome, k.standing, k.links_by, k.links_depth, k.away, k.away_since
             FROM crawl_candidate k LEFT JOIN segment s ON s.id = k.document_id >> 24 WHERE ",
            $condition
        )
    };
}

/// The most rows that are read to find a page of due candidates.
const SCAN_MAX: usize = 10_000;

/// The part of a candidate that claims and recrawls need.
pub(crate) struct Candidate {
    pub(crate) path_and_query: String,
    pub(crate) state: CandidateState,
    pub(crate) depth: u32,
    /// As shortened by [`shorten`].
    pub(crate) via: Option<String>,
    pub(crate) known: Known,
}

impl Candidate {
    fn read(row: &Row<'_>) -> Result<Self, StoreError> {
        let last_visit = match (row.get::<_, Option<Code>>(4)?, row.get::<_, Option<u32>>(5)?) {
            (Some(Code(outcome)), Some(number)) => Some(LastVisit { iteration: iteration_number(number)?, outcome }),
            _ => None,
        };
        let state = CandidateState {
            queued_in: iteration_number(row.get(1)?)?,
            claimed_by: Claimer::stored(row.get(2)?),
            due_at: row.get::<_, Option<Time>>(3)?.map(|due| due.0),
            last_visit,
            blocked_by: row.get::<_, Option<u32>>(6)?.map(RulesDigest),
        };
        let known = Known {
            last: read_capture(row)?,
            document: read_document(row)?,
            interval_ms: row.get(15)?,
            away: read_away(row)?,
        };
        Ok(Self { path_and_query: row.get(0)?, state, depth: row.get(7)?, via: row.get(8)?, known })
    }
}

/// Reads since when it is away; the two columns are NULL together.
fn read_away(row: &Row<'_>) -> Result<Option<Away>, StoreError> {
    let (Some(name), Some(Time(since))) = (row.get::<_, Option<String>>(25)?, row.get(26)?) else { return Ok(None) };
    let away = Away::named(&name, since);
    away.map(Some).ok_or_else(|| StoreError::Damaged(format!("a candidate is away as `{name}`")))
}

/// Reads what the last good capture left; its columns are NULL together.
fn read_capture(row: &Row<'_>) -> rusqlite::Result<Option<LastCapture>> {
    let Some(Code(outcome)) = row.get::<_, Option<Code>>(9)? else { return Ok(None) };
    Ok(Some(LastCapture {
        outcome,
        fetched_at: row.get::<_, Time>(10)?.0,
        payload_sha1: row.get::<_, Sha1>(11)?.0,
        decoded_sha1: row.get::<_, Sha1>(12)?.0,
        etag: row.get(13)?,
        last_modified: row.get(14)?,
        read_by: row.get::<_, Option<u32>>(16)?.map(FieldsDigest),
    }))
}

/// Reads which document is the last good one; its columns are NULL together.
fn read_document(row: &Row<'_>) -> Result<Option<LastDocument>, StoreError> {
    let Some(id) = row.get::<_, Option<VisitId>>(17)? else { return Ok(None) };
    let Some(iteration) = row.get::<_, Option<u32>>(18)? else {
        return Err(StoreError::Damaged("the segment of a document is missing".to_owned()));
    };
    let standing = Standing::named(&row.get::<_, String>(22)?);
    Ok(Some(LastDocument {
        place: VisitPlace {
            iteration: iteration_number(iteration)?,
            turn: Turn(row.get(19)?),
            segment: row.get(20)?,
            n: id.n(),
        },
        outcome: row.get::<_, Code>(21)?.0,
        standing: standing.ok_or_else(|| StoreError::Damaged("a candidate has an unknown standing".to_owned()))?,
        links: LinksDecided { by: RulesDigest(row.get(23)?), depth: row.get(24)? },
    }))
}

impl Db {
    /// Returns how many known URLs of a crawl have not ended yet.
    pub(crate) fn unvisited(&self, crawl: &CrawlId) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM crawl_candidate k JOIN origin o ON o.id = k.origin_id
                   WHERE o.crawl_id = ?1 AND k.last_outcome IS NULL";
        let Some(crawl) = self.crawl_id(crawl)? else { return Ok(0) };
        Ok(self.find(sql, params![crawl], |row| row.get(0))?.unwrap_or(0))
    }

    pub(crate) fn candidate(&self, origin: OriginRowId, path: &str) -> Result<Option<Candidate>, StoreError> {
        let sql = select_candidates!("k.origin_id = ?1 AND k.path_query = ?2");
        self.find_with(sql, params![origin, path], Candidate::read)
    }

    /// Walks an origin's candidates in the order of their paths until told to stop. Returns the path to continue after; `None` when the last was
    /// seen. Reads at most [`SCAN_MAX`] rows, so that nobody else waits for long.
    pub(crate) fn scan_candidates(
        &self,
        origin: OriginRowId,
        after: &str,
        mut visit: impl FnMut(Candidate) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<Option<String>, StoreError> {
        let sql = select_candidates!("k.origin_id = ?1 AND k.path_query > ?2 ORDER BY k.path_query LIMIT ?3");
        let mut statement = self.statement(sql)?;
        // Every path starts with `/`, so all come after the empty string.
        let mut rows = statement.query(params![origin, after, SCAN_MAX])?;
        let (mut count, mut last) = (0, None);
        while let Some(row) = rows.next()? {
            let candidate = Candidate::read(row)?;
            count += 1;
            last = Some(candidate.path_and_query.clone());
            if visit(candidate)?.is_break() {
                return Ok(last);
            }
        }
        Ok(last.filter(|_| count == SCAN_MAX))
    }

    /// Queues a new candidate.
    pub(crate) fn insert_candidate(
        &self,
        origin: (OriginRowId, &Origin),
        path: &str,
        queued: (Iteration, &Claimer),
        sighting: &Sighting,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO crawl_candidate (origin_id, path_query, queued_in, claimed_by, first_seen, depth, via)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let via = sighting.via.as_ref().map(|via| shorten(origin.1, via));
        let (iteration, claimer) = (queued.0.number(), queued.1.as_str());
        self.execute(sql, params![origin.0, path, iteration, claimer, Time(now), sighting.depth, via])?;
        Ok(())
    }

    /// Queues a candidate again, with how it was found this time.
    pub(crate) fn queue_candidate(
        &self,
        origin: (OriginRowId, &Origin),
        path: &str,
        queued: (Iteration, &Claimer),
        sighting: &Sighting,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE crawl_candidate SET queued_in = ?3, claimed_by = ?4, depth = ?5, via = ?6
                   WHERE origin_id = ?1 AND path_query = ?2";
        let via = sighting.via.as_ref().map(|via| shorten(origin.1, via));
        let (iteration, claimer) = (queued.0.number(), queued.1.as_str());
        self.execute(sql, params![origin.0, path, iteration, claimer, sighting.depth, via])?;
        Ok(())
    }

    /// Writes what an entry of a segment changes, unless something newer is there. A segment may mention a URL twice: the later one counts.
    pub(crate) fn update_candidate(&self, origin: OriginRowId, update: &CandidateUpdate) -> Result<(), StoreError> {
        let path = &update.path_and_query;
        let version = (update.iteration.number(), update.turn.0, update.n);
        let is_newest = match &update.ended {
            Some(ended) => self.put_end(origin, path, version, ended)?,
            None => self.is_newest(origin, path, version)?,
        };
        if !is_newest {
            return Ok(());
        }
        if let Some(capture) = update.ended.as_ref().and_then(|ended| ended.capture.as_ref()) {
            self.put_capture(origin, path, capture)?;
        }
        self.put_state(origin, path, update)
    }

    fn is_newest(&self, origin: OriginRowId, path: &str, version: (u32, u64, u64)) -> Result<bool, StoreError> {
        let sql = "SELECT last_iteration IS NULL OR (last_iteration, last_turn, last_segment) <= (?3, ?4, ?5)
                   FROM crawl_candidate WHERE origin_id = ?1 AND path_query = ?2";
        let is_newest = self.find(sql, params![origin, path, version.0, version.1, version.2], |row| row.get(0))?;
        Ok(is_newest.unwrap_or(false))
    }

    /// Returns whether nothing newer was there.
    fn put_end(
        &self,
        origin: OriginRowId,
        path: &str,
        version: (u32, u64, u64),
        ended: &EndedVisit,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE crawl_candidate
                   SET last_iteration = ?3, last_turn = ?4, last_segment = ?5, last_outcome = ?6, last_at = ?7, due_at = ?8,
                       last_contentful_outcome = iif(?9, ?6, last_contentful_outcome),
                       last_contentful_at = iif(?9, ?7, last_contentful_at), away_since = ?10, blocked_by = ?11, away = ?12,
                       interval_ms = ?13
                   WHERE origin_id = ?1 AND path_query = ?2
                     AND (last_iteration IS NULL OR (last_iteration, last_turn, last_segment) <= (?3, ?4, ?5))";
        let written = self.execute(
            sql,
            params![
                origin,
                path,
                version.0,
                version.1,
                version.2,
                Code(ended.outcome),
                Time(ended.at),
                ended.due_at.map(Time),
                ended.outcome.is_contentful(),
                ended.away.map(|away| Time(away.since())),
                ended.blocked_by.map(|rules| rules.0),
                ended.away.map(Away::name),
                ended.interval.map(|interval| u64::try_from(interval.as_millis()).unwrap_or(u64::MAX)),
            ],
        )?;
        Ok(written > 0)
    }

    fn put_state(&self, origin: OriginRowId, path: &str, update: &CandidateUpdate) -> Result<(), StoreError> {
        let checked_at = update.ended.as_ref().map(|ended| Time(ended.at));
        match &update.state {
            StateChange::Kept => {}
            StateChange::Confirmed => {
                let sql = "UPDATE crawl_candidate SET standing = 'shown', checked_at = coalesce(?3, checked_at)
                           WHERE origin_id = ?1 AND path_query = ?2 AND document_id IS NOT NULL";
                self.execute(sql, params![origin, path, checked_at])?;
            }
            StateChange::Hidden(standing) => {
                let sql = "UPDATE crawl_candidate SET standing = ?4, checked_at = coalesce(?3, checked_at)
                           WHERE origin_id = ?1 AND path_query = ?2 AND document_id IS NOT NULL";
                self.execute(sql, params![origin, path, checked_at, standing.name()])?;
            }
            StateChange::Shown { place, outcome, links, changed_at } => {
                let Some(segment) = self.segment_at(origin, place)? else {
                    return Err(StoreError::Missing("segment of a document"));
                };
                let sql = "UPDATE crawl_candidate
                           SET document_id = ?4, document_outcome = ?5, standing = 'shown', links_by = ?6, links_depth = ?7,
                               checked_at = coalesce(?3, checked_at), changed_at = coalesce(?8, changed_at)
                           WHERE origin_id = ?1 AND path_query = ?2";
                let document = VisitId::new(segment, place.n)?;
                let (by, changed_at) = (links.by.0, changed_at.map(Time));
                let values = params![origin, path, checked_at, document, Code(*outcome), by, links.depth, changed_at];
                self.execute(sql, values)?;
            }
        }
        Ok(())
    }

    fn put_capture(&self, origin: OriginRowId, path: &str, capture: &LastCapture) -> Result<(), StoreError> {
        let sql = "UPDATE crawl_candidate
                   SET capture_outcome = ?3, captured_at = ?4, payload_sha1 = ?5, decoded_sha1 = ?6, etag = ?7,
                       last_modified = ?8, read_by = ?9
                   WHERE origin_id = ?1 AND path_query = ?2";
        self.execute(
            sql,
            params![
                origin,
                path,
                Code(capture.outcome),
                Time(capture.fetched_at),
                Sha1(capture.payload_sha1),
                Sha1(capture.decoded_sha1),
                capture.etag,
                capture.last_modified,
                capture.read_by.map(|digest| digest.0),
            ],
        )?;
        Ok(())
    }
}
