//! What is claimed, and how origins take part.

use dragline_domain::frontier::{AddTodo, Claimer, OriginKey, RecrawlCursor, Seeding, Sighting, TodoChunk, TodoEntry};
use dragline_domain::ids::Iteration;
use jiff::Timestamp;

/// URLs of one origin to be claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRequest {
    /// The origin.
    pub origin: OriginKey,
    /// The iteration to queue them in.
    pub iteration: Iteration,
    /// For whom.
    pub claimer: Claimer,
    /// Whether those that are not due are left alone: the time of now. Absent: they are claimed as well.
    pub if_due: Option<Timestamp>,
    /// The time of now, kept as the first sighting of those that are new.
    pub now: Timestamp,
    /// Paths and how they were come by; no path twice.
    pub urls: Vec<(String, Sighting)>,
}

/// Seeds for one origin, which may be none (to open it for its candidates).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedOrigin {
    /// The origin.
    pub origin: OriginKey,
    /// The iteration.
    pub iteration: Iteration,
    /// Which of a trigger's seeds these are.
    pub seeding: Seeding,
    /// Counts and times; `count` is that of the chunks.
    pub add: AddTodo,
    /// The seeds, in at most [`PART_CHUNKS_MAX`](dragline_domain::frontier::PART_CHUNKS_MAX) chunks.
    pub chunks: Vec<TodoChunk>,
}

/// What became of seeding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeded {
    /// The seeds are in.
    Added,
    /// They were in already.
    Already,
    /// The iteration is over.
    IterationOver,
}

/// A page of candidates that are due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuePage {
    /// With their depths, in an order that stays: that of their paths, but for those too long for a store's keys. Those queued in this iteration by others than the cursor are left out.
    pub entries: Vec<(TodoEntry, u32)>,
    /// Where to go on.
    pub next: RecrawlCursor,
}
