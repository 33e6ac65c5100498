//! Rows of `segment`.

use dragline_domain::frontier::{ObjectKey, ParseBegun, SegmentId, SegmentRow, SegmentState, VisitPlace};
use dragline_domain::ids::{LeaseToken, Turn};
use rusqlite::{Row, params};

use super::crawls::iteration_number;
use super::values::{Json, Text, Time};
use super::{Db, OriginRowId, SegmentRowId, StoreError};

const COLUMNS: &str = "id, iteration, token, state, part, object, object_bytes, entries, put_off, committed_at, attempts, parsing, due, is_logged, is_documented";

/// A segment with what only the store knows about it.
pub(crate) struct StoredSegment {
    pub(crate) row_id: SegmentRowId,
    pub(crate) row: SegmentRow,
    /// Whether its log was put, even if empty.
    pub(crate) is_logged: bool,
    /// Whether its documents were put, even if there are none.
    pub(crate) is_documented: bool,
}

struct Columns {
    row_id: SegmentRowId,
    iteration: u32,
    token: String,
    state: String,
    part: Option<u32>,
    object: ObjectKey,
    object_bytes: u64,
    entries: u32,
    put_off: u32,
    committed_at: Time,
    attempts: u32,
    parsing: Option<Json<ParseBegun>>,
    due: Option<Time>,
    is_logged: bool,
    is_documented: bool,
}

impl Columns {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            row_id: row.get("id")?,
            iteration: row.get("iteration")?,
            token: row.get("token")?,
            state: row.get("state")?,
            part: row.get("part")?,
            object: row.get::<_, Text<ObjectKey>>("object")?.0,
            object_bytes: row.get("object_bytes")?,
            entries: row.get("entries")?,
            put_off: row.get("put_off")?,
            committed_at: row.get("committed_at")?,
            attempts: row.get("attempts")?,
            parsing: row.get("parsing")?,
            due: row.get("due")?,
            is_logged: row.get("is_logged")?,
            is_documented: row.get("is_documented")?,
        })
    }

    fn checked(self, id: &SegmentId) -> Result<StoredSegment, StoreError> {
        let state = match (self.state.as_str(), self.part) {
            ("crawled", Some(part)) => SegmentState::Crawled { part },
            ("processed", None) => SegmentState::Processed,
            _ => return Err(StoreError::Damaged("a segment has an unknown state".to_owned())),
        };
        let row = SegmentRow {
            id: id.clone(),
            iteration: iteration_number(self.iteration)?,
            token: LeaseToken::stored(self.token),
            state,
            object: self.object,
            object_bytes: self.object_bytes,
            entries: self.entries,
            put_off: self.put_off,
            committed_at: self.committed_at.0,
            attempts: self.attempts,
            parsing: self.parsing.map(|Json(begun)| begun),
            due: self.due.map(|due| due.0),
        };
        let Self { row_id, is_logged, is_documented, .. } = self;
        Ok(StoredSegment { row_id, row, is_logged, is_documented })
    }
}

const fn state_columns(state: SegmentState) -> (&'static str, Option<u32>) {
    match state {
        SegmentState::Crawled { part } => ("crawled", Some(part)),
        SegmentState::Processed => ("processed", None),
    }
}

impl Db {
    pub(crate) fn segment(&self, id: &SegmentId) -> Result<Option<StoredSegment>, StoreError> {
        let Some(origin) = self.origin_id(&id.origin)? else { return Ok(None) };
        let sql = format!("SELECT {COLUMNS} FROM segment WHERE origin_id = ?1 AND turn = ?2 AND n = ?3");
        let stored = self.find(&sql, params![origin, id.turn.0, id.n], Columns::read)?;
        stored.map(|columns| columns.checked(id)).transpose()
    }

    /// Returns the segment of a visit to this origin.
    pub(crate) fn segment_at(
        &self,
        origin: OriginRowId,
        place: &VisitPlace,
    ) -> Result<Option<SegmentRowId>, StoreError> {
        let sql = "SELECT id FROM segment WHERE origin_id = ?1 AND turn = ?2 AND n = ?3";
        self.find(sql, params![origin, place.turn.0, place.segment], |row| row.get(0))
    }

    pub(crate) fn insert_segment(&self, origin: OriginRowId, row: &SegmentRow) -> Result<(), StoreError> {
        let sql =
            "INSERT INTO segment (origin_id, turn, n, iteration, token, state, part, object, object_bytes, entries,
                                        put_off, committed_at, attempts, parsing, due)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
        let (state, part) = state_columns(row.state);
        let Turn(turn) = row.id.turn;
        self.execute(
            sql,
            params![
                origin,
                turn,
                row.id.n,
                row.iteration.number(),
                row.token.as_str(),
                state,
                part,
                row.object.as_str(),
                row.object_bytes,
                row.entries,
                row.put_off,
                Time(row.committed_at),
                row.attempts,
                row.parsing.as_ref().map(Json),
                row.due.map(Time),
            ],
        )?;
        Ok(())
    }

    /// Writes what changes in a segment after its commit: the progress of its parse.
    pub(crate) fn update_segment(&self, id: SegmentRowId, row: &SegmentRow) -> Result<(), StoreError> {
        let (state, part) = state_columns(row.state);
        let sql = "UPDATE segment SET state = ?2, part = ?3, attempts = ?4, parsing = ?5, due = ?6 WHERE id = ?1";
        let parsing = row.parsing.as_ref().map(Json);
        self.execute(sql, params![id, state, part, row.attempts, parsing, row.due.map(Time)])?;
        Ok(())
    }
}
