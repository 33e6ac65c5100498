//! Known URLs: claiming them, walking those that are due, and recording how they ended.

use std::future::Future;

use dragline_domain::frontier::{CandidateUpdate, Claim, Claimer, OriginKey, RecrawlCursor, Sighting, TodoEntry};
use dragline_domain::ids::Iteration;
use jiff::Timestamp;

use crate::error::PortResult;

/// Known URLs: claiming them, walking those that are due, and recording how they ended.
pub trait Candidates: Send + Sync {
    /// Claims URLs, each on its own; the answers are in the order of the request. Idempotent for the same claimer.
    fn claim(&self, request: &ClaimRequest) -> impl Future<Output = PortResult<Vec<Claim>>> + Send;

    /// Returns the next candidates that are left from an earlier iteration and due, at most `limit`. May lag: each is claimed before it is fetched.
    /// Only the page's `next` says whether there are more. A cursor after any of the paths is valid.
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
    /// Who claims them.
    pub claimer: Claimer,
    /// The current time, to leave alone those that are not due; `None` to claim those as well.
    pub if_due: Option<Timestamp>,
    /// The current time, kept as when the new ones were first seen.
    pub now: Timestamp,
    /// Paths and how they were found; no path twice.
    pub urls: Vec<(String, Sighting)>,
}

/// A page of candidates that are due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuePage {
    /// With their depths, in a stable order: that of their paths, except for paths too long for a store's keys. Those that something other than the
    /// cursor queued in this iteration are left out.
    pub entries: Vec<(TodoEntry, u32)>,
    /// Where to continue.
    pub next: RecrawlCursor,
}
