//! Frontiers with one defect each.

mod candidates;
mod crawls;
mod endings;
mod hosts;
mod iterations;
mod log;
mod notices;
mod origins;
mod overdue;
mod parses;
mod robots;
mod turns;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dragline_domain::frontier::{EndedVisit, Holder, LastCapture, OriginCursor, OriginKey, TodoChunk, Walk};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::outcome::Outcome;
use dragline_domain::time::after;
use dragline_domain::url::HostKey;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Frontier;
use jiff::Timestamp;

use super::FrontierMutation;

/// A frontier with one defect, or with none.
#[derive(Debug)]
pub struct MutantFrontier<F> {
    inner: F,
    mutation: Option<FrontierMutation>,
    calls: AtomicU64,
}

impl<F: Frontier> MutantFrontier<F> {
    /// Wraps a frontier with this defect, or with none.
    #[must_use]
    pub fn new(inner: F, mutation: impl Into<Option<FrontierMutation>>) -> Self {
        Self { inner, mutation: mutation.into(), calls: AtomicU64::new(0) }
    }

    fn is(&self, mutation: FrontierMutation) -> bool {
        self.mutation == Some(mutation)
    }

    /// Returns a number that was not returned before.
    fn fresh(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether the host of an origin is free.
    async fn is_free(&self, origin: &OriginKey) -> PortResult<bool> {
        let row = self.inner.load_host(&HostKey::of(&origin.origin)).await?;
        Ok(row.is_none_or(|row| row.holder.is_none()))
    }

    /// The cursor of the search for holders.
    async fn search(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<Option<OriginCursor>> {
        let row = self.inner.load_iteration(crawl, iteration).await?;
        Ok(row.map(|row| row.cursors.of(Walk::Holders).clone()))
    }

    /// The current holder of an origin.
    async fn holder(&self, origin: &OriginKey) -> PortResult<Option<Holder>> {
        let rows = self.inner.load_origin(origin).await?;
        Ok(rows.and_then(|rows| rows.lease.holder().cloned()))
    }
}

/// Doubles todo, under new keys.
fn add_again(chunks: &mut Vec<TodoChunk>) {
    let mut again = chunks.clone();
    again.iter_mut().for_each(|chunk| chunk.key.part += 1_000);
    chunks.extend(again);
}

/// A time after the end of every lease.
fn far_ahead(now: Timestamp) -> Timestamp {
    after(now, Duration::from_hours(24))
}

/// A capture without any known part.
fn blank(ended: &EndedVisit) -> LastCapture {
    LastCapture {
        etag: None,
        last_modified: None,
        payload_sha1: [0; 20],
        decoded_sha1: [0; 20],
        fetched_at: ended.at,
        outcome: ended.outcome,
        read_by: None,
    }
}

/// How a URL would have ended that was not visited.
fn never_ended() -> EndedVisit {
    EndedVisit {
        outcome: Outcome::UnknownError,
        at: Timestamp::UNIX_EPOCH,
        capture: None,
        due_at: None,
        interval: None,
        away: None,
        blocked_by: None,
    }
}
