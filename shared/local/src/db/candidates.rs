//! Rows of `crawl_candidate`.

use std::ops::ControlFlow;

use dragline_domain::frontier::{CandidateUpdate, ClaimedState, Claimer, FieldsDigest, LastCapture, Sighting};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::Origin;
use jiff::Timestamp;
use rusqlite::{Row, params};

use super::crawls::iteration_number;
use super::urls::shorten;
use super::values::{Code, Sha1, Time};
use super::{Db, OriginRowId, StoreError};

macro_rules! select_candidates {
    ($condition:literal) => {
        concat!(
            "SELECT path_query, queued_in, claimed_by, due_at, last_outcome, depth, via, capture_outcome, captured_at,
                    payload_sha1, decoded_sha1, etag, last_modified, interval_ms, read_by
             FROM crawl_candidate WHERE ",
            $condition
        )
    };
}

/// The most rows that are read to find a page of due candidates.
const SCAN_MAX: usize = 10_000;

/// The part of a candidate that claims and recrawls need.
pub(crate) struct Candidate {
    pub(crate) path_and_query: String,
    pub(crate) claimed: ClaimedState,
    pub(crate) last_outcome: Option<Outcome>,
    pub(crate) depth: u32,
    /// As shortened by [`shorten`].
    pub(crate) via: Option<String>,
    pub(crate) last: Option<LastCapture>,
}

/// Reads the columns of a candidate. `queued_in` is checked by the caller.
fn read(row: &Row<'_>) -> rusqlite::Result<(u32, Candidate)> {
    let queued_in = row.get(1)?;
    let candidate = Candidate {
        path_and_query: row.get(0)?,
        claimed: ClaimedState {
            queued_in: Iteration::FIRST,
            claimed_by: Claimer::stored(row.get(2)?),
            due_at: row.get::<_, Option<Time>>(3)?.map(|due| due.0),
        },
        last_outcome: row.get::<_, Option<Code>>(4)?.map(|code| code.0),
        depth: row.get(5)?,
        via: row.get(6)?,
        last: read_capture(row)?,
    };
    Ok((queued_in, candidate))
}

/// Reads what the last good capture left; its columns are NULL together.
fn read_capture(row: &Row<'_>) -> rusqlite::Result<Option<LastCapture>> {
    let Some(Code(outcome)) = row.get::<_, Option<Code>>(7)? else { return Ok(None) };
    Ok(Some(LastCapture {
        outcome,
        fetched_at: row.get::<_, Time>(8)?.0,
        payload_sha1: row.get::<_, Sha1>(9)?.0,
        decoded_sha1: row.get::<_, Sha1>(10)?.0,
        etag: row.get(11)?,
        last_modified: row.get(12)?,
        interval_ms: row.get(13)?,
        read_by: row.get::<_, Option<u32>>(14)?.map(FieldsDigest),
    }))
}

fn checked((queued_in, mut candidate): (u32, Candidate)) -> Result<Candidate, StoreError> {
    candidate.claimed.queued_in = iteration_number(queued_in)?;
    Ok(candidate)
}

impl Db {
    pub(crate) fn candidate(&self, origin: OriginRowId, path: &str) -> Result<Option<Candidate>, StoreError> {
        let sql = select_candidates!("origin_id = ?1 AND path_query = ?2");
        self.find(sql, params![origin, path], read)?.map(checked).transpose()
    }

    /// Walks an origin's candidates in the order of their paths until told to stop. Returns the path to continue after; `None` when the last was
    /// seen. Reads at most [`SCAN_MAX`] rows, so that nobody else waits for long.
    pub(crate) fn scan_candidates(
        &self,
        origin: OriginRowId,
        after: Option<&str>,
        mut visit: impl FnMut(Candidate) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<Option<String>, StoreError> {
        let sql = select_candidates!("origin_id = ?1 AND path_query > ?2 ORDER BY path_query LIMIT ?3");
        let mut statement = self.statement(sql)?;
        // Every path starts with `/`, so all come after the empty string.
        let mut rows = statement.query(params![origin, after.unwrap_or_default(), SCAN_MAX])?;
        let (mut count, mut last) = (0, None);
        while let Some(row) = rows.next()? {
            let candidate = checked(read(row)?)?;
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

    /// Writes how a URL ended, unless something newer is there. A segment may mention a URL twice: the later one counts.
    pub(crate) fn update_candidate(&self, origin: OriginRowId, update: &CandidateUpdate) -> Result<(), StoreError> {
        let sql = "UPDATE crawl_candidate
                   SET last_iteration = ?3, last_turn = ?4, last_segment = ?5, last_outcome = ?6, last_at = ?7, due_at = ?8,
                       last_contentful_outcome = iif(?9, ?6, last_contentful_outcome),
                       last_contentful_at = iif(?9, ?7, last_contentful_at)
                   WHERE origin_id = ?1 AND path_query = ?2
                     AND (last_iteration IS NULL OR (last_iteration, last_turn, last_segment) <= (?3, ?4, ?5))";
        let written = self.execute(
            sql,
            params![
                origin,
                update.path_and_query,
                update.iteration.number(),
                update.turn.0,
                update.n,
                Code(update.outcome),
                Time(update.at),
                update.due_at.map(Time),
                update.outcome.is_contentful(),
            ],
        )?;
        match &update.capture {
            Some(capture) if written > 0 => self.put_capture(origin, &update.path_and_query, capture),
            _ => Ok(()),
        }
    }

    fn put_capture(&self, origin: OriginRowId, path: &str, capture: &LastCapture) -> Result<(), StoreError> {
        let sql = "UPDATE crawl_candidate
                   SET capture_outcome = ?3, captured_at = ?4, payload_sha1 = ?5, decoded_sha1 = ?6, etag = ?7,
                       last_modified = ?8, interval_ms = ?9, read_by = ?10
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
                capture.interval_ms,
                capture.read_by.map(|digest| digest.0),
            ],
        )?;
        Ok(())
    }
}
