//! Committing a part of a parse: the segment, its targets, its own origin and the iteration at once.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{
    AddTodo, IterationRow, OriginKey, OriginRows, ParserCounters, PartKind, PartRefused, SegmentRow, Target, add_todo,
};
use crate::politeness::Pace;

/// The rows of origins by their keys.
pub type RowsByOrigin = BTreeMap<OriginKey, OriginRows>;

/// A part of a parse to be committed.
#[derive(Clone, Copy, Debug)]
pub struct PartCommit<'a> {
    /// The part's number.
    pub number: u32,
    /// Whether parts follow.
    pub kind: PartKind,
    /// The todo that it adds.
    pub targets: &'a [Target],
    /// The pace of origins that it opens for the first time.
    pub pace: Pace,
    /// What to add to the own inbox's counters with the last part.
    pub counters: &'a ParserCounters,
    /// The time of now.
    pub now: Timestamp,
    /// When the sweeper looks whether a wake-up was missed.
    pub due: Timestamp,
}

/// The rows after a part of a parse was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartCommitted {
    /// The segment's.
    pub segment: SegmentRow,
    /// Those of the origins that it touched.
    pub origins: RowsByOrigin,
    /// The iteration's; absent if the part opened no origin.
    pub iteration: Option<IterationRow>,
}

/// Why a part of a parse was not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartNotCommitted {
    /// Another worker was here.
    Refused(PartRefused),
    /// An origin would have to open, and the iteration is over; or the segment's own origin is not known.
    Over,
}

/// Commits a part: adds its todo to its targets, opens those that are closed, and with the last part counts the segment as parsed.
///
/// `origins` are the rows as they are now of every target that has any, and of the segment's own origin.
///
/// # Errors
/// [`PartNotCommitted`]; then nothing is to be written.
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
        rows.inbox.count_parsed(part.counters, part.due);
        touched.insert(own.clone(), rows);
    }
    Ok(PartCommitted { segment: after, origins: touched, iteration: opened })
}
