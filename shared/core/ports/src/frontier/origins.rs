//! Origins that take part in an iteration, and the seeds that open them.

use std::future::Future;

use dragline_domain::frontier::{AddTodo, Inbox, OriginKey, OriginRows, Seeding, TodoChunk};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::Origin;

use crate::error::PortResult;

/// Origins that take part in an iteration, and the seeds that open them.
pub trait Origins: Send + Sync {
    /// Adds seeds to an origin, once, and opens it. Exceeding the chunk limit of a transaction is
    /// an error of kind `TooLarge`.
    fn seed_origin(&self, seed: &SeedOrigin) -> impl Future<Output = PortResult<SeedResult>> + Send;

    /// Lists at most `limit` origins of a crawl, in order, after `after`.
    fn list_origins(
        &self,
        crawl: &CrawlId,
        after: Option<&Origin>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<Origin>>> + Send;

    /// Returns the rows of an origin, read consistently; `None` if it was never opened.
    fn load_origin(&self, origin: &OriginKey) -> impl Future<Output = PortResult<Option<OriginRows>>> + Send;

    /// Returns only the inbox of an origin, read consistently, for the holder of its lease: it
    /// costs half as much as both rows. `None` if the origin was never opened.
    fn load_inbox(&self, origin: &OriginKey) -> impl Future<Output = PortResult<Option<Inbox>>> + Send;
}

/// Seeds for one origin; possibly none, to open it for its candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedOrigin {
    /// The origin.
    pub origin: OriginKey,
    /// The iteration.
    pub iteration: Iteration,
    /// Which of a trigger's seeds these are.
    pub seeding: Seeding,
    /// Counts and times; `count` refers to the chunks.
    pub add: AddTodo,
    /// The seeds, in at most [`PART_CHUNKS_MAX`](dragline_domain::frontier::PART_CHUNKS_MAX)
    /// chunks.
    pub chunks: Vec<TodoChunk>,
}

/// The result of seeding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedResult {
    /// The seeds are added.
    Added,
    /// They were added before.
    Already,
    /// The iteration is over.
    IterationOver,
}
