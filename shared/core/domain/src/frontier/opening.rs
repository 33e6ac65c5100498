//! Adding todo to an origin, which opens it if it is closed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Inbox, IterationRow, Lease, LeaseState, Seeding};
use crate::politeness::Pace;

/// The two rows of an origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OriginRows {
    /// Written by crawlers.
    pub lease: Lease,
    /// Written by parsers.
    pub inbox: Inbox,
}

/// A request to add todo to one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddTodo {
    /// How many URLs to add.
    pub count: u64,
    /// The pace of an origin that is new to the iteration.
    pub pace: Pace,
    /// The current time.
    pub now: Timestamp,
    /// When the sweeper checks whether the wake-up was missed.
    pub due: Timestamp,
}

/// Returns the rows after adding todo, with the iteration's row only if this opened the origin.
/// `None` if the iteration is over.
#[must_use]
pub fn add_todo(
    rows: Option<&OriginRows>,
    iteration: &IterationRow,
    add: &AddTodo,
) -> Option<(OriginRows, Option<IterationRow>)> {
    let current = rows.filter(|rows| rows.inbox.iteration == iteration.number);
    let mut inbox = match (current, rows) {
        (Some(rows), _) => rows.inbox.clone(),
        (None, Some(rows)) => rows.inbox.renewed(iteration.number),
        (None, None) => Inbox::new(iteration.number),
    };
    inbox.added += add.count;
    inbox.due = Some(add.due);
    match current.filter(|rows| rows.lease.state != LeaseState::Closed) {
        Some(rows) => Some((OriginRows { lease: rows.lease.clone(), inbox }, None)),
        None => {
            let iteration = match current {
                Some(_) => iteration.one_origin_more()?,
                None => iteration.one_new_origin_more()?,
            };
            inbox.open = true;
            let lease = Lease::opened(rows.map(|rows| &rows.lease), iteration.number, add.pace, add.now);
            Some((OriginRows { lease, inbox }, Some(iteration)))
        }
    }
}

/// The row that marks a seeding of an origin in an iteration, written in the transaction that adds
/// its seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedingMark {
    /// Not written yet.
    Absent,
    /// The seeds have been added.
    There,
}

/// The reason why seeds are not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedRefused {
    /// They were added before.
    Already,
    /// The iteration is over.
    IterationOver,
}

/// Adds the seeds of a trigger, once; the caller writes the mark together with the rows.
///
/// Without seeds, it opens an origin for candidates of earlier iterations.
///
/// # Errors
/// [`SeedRefused`].
pub fn seed(
    rows: Option<&OriginRows>,
    iteration: &IterationRow,
    mark: SeedingMark,
    seeding: &Seeding,
    add: &AddTodo,
) -> Result<(OriginRows, Option<IterationRow>), SeedRefused> {
    let is_listed = rows
        .filter(|rows| rows.inbox.iteration == iteration.number)
        .is_some_and(|rows| rows.inbox.seeded.contains(seeding));
    if mark == SeedingMark::There || is_listed {
        return Err(SeedRefused::Already);
    }
    add_todo(rows, iteration, add).ok_or(SeedRefused::IterationOver)
}
