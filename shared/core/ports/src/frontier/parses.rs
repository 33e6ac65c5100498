//! Commits of parses, and their results.

use std::future::Future;

use dragline_domain::frontier::{
    PageObservation, ParseBegun, ParseFault, ParsePart, ParserCounters, PartKind, PartRefused, SegmentId, SegmentRow,
};
use dragline_domain::ids::{Iteration, ParseToken};
use dragline_domain::politeness::Pace;
use jiff::Timestamp;

use crate::error::PortResult;

/// Parses of segments: counting those that died, and committing their results part by part.
pub trait Parses: Send + Sync {
    /// Returns a segment; `None` if there is none with this key.
    fn load_segment(&self, id: &SegmentId) -> impl Future<Output = PortResult<Option<SegmentRow>>> + Send;

    /// Records that a parse of a segment begins, and returns the segment's row; `None` if there is
    /// none. An earlier parse that has run out of time counts as dead. Records nothing while
    /// another parse has time left, or once the segment is parsed.
    fn begin_parse(&self, begin: &BeginParse) -> impl Future<Output = PortResult<Option<SegmentRow>>> + Send;

    /// Gives back a parse that has begun and did not die. Does nothing if it is not the recorded
    /// one.
    fn give_back_parse(
        &self,
        id: &SegmentId,
        token: &ParseToken,
        blame: ParseFault,
    ) -> impl Future<Output = PortResult<()>> + Send;

    /// Commits one part of a parse.
    fn commit_parse(&self, commit: &CommitParse) -> impl Future<Output = PortResult<ParseCommitted>> + Send;
}

/// A request to begin a parse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeginParse {
    /// The segment.
    pub segment: SegmentId,
    /// The parse's identity and its deadline.
    pub begun: ParseBegun,
    /// The current time.
    pub now: Timestamp,
}

/// A request to commit a part of a parse.
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
    /// The todo to add, by origin.
    pub part: ParsePart,
    /// The pace of origins that it opens for the first time.
    pub pace: Pace,
    /// The increments for the counters of the segment's own inbox; with the last part only.
    pub counters: ParserCounters,
    /// The pages of the segment that its own inbox observes; with the last part only.
    pub pages: Vec<PageObservation>,
    /// The current time.
    pub now: Timestamp,
    /// When the sweeper checks whether a wake-up was missed.
    pub due: Timestamp,
}

/// The result of committing a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseCommitted {
    /// The part is committed.
    Done,
    /// Another worker committed first.
    Refused(PartRefused),
    /// The iteration is over, or the segment is unknown: there is nothing to do.
    Over,
}
