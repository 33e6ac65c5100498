//! The commits of a turn, which go on beside its visits.
//!
//! A disk takes longer to store an object than a server to answer some pages. So the objects of complete segments are stored at the same time, while
//! later segments are filled; the segments are committed one after the other, in order.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::frontier::{Lease, SegmentId};
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::Fetcher;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use tokio::task::JoinError;

use super::TurnWork;
use crate::World;
use crate::crawl::commit::{Content, Outcome, Stored, commit, discard, store};
use crate::crawl::ending::TurnEnd;
use crate::crawl::visit::{LeaseTooOld, Visited};

/// A commit that is under way.
pub(super) struct Committing {
    /// When it began, by the monotonic clock.
    began: Duration,
    pub(super) outcome: BoxFuture<'static, PortResult<Outcome>>,
}

/// What is over.
pub(super) enum Ended {
    Visit(Result<Result<Visited, LeaseTooOld>, JoinError>),
    Store(PortResult<Stored>),
    Commit(PortResult<Outcome>),
}

impl<W: World, H: Fetcher + 'static> TurnWork<W, H> {
    /// Begins to store the objects of the first segments, as far as they are complete.
    pub(super) fn begin_stores(&mut self) {
        let complete = self.open.iter_mut().take_while(|segment| segment.is_complete());
        for (n, segment) in (self.lease.segments..).zip(complete) {
            let Some(records) = segment.records.take() else { continue };
            let id = SegmentId { origin: self.origin.clone(), turn: self.lease.turn, n };
            let (world, token, iteration) = (Arc::clone(&self.world), self.token.clone(), self.lease.iteration);
            self.storing.push_back(Box::pin(async move { store(&*world, id, iteration, &token, records).await }));
        }
    }

    /// Begins to commit the first segment if its object is stored.
    pub(super) fn begin_commit(&mut self) {
        if self.committing.is_some() {
            return;
        }
        let Some(content) = self.open.front().map(Content::of) else { return };
        let Some(stored) = self.stored.pop_front() else { return };
        let (world, token) = (Arc::clone(&self.world), self.token.clone());
        let began = world.clock().monotonic();
        self.lease.wait_until(self.pacer.not_before(world.clock()), world.clock().now());
        self.live.rest_until(self.pacer.rests_until(), began);
        let (lease, length) = (self.lease.clone(), self.lease_length);
        let outcome = async move { commit(&*world, &token, &lease, length, stored, content).await };
        self.committing = Some(Committing { began, outcome: Box::pin(outcome) });
    }

    /// Ends the commit that is over. Returns `false` if another worker holds the lease.
    pub(super) fn end_commit(&mut self, outcome: Outcome) -> bool {
        let Some(Committing { began, .. }) = self.committing.take() else { return true };
        let Outcome::Committed(lease) = outcome else { return false };
        let Some(segment) = self.open.pop_front() else { return true };
        let Lease { pace, patience, robots, ending, .. } = self.lease;
        self.lease = Lease { pace, patience, robots, ending, ..*lease };
        self.lease_end = began + self.lease_length;
        self.pages_uncommitted -= segment.work.pages;
        self.bytes_uncommitted -= segment.work.body_bytes;
        self.planner.committed(&segment.exhausted, &segment.work.retried);
        true
    }

    /// Ends a turn whose lease another worker holds: what was stored meanwhile is deleted.
    pub(super) async fn leave_fenced(mut self) -> PortResult<TurnEnd> {
        while let Some(stored) = self.storing.next().await {
            self.stored.push_back(stored?);
        }
        for stored in &self.stored {
            discard(&*self.world, stored).await?;
        }
        Ok(TurnEnd::Fenced)
    }

    /// Ends a turn whose lease became too old for a visit. Whoever takes it over finds a segment committed, or deletes its object.
    pub(super) async fn leave_too_old(mut self) -> PortResult<TurnEnd> {
        if let Some(committing) = self.committing.take() {
            committing.outcome.await?;
        }
        Ok(TurnEnd::LeaseTooOld)
    }
}
