//! What a parse commits, and what becomes of that.

use dragline_domain::frontier::{ParseBegun, ParsePart, ParserCounters, PartKind, PartRefused, SegmentId};
use dragline_domain::ids::Iteration;
use dragline_domain::politeness::Pace;
use jiff::Timestamp;

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
