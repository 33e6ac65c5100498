//! The commits of a turn, which run beside its visits.
//!
//! A disk takes longer to store an object than a server takes to answer some pages. So the objects
//! of complete segments are stored concurrently, while later segments are filled; the segments are
//! committed one after the other, in order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::frontier::{Lease, SegmentId};
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::Fetchers;
use dragline_ports::observer::Batch;
use tokio::task::{JoinError, JoinSet};

use super::TurnWork;
use crate::World;
use crate::crawl::commit::{CommitOutcome, Content, StoredObject, commit, discard, store};
use crate::crawl::ending::TurnEnd;
use crate::crawl::send::LeaseTooOld;
use crate::crawl::visit::FinishedVisit;
use crate::watching::watch_batch;

/// The commits of a turn that are under way. Each step is a task, and ends with the turn.
#[derive(Default)]
pub(super) struct Commits {
    /// Objects on their way to the archive.
    storing: JoinSet<PortResult<StoredObject>>,
    /// Stored objects, by the number of their segment.
    stored: BTreeMap<u64, StoredObject>,
    /// The commit of the first segment.
    committing: JoinSet<PortResult<CommitOutcome>>,
    /// When that commit began, by the monotonic clock.
    began: Duration,
}

impl Commits {
    /// Waits for the next step to end and returns it; `None` if none is under way.
    pub(super) async fn next_finished(&mut self) -> Option<FinishedStep> {
        tokio::select! {
            biased;
            Some(outcome) = self.committing.join_next() => Some(FinishedStep::Commit(outcome)),
            Some(stored) = self.storing.join_next() => Some(FinishedStep::Store(stored)),
            else => None,
        }
    }
}

/// A step that has ended.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and nearly always a visit")]
pub(super) enum FinishedStep {
    Visit(Result<Result<FinishedVisit, LeaseTooOld>, JoinError>),
    Store(Result<PortResult<StoredObject>, JoinError>),
    Commit(Result<PortResult<CommitOutcome>, JoinError>),
}

impl<W: World, S: Fetchers> TurnWork<W, S> {
    /// Begins to store the objects of the first segments, as far as they are complete.
    pub(super) fn begin_stores(&mut self) {
        let complete = self.segments.open.iter_mut().take_while(|segment| segment.is_complete());
        for (n, segment) in (self.lease.segments..).zip(complete) {
            let Some(records) = segment.records.take() else { continue };
            let id = SegmentId { origin: self.origin.clone(), turn: self.lease.turn, n };
            let (world, token, iteration) = (Arc::clone(&self.world), self.token.clone(), self.lease.iteration);
            self.segments.commits.storing.spawn(async move { store(&*world, id, iteration, &token, records).await });
        }
    }

    /// Begins to commit the first segment if its object is stored.
    pub(super) fn begin_commit(&mut self) {
        if !self.segments.commits.committing.is_empty() {
            return;
        }
        let Some(content) = self.segments.open.front().map(Content::from_segment) else { return };
        let Some(stored) = self.segments.commits.stored.remove(&self.lease.segments) else { return };
        let (world, token) = (Arc::clone(&self.world), self.token.clone());
        let began = world.clock().monotonic();
        self.lease.wait_until(self.pacer.not_before(world.clock()), world.clock().now());
        self.live.rest_until(self.pacer.rests_until(), began);
        let (lease, length) = (self.lease.clone(), self.deadlines.lease_length);
        self.segments.commits.began = began;
        self.segments.commits.committing.spawn(async move {
            let segment = stored.id().clone();
            let committed = commit(&*world, &token, &lease, length, stored, content);
            watch_batch(&*world, Batch::Commit { segment: &segment }, committed).await
        });
    }

    /// Takes a stored object, to be committed when its turn comes.
    pub(super) fn end_store(&mut self, stored: StoredObject) {
        self.segments.commits.stored.insert(stored.number(), stored);
    }

    /// Ends a finished commit. Returns `false` if another worker holds the lease.
    pub(super) fn end_commit(&mut self, outcome: CommitOutcome) -> bool {
        let CommitOutcome::Committed(lease) = outcome else { return false };
        let Some(segment) = self.segments.open.pop_front() else { return true };
        let Lease { pace, patience, robots, ending, .. } = self.lease;
        let given_up = self.lease.given_up.take();
        let (worked, missing) = (self.lease.worked.take(), self.lease.missing.take());
        let (tdm, rsl) = (self.lease.tdm.take(), self.lease.rsl.take());
        self.lease = Lease { pace, patience, worked, missing, tdm, rsl, robots, ending, given_up, ..*lease };
        self.deadlines.lease_end = self.segments.commits.began + self.deadlines.lease_length;
        self.segments.pages -= segment.work.pages;
        self.segments.bytes -= segment.work.body_bytes;
        self.planner.record_commit(&segment.exhausted, &segment.work.retried);
        true
    }

    /// Ends a turn whose lease another worker holds, and deletes objects stored meanwhile.
    pub(super) async fn leave_fenced(mut self) -> PortResult<TurnEnd> {
        while let Some(stored) = self.segments.commits.storing.join_next().await {
            let stored = self.joined("store", stored)??;
            self.end_store(stored);
        }
        for stored in self.segments.commits.stored.values() {
            discard(&*self.world, stored).await?;
        }
        Ok(TurnEnd::Fenced)
    }

    /// Ends a turn whose lease became too old for a visit. The next holder finds each segment
    /// committed, or deletes its object.
    pub(super) async fn leave_too_old(mut self) -> PortResult<TurnEnd> {
        while let Some(outcome) = self.segments.commits.committing.join_next().await {
            self.joined("commit", outcome)??;
        }
        Ok(TurnEnd::LeaseTooOld)
    }

    /// Returns the result of a task of the turn. Fails if the task panicked.
    pub(super) fn joined<T>(&self, what: &'static str, joined: Result<T, JoinError>) -> PortResult<T> {
        joined.map_err(|error| PortError::new(PortErrorKind::Other, what, &self.origin, error))
    }
}
