//! Committing a part of a parse: the segment, its targets, its own origin and the iteration at
//! once.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{
    AddTodo, IterationRow, OriginKey, OriginRows, PageObservation, ParserCounters, PartKind, PartRefused, SegmentRow,
    Target, add_todo,
};
use crate::politeness::Pace;

/// The rows of origins by their keys.
pub type RowsByOrigin = BTreeMap<OriginKey, OriginRows>;

/// A part of a parse to be committed.
#[derive(Clone, Copy, Debug)]
pub struct PartCommit<'a> {
    /// The part's number.
    pub number: u32,
    /// Whether more parts follow.
    pub kind: PartKind,
    /// The todo to add.
    pub targets: &'a [Target],
    /// The pace of origins that it opens for the first time.
    pub pace: Pace,
    /// The increments that the last part adds to the counters in the inbox of the segment's own
    /// origin.
    pub counters: &'a ParserCounters,
    /// The pages of the segment that the last part observes there.
    pub pages: &'a [PageObservation],
    /// The current time.
    pub now: Timestamp,
    /// When the sweeper checks whether a wake-up was missed.
    pub due: Timestamp,
}

/// The rows after the commit of a part of a parse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartCommitted {
    /// The segment's row.
    pub segment: SegmentRow,
    /// The rows of the affected origins.
    pub origins: RowsByOrigin,
    /// The iteration's row; `None` if the part opened no origin.
    pub iteration: Option<IterationRow>,
}

/// The reason why a part of a parse was not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartNotCommitted {
    /// Another worker has parsed the segment, or is doing so.
    Refused(PartRefused),
    /// An origin would have to be opened, but the iteration is over; or the segment's own origin is
    /// unknown.
    Over,
}

/// Commits a part: adds its todo to its targets, opens closed ones, and with the last part counts
/// the segment as parsed.
///
/// `origins` contains the current rows of the segment's own origin and of every target that has
/// any.
///
/// # Errors
/// [`PartNotCommitted`], with nothing to write.
pub fn commit_part(
    segment: &SegmentRow,
    origins: &RowsByOrigin,
    iteration: &IterationRow,
    part: &PartCommit<'_>,
) -> Result<PartCommitted, PartNotCommitted> {
    let after = segment.commit_part(part.number, part.kind).map_err(PartNotCommitted::Refused)?;
    let mut touched = RowsByOrigin::new();
    let mut opened = None;
    for target in part.targets {
        let rows = touched.get(&target.origin).or_else(|| origins.get(&target.origin));
        let add = AddTodo { count: target.count(), pace: part.pace, now: part.now, due: part.due };
        let current = opened.as_ref().unwrap_or(iteration);
        let (rows, iteration_after) = add_todo(rows, current, &add).ok_or(PartNotCommitted::Over)?;
        opened = iteration_after.or(opened);
        touched.insert(target.origin.clone(), rows);
    }
    if part.kind == PartKind::Last {
        let own = &segment.id.origin;
        let mut rows = touched.get(own).or_else(|| origins.get(own)).cloned().ok_or(PartNotCommitted::Over)?;
        rows.inbox.count_parsed(part.counters, part.pages, part.due);
        touched.insert(own.clone(), rows);
    }
    Ok(PartCommitted { segment: after, origins: touched, iteration: opened })
}
