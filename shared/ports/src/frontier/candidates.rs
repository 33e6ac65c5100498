//! URLs that are known: claiming them, going through those that are due, and how they ended.

use std::future::Future;

use dragline_domain::frontier::{CandidateUpdate, Claim, Claimer, OriginKey, RecrawlCursor, Sighting, TodoEntry};
use dragline_domain::ids::Iteration;
use jiff::Timestamp;

use crate::error::PortResult;

/// URLs that are known: claiming them, going through those that are due, and how they ended.
pub trait Candidates: Send + Sync {
    /// Claims URLs, each on its own; the answers stand in the order of the request. Idempotent for the same claimer.
    fn claim(&self, request: &ClaimRequest) -> impl Future<Output = PortResult<Vec<Claim>>> + Send;

    /// The next candidates that an earlier iteration left and that are due, at most `limit`. May lag: each is claimed before it is fetched.
    /// Only the page's `next` says whether there are more. A cursor after any of the paths is good.
    fn due_candidates(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        cursor: &RecrawlCursor,
        now: Timestamp,
        limit: usize,
    ) -> impl Future<Output = PortResult<DuePage>> + Send;

    /// Updates candidates of one origin, each unless it holds something newer.
    fn update_candidates(
        &self,
        origin: &OriginKey,
        updates: &[CandidateUpdate],
    ) -> impl Future<Output = PortResult<()>> + Send;
}

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

/// A page of candidates that are due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuePage {
    /// With their depths, in an order that stays: that of their paths, but for those too long for a store's keys. Those queued in this iteration by others than the cursor are left out.
    pub entries: Vec<(TodoEntry, u32)>,
    /// Where to go on.
    pub next: RecrawlCursor,
}
