//! Known URLs: claiming them, walking those that are due, and recording how they ended.

use std::future::Future;

use dragline_domain::frontier::{
    CandidateUpdate, Claim, Claimable, Claimer, DueQuery, DueWork, LaterCandidates, NamersUpdate, OriginKey,
    SeedDistance, ShorterWayState, ShorterWays, Sighting, TodoEntry,
};
use dragline_domain::ids::Iteration;
use dragline_domain::lastmod::PageTimes;
use jiff::Timestamp;

use crate::error::PortResult;

/// Known URLs: claiming them, walking those that are due, and recording how they ended.
pub trait Candidates: Send + Sync {
    /// Claims URLs, each on its own; the results are in the order of the request. Idempotent for
    /// the same claimer.
    fn claim(&self, request: &ClaimRequest) -> impl Future<Output = PortResult<Vec<Claim>>> + Send;

    /// Returns, in the order of the request, the data of URLs to which a shorter way was found
    /// since they were claimed in an iteration; `None` for the others. Never out of date.
    fn nearer(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        paths: &[String],
    ) -> impl Future<Output = PortResult<Vec<Option<ShorterWayState>>>> + Send;

    /// Returns, in the order of the request, what was seen of known pages; `None` for the others.
    /// May lag.
    fn page_times(
        &self,
        origin: &OriginKey,
        paths: &[String],
    ) -> impl Future<Output = PortResult<Vec<Option<PageTimes>>>> + Send;

    /// Walks the candidates after this path (empty: from the first), and returns those that
    /// [`DueQuery::decide`] selects, at most `limit`. May lag: each is claimed before it is
    /// visited. Only the page's `next` says whether there are more. Any path is valid.
    fn due_candidates(
        &self,
        origin: &OriginKey,
        query: &DueQuery,
        after: &str,
        limit: usize,
    ) -> impl Future<Output = PortResult<DuePage>> + Send;

    /// Updates candidates of one origin, skipping those with newer data.
    fn update_candidates(
        &self,
        origin: &OriginKey,
        updates: &[CandidateUpdate],
    ) -> impl Future<Output = PortResult<()>> + Send;

    /// Records the texts of pages that declare candidates of one origin canonical; no path twice.
    /// Skips unknown URLs. May be repeated.
    fn add_namers(&self, origin: &OriginKey, named: &[NamersUpdate]) -> impl Future<Output = PortResult<()>> + Send;
}

/// A request to claim URLs of one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRequest {
    /// The origin.
    pub origin: OriginKey,
    /// The iteration to queue them in.
    pub iteration: Iteration,
    /// The claimer.
    pub claimer: Claimer,
    /// Which of the known URLs may be claimed.
    pub claimable: Claimable,
    /// How to treat URLs that others queued by longer ways.
    pub shorter_ways: ShorterWays,
    /// The current time, stored as the time when new URLs were first seen.
    pub now: Timestamp,
    /// Paths and how they were found; no path twice.
    pub urls: Vec<(String, Sighting)>,
}

impl ClaimRequest {
    /// Returns the way to a URL, to be recorded if it is shorter than the known ones; `None` if it
    /// never is.
    #[must_use]
    pub fn shorter_way(&self, sighting: &Sighting) -> Option<SeedDistance> {
        self.shorter_ways.way(sighting.seed_distance())
    }
}

/// A part of a walk through candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuePage {
    /// The selected candidates, in a stable order: by path, except for paths too long for a store's
    /// keys.
    pub entries: Vec<DueCandidate>,
    /// The path to continue after; `None` at the end of the walk.
    pub next: Option<String>,
    /// A summary of the candidates that later walks visit.
    pub ahead: LaterCandidates,
}

/// A candidate of an earlier iteration, and its due work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueCandidate {
    /// The URL and its known details.
    pub entry: TodoEntry,
    /// Its depth.
    pub depth: u32,
    /// The action.
    pub work: DueWork,
}
