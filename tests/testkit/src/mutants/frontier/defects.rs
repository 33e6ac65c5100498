//! What several defects of a frontier do.

use std::time::Duration;

use dragline_domain::frontier::{
    Claim, Holder, LastCapture, Lease, OriginCursor, OriginKey, TakeRefused, TakeRequest, TodoChunk, VisitResult, Walk,
};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::outcome::Outcome;
use dragline_domain::time::after;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Frontier;
use jiff::Timestamp;

use super::MutantFrontier;

impl<F: Frontier> MutantFrontier<F> {
    /// Returns how far a walk through origins has got.
    pub(super) async fn cursor(
        &self,
        crawl: &CrawlId,
        iteration: Iteration,
        walk: Walk,
    ) -> PortResult<Option<OriginCursor>> {
        let row = self.inner.load_iteration(crawl, iteration).await?;
        Ok(row.map(|row| row.cursors.get(walk).clone()))
    }

    /// Returns the current holder of an origin.
    pub(super) async fn holder(&self, origin: &OriginKey) -> PortResult<Option<Holder>> {
        let rows = self.inner.load_origin(origin).await?;
        Ok(rows.and_then(|rows| rows.lease.holder().cloned()))
    }

    /// Takes a lease as if the time of everybody who holds it or its host were over.
    pub(super) async fn take_from_anyone(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        take: &TakeRequest,
    ) -> PortResult<Result<Lease, TakeRefused>> {
        let later = TakeRequest { now: far_ahead(take.now), alive: Vec::new(), ..take.clone() };
        let taken = self.inner.take_lease(origin, iteration, &later).await?;
        Ok(taken.map(|lease| Lease { not_before: take.now, ..lease }))
    }
}

/// A time after the end of every lease.
pub(super) fn far_ahead(now: Timestamp) -> Timestamp {
    after(now, Duration::from_hours(24))
}

/// Those of the claims whose URLs somebody else queued.
pub(super) fn taken(claims: &mut [Claim]) -> impl Iterator<Item = &mut Claim> {
    claims.iter_mut().filter(|claim| matches!(claim, Claim::Taken { .. }))
}

/// Doubles todo, under new keys.
pub(super) fn add_again(chunks: &mut Vec<TodoChunk>) {
    let mut again = chunks.clone();
    again.iter_mut().for_each(|chunk| chunk.key.part += 1_000);
    chunks.extend(again);
}

/// A capture without any known part.
pub(super) fn blank(ended: &VisitResult) -> LastCapture {
    let (payload_sha1, decoded_sha1, etag, last_modified, read_by) = Default::default();
    let (fetched_at, outcome) = (ended.at, ended.outcome);
    LastCapture { etag, last_modified, payload_sha1, decoded_sha1, fetched_at, outcome, read_by }
}

/// How a URL would have ended that was not visited.
pub(super) fn never_ended() -> VisitResult {
    let (capture, due_at, interval, away, blocked_by) = Default::default();
    let (outcome, at) = (Outcome::UnknownError, Timestamp::UNIX_EPOCH);
    VisitResult { outcome, at, capture, due_at, interval, away, blocked_by }
}
