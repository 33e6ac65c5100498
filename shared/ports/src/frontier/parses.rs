//! What a parse commits, and what becomes of that.

use std::future::Future;

use dragline_domain::frontier::{
    Blame, ParseBegun, ParsePart, ParserCounters, PartKind, PartRefused, SegmentId, SegmentRow,
};
use dragline_domain::ids::{Iteration, ParseToken};
use dragline_domain::politeness::Pace;
use jiff::Timestamp;

use crate::error::PortResult;

/// Parses of segments: counting those that died, and committing what was found, part by part.
pub trait Parses: Send + Sync {
    /// A segment; `None` if there is none of this key.
    fn load_segment(&self, id: &SegmentId) -> impl Future<Output = PortResult<Option<SegmentRow>>> + Send;

    /// Notes that a parse of a segment begins, and returns its row; `None` if there is none. A parse that was begun earlier and whose time is
    /// over counts as one that died. While another has time left, and where it is parsed, nothing is noted.
    fn begin_parse(&self, begin: &BeginParse) -> impl Future<Output = PortResult<Option<SegmentRow>>> + Send;

    /// Gives back a parse that was begun: it did not die. Does nothing if it is not the one that is noted.
    fn give_back_parse(
        &self,
        id: &SegmentId,
        token: &ParseToken,
        blame: Blame,
    ) -> impl Future<Output = PortResult<()>> + Send;

    /// Commits one part of a parse.
    fn commit_parse(&self, commit: &CommitParse) -> impl Future<Output = PortResult<ParseCommitted>> + Send;
}

/// A parse that is to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeginParse {
    /// The segment.
    pub segment: SegmentId,
    /// Who begins it, and when it is over at the latest.
    pub begun: ParseBegun,
    /// The time of now.
    pub now: Timestamp,
}

/// A part of a parse to be committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitParse {
    /// The segment.
    pub segment: SegmentId,
    /// The iteration.
    pub iteration: Iteration,
    /// The part's number.
    pub part_number: u32,
    /// Whether parts follow.
    pub kind: PartKind,
    /// The todo that it adds, origin by origin.
    pub part: ParsePart,
    /// The pace of origins that it opens for the first time.
    pub pace: Pace,
    /// What to add to the own inbox's counters; with the last part only.
    pub counters: ParserCounters,
    /// The time of now.
    pub now: Timestamp,
    /// When the sweeper looks whether a wake-up was missed.
    pub due: Timestamp,
}

/// What became of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseCommitted {
    /// It is in.
    Done,
    /// Another worker was here first.
    Refused(PartRefused),
    /// The iteration is over, or the segment is not known: nothing to be done.
    Over,
}
