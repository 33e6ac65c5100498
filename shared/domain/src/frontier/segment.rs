//! The row of a segment: one WARC object of captures, and how far it is parsed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Decided, Lease, ObjectKey, SegmentId};
use crate::ids::{Iteration, LeaseToken, ParseToken};

/// A committed segment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SegmentRow {
    /// Its key.
    pub id: SegmentId,
    /// The iteration it belongs to.
    pub iteration: Iteration,
    /// The token of the lease that committed it.
    pub token: LeaseToken,
    /// How far it is.
    pub state: SegmentState,
    /// Where its WARC is.
    pub object: ObjectKey,
    /// The object's size in bytes.
    pub object_bytes: u64,
    /// How many URLs ended or were put off in it.
    pub entries: u32,
    /// How many of them were put off: they end in a later segment.
    #[serde(default)]
    pub put_off: u32,
    /// When it was committed.
    pub committed_at: Timestamp,
    /// How many parses came to grief on it: those that died, and those that could not read its object. What the store failed at does not
    /// count.
    pub attempts: u32,
    /// The parse that was begun, and neither committed nor given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parsing: Option<ParseBegun>,
    /// When the sweeper sends its parse message again; absent once it is parsed.
    pub due: Option<Timestamp>,
}

/// A parse that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParseBegun {
    /// Who began it.
    pub token: ParseToken,
    /// No parse takes longer: if it is not over by then, whoever began it died.
    pub until: Timestamp,
}

/// Why a parse that was begun is given back without a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The store, or another segment: it says nothing of this one.
    Elsewhere,
    /// Its object, which cannot be read.
    Segment,
}

/// How far a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentState {
    /// Its bodies are kept; the parse is owed.
    Crawled {
        /// The part of the parse that is to be committed next.
        part: u32,
    },
    /// Parsed: every link is claimed, every outcome logged.
    Processed,
}

/// Why a part of a parse was not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartRefused {
    /// Another worker parsed it.
    AlreadyParsed,
    /// Another worker committed parts of it: go on there.
    GoOnAt(u32),
}

impl SegmentRow {
    /// The row once a parse is begun; `None` if nothing is to be noted: it is parsed, or another parse of it has time left. That one's end
    /// says what is to be known, so that a duplicate beside it never counts.
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

    /// The row once a parse is given back; `None` if it is not the one that is noted.
    #[must_use]
    pub fn give_back_parse(&self, token: &ParseToken, blame: Blame) -> Option<Self> {
        let is_own = self.parsing.as_ref().is_some_and(|begun| begun.token == *token);
        let counted = match blame {
            Blame::Elsewhere => 0,
            Blame::Segment => 1,
        };
        is_own.then(|| Self { attempts: self.attempts.saturating_add(counted), parsing: None, ..self.clone() })
    }

    /// The row after this part of its parse.
    ///
    /// # Errors
    /// [`PartRefused`] where another worker was here.
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

/// Whether parts follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// They do.
    More,
    /// This one ends the parse.
    Last,
}

/// What became of committing a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// It is there, now or since an earlier try whose answer was lost.
    Done,
    /// Another worker holds the lease, or did when it wrote this segment. Nothing was written.
    Fenced,
}

/// Decides the commit of a segment by the rows as stored: the lease, and the segment of the same key. The fence is the token, not the
/// clock: a holder that is late but was not taken over may commit.
#[must_use]
pub fn commit_segment(lease: Option<&Lease>, earlier: Option<&SegmentRow>, segment: &SegmentRow) -> Decided<Committed> {
    match earlier {
        Some(earlier) if earlier.token == segment.token => Decided::Leave(Committed::Done),
        None if lease.is_some_and(|lease| lease.is_held_by(&segment.token)) => Decided::Write(Committed::Done),
        Some(_) | None => Decided::Leave(Committed::Fenced),
    }
}
