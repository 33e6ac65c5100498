//! The row of a segment: one WARC object of captures, and the progress of parsing it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Decided, Lease, ObjectKey, SegmentId};
use crate::ids::{Iteration, LeaseToken, ParseToken};

/// A committed segment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SegmentRow {
    /// Its key.
    pub id: SegmentId,
    /// Its iteration.
    pub iteration: Iteration,
    /// The token of the lease that committed it.
    pub token: LeaseToken,
    /// The progress of parsing it.
    pub state: SegmentState,
    /// Its WARC object.
    pub object: ObjectKey,
    /// The object's size in bytes.
    pub object_bytes: u64,
    /// How many URLs ended or were deferred in it.
    pub entries: u32,
    /// How many of them were deferred: they end in a later segment.
    #[serde(default)]
    pub put_off: u32,
    /// When it was committed.
    pub committed_at: Timestamp,
    /// How many parses of it failed: those that died, those that could not read its object, and
    /// those with an error that is bound to recur. A store that is busy or unreachable does not
    /// count.
    pub attempts: u32,
    /// The parse that has begun and was neither committed nor given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parsing: Option<ParseBegun>,
    /// When the sweeper sends its parse message again; `None` once it is parsed.
    pub due: Option<Timestamp>,
}

/// A parse that has begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParseBegun {
    /// Its worker's token.
    pub token: ParseToken,
    /// The deadline of the parse: if it is not over by then, the worker has died.
    pub until: Timestamp,
}

/// The cause of giving back a parse without a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseFault {
    /// The store, or another segment: this one is fine.
    Elsewhere,
    /// The segment: its object cannot be read, or its contents cause an error that is bound to
    /// recur.
    Segment,
}

/// The progress of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentState {
    /// Its bodies are stored, and it waits to be parsed.
    Crawled {
        /// The part of the parse to commit next.
        part: u32,
    },
    /// Parsed: every link is claimed, every outcome logged.
    Processed,
}

/// The reason why a part of a parse was not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartRefused {
    /// Another worker has parsed the segment.
    AlreadyParsed,
    /// Another worker has committed parts of it: continue with this one.
    GoOnAt(u32),
}

impl SegmentRow {
    /// Returns the row after beginning a parse; `None` if the segment is parsed, or another parse
    /// of it has time left. A duplicate parse beside that one is not recorded, and never counts.
    #[must_use]
    pub fn begin_parse(&self, begun: &ParseBegun, now: Timestamp) -> Option<Self> {
        let died = match &self.parsing {
            Some(earlier) if earlier.until > now => return None,
            Some(_) => 1,
            None => 0,
        };
        let is_owed = matches!(self.state, SegmentState::Crawled { .. });
        is_owed.then(|| Self {
            attempts: self.attempts.saturating_add(died),
            parsing: Some(begun.clone()),
            ..self.clone()
        })
    }

    /// Returns the row after giving back a parse; `None` if it is not the recorded one.
    #[must_use]
    pub fn give_back_parse(&self, token: &ParseToken, blame: ParseFault) -> Option<Self> {
        let is_own = self.parsing.as_ref().is_some_and(|begun| begun.token == *token);
        let counted = match blame {
            ParseFault::Elsewhere => 0,
            ParseFault::Segment => 1,
        };
        is_own.then(|| Self { attempts: self.attempts.saturating_add(counted), parsing: None, ..self.clone() })
    }

    /// Returns the row after committing this part of its parse.
    ///
    /// # Errors
    /// [`PartRefused`] if another worker has parsed it, or part of it.
    pub fn commit_part(&self, part: u32, is_last: PartKind) -> Result<Self, PartRefused> {
        match self.state {
            SegmentState::Processed => Err(PartRefused::AlreadyParsed),
            SegmentState::Crawled { part: next } if next != part => Err(PartRefused::GoOnAt(next)),
            SegmentState::Crawled { .. } => Ok(match is_last {
                PartKind::Last => Self { state: SegmentState::Processed, due: None, parsing: None, ..self.clone() },
                PartKind::More => Self { state: SegmentState::Crawled { part: part + 1 }, ..self.clone() },
            }),
        }
    }
}

/// Whether more parts follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// More parts follow.
    More,
    /// This one ends the parse.
    Last,
}

/// The result of committing a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentCommitted {
    /// It is stored, now or by an earlier try whose answer was lost.
    Done,
    /// Another worker holds the lease, or did when it wrote this segment. Nothing was written.
    Fenced,
}

/// Decides the commit of a segment from the stored rows: the lease, and the segment with the same
/// key. The fence is the token, not the clock: a late holder may commit unless its lease was taken
/// over.
#[must_use]
pub fn commit_segment(
    lease: Option<&Lease>,
    earlier: Option<&SegmentRow>,
    segment: &SegmentRow,
) -> Decided<SegmentCommitted> {
    match earlier {
        Some(earlier) if earlier.token == segment.token => Decided::Leave(SegmentCommitted::Done),
        None if lease.is_some_and(|lease| lease.is_held_by(&segment.token)) => Decided::Write(SegmentCommitted::Done),
        Some(_) | None => Decided::Leave(SegmentCommitted::Fenced),
    }
}
