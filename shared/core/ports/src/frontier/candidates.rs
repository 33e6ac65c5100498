//! Known URLs: claiming them, walking those that are due, and recording how they ended.

use std::future::Future;

use dragline_domain::frontier::{
    Ahead, CandidateUpdate, Claim, Claimable, Claimer, DueQuery, DueWork, FoundAt, Named, Nearer, OriginKey,
    ShorterWays, Sighting, TodoEntry,
};
use dragline_domain::ids::Iteration;
use jiff::Timestamp;

use crate::error::PortResult;

/// Known URLs: claiming them, walking those that are due, and recording how they ended.
pub trait Candidates: Send + Sync {
    /// Claims URLs, each on its own; the answers are in the order of the request. Idempotent for the same claimer.
    fn claim(&self, request: &ClaimRequest) -> impl Future<Output = PortResult<Vec<Claim>>> + Send;

    /// Returns, in the order of the request, what is known of URLs that shorter ways were found to in an iteration since they were claimed; `None` for
    /// the others. Never out of date.
    fn nearer(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        paths: &[String],
    ) -> impl Future<Output = PortResult<Vec<Option<Nearer>>>> + Send;

    /// Passes through candidates after this path (empty: from the first), and returns those that [`DueQuery::decide`] selects, at most `limit`. May
    /// lag: each is claimed before it is visited. Only the page's `next` says whether there are more. Any path is valid.
    fn due_candidates(
        &self,
        origin: &OriginKey,
        query: &DueQuery,
        after: &str,
        limit: usize,
    ) -> impl Future<Output = PortResult<DuePage>> + Send;

    /// Updates candidates of one origin, each unless it holds something newer.
    fn update_candidates(
        &self,
        origin: &OriginKey,
        updates: &[CandidateUpdate],
    ) -> impl Future<Output = PortResult<()>> + Send;

    /// Adds which texts the pages have that call candidates of one origin canonical; no path twice. Leaves out URLs that are not known. May be repeated.
    fn add_namers(&self, origin: &OriginKey, named: &[Named]) -> impl Future<Output = PortResult<()>> + Send;
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
    /// Which of those that are known may be claimed.
    pub claimable: Claimable,
    /// What to do about those that others queued by longer ways.
    pub shorter_ways: ShorterWays,
    /// The current time, kept as when the new ones were first seen.
    pub now: Timestamp,
    /// Paths and how they were found; no path twice.
    pub urls: Vec<(String, Sighting)>,
}

impl ClaimRequest {
    /// Returns the way to a URL that is recorded if it is shorter than the known ones; `None` if such ways are ignored.
    #[must_use]
    pub fn way(&self, sighting: &Sighting) -> Option<FoundAt> {
        (self.shorter_ways == ShorterWays::PassedOn).then(|| sighting.found_at())
    }
}

/// A part of a pass through candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuePage {
    /// Those that were selected, in a stable order: that of their paths, except for paths too long for a store's keys.
    pub entries: Vec<DueCandidate>,
    /// The path to continue after; `None` at the end of the pass.
    pub next: Option<String>,
    /// What was seen of candidates that later passes visit.
    pub ahead: Ahead,
}

/// A candidate of an earlier iteration, and what to do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueCandidate {
    /// The URL, and what is known about it.
    pub entry: TodoEntry,
    /// Its depth.
    pub depth: u32,
    /// What to do.
    pub work: DueWork,
}
