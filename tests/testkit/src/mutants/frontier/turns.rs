//! Defects of turns.

use std::time::Duration;

use dragline_domain::frontier::{
    ChunkKey, Committed, EXHAUSTED_CHUNKS_MAX, Lease, LeaseState, OriginCursor, OriginKey, ReleaseRefused, Reserve,
    StatusChange, Take, TakeRefused, TodoChunk, Walk,
};
use dragline_domain::ids::Iteration;
use dragline_domain::time::after;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{CommitSegment, Frontier, MoveCursor, ReleaseLease, Turns};
use jiff::Timestamp;

use super::super::FrontierMutation as M;
use super::{MutantFrontier, far_ahead};

impl<F: Frontier> Turns for MutantFrontier<F> {
    async fn take_lease(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        take: &Take,
    ) -> PortResult<Result<Lease, TakeRefused>> {
        let mut request = take.clone();
        match self.mutation {
            Some(M::TakeOfAnyTurn) => {
                request.turn = self.inner.load_origin(origin).await?.map_or(take.turn, |rows| rows.lease.turn);
            }
            Some(M::LivingForgotten) => request.alive.clear(),
            Some(M::DomainForgotten) => request.hosts_per_domain = u16::MAX,
            Some(M::HostEndsWithLease) => request.host_until = request.until,
            Some(M::NothingReserved) => request.wanted = Reserve { pages: Some(0), bytes: Some(0) },
            _ => {}
        }
        let searched = if self.is(M::SearchGoesOn) { self.search(&origin.crawl, iteration).await? } else { None };
        let mut taken = self.inner.take_lease(origin, iteration, &request).await?;
        if let Some(to) = searched {
            let (crawl, walk, seen) = (origin.crawl.clone(), Walk::Holders, OriginCursor::NotBegun);
            self.inner.move_cursor(&MoveCursor { crawl, iteration, walk, seen, to }).await?;
        }
        match (self.mutation, &mut taken) {
            (Some(M::HeldLeaseGiven), Err(TakeRefused::Held)) => {
                let rows = self.inner.load_origin(origin).await?;
                taken = rows.map(|rows| rows.lease).ok_or(TakeRefused::Held);
            }
            (Some(M::LivingHolderReplaced), Err(TakeRefused::Held))
            | (Some(M::HeldHostGiven), Err(TakeRefused::HostBusy { .. })) => {
                let request = Take { now: far_ahead(request.now), alive: Vec::new(), ..request };
                taken = self.inner.take_lease(origin, iteration, &request).await?;
                if let Ok(lease) = &mut taken {
                    lease.not_before = take.now;
                }
            }
            (Some(M::TakeoverWithoutDelay), Err(TakeRefused::Held)) => {
                let delay =
                    self.inner.load_origin(origin).await?.map_or(Duration::ZERO, |rows| rows.lease.pace.delay());
                let request = Take { now: after(request.now, delay), ..request };
                return self.inner.take_lease(origin, iteration, &request).await;
            }
            (Some(M::LineIgnored), Err(TakeRefused::HostBusy { until })) if self.is_free(origin).await? => {
                let request = Take { now: *until, ..request };
                return self.inner.take_lease(origin, iteration, &request).await;
            }
            (Some(M::TakeWhilePaused), Err(TakeRefused::NotOpen)) => {
                self.inner.change_status(&origin.crawl, iteration, StatusChange::Resume).await?;
                taken = self.inner.take_lease(origin, iteration, &request).await?;
                self.inner.change_status(&origin.crawl, iteration, StatusChange::Pause).await?;
            }
            (Some(M::ReservedAsWanted), Ok(Lease { state: LeaseState::Leased(holder), .. })) => {
                holder.reserved = take.wanted;
            }
            _ => {}
        }
        Ok(taken)
    }

    async fn load_chunk(&self, origin: &OriginKey, key: &ChunkKey) -> PortResult<Option<TodoChunk>> {
        self.inner.load_chunk(origin, key).await
    }

    async fn first_chunk(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        skip: &[ChunkKey],
    ) -> PortResult<Option<TodoChunk>> {
        let skip = if self.is(M::SkippedChunksGiven) { &[] } else { skip };
        self.inner.first_chunk(origin, iteration, skip).await
    }

    async fn commit_segment(&self, commit: &CommitSegment) -> PortResult<Committed> {
        let mut commit = commit.clone();
        let is_repeated = match self.mutation {
            Some(M::RepeatedCommitFenced | M::CommitCountedTwice | M::RepeatedCommitCounted) => {
                self.inner.load_segment(&commit.segment.id).await?.is_some()
            }
            _ => false,
        };
        match self.mutation {
            Some(M::CommitWithoutTokenCheck) => {
                let holder = self.holder(&commit.segment.id.origin).await?;
                if let Some(holder) = holder.filter(|holder| holder.token != commit.segment.token) {
                    commit.segment.token = holder.token.clone();
                    commit.lease.state = LeaseState::Leased(holder);
                }
            }
            Some(M::RepeatedCommitFenced) if is_repeated => return Ok(Committed::Fenced),
            Some(M::RepeatedCommitCounted) if is_repeated => drop(self.fresh()),
            Some(M::CommitCountedTwice) if is_repeated => {
                commit.segment.id.n += 1;
                commit.lease.segments += 1;
                commit.exhausted.clear();
            }
            Some(M::ExhaustedChunksStay) => commit.exhausted.clear(),
            Some(M::ExhaustedChunksCut) => commit.exhausted.truncate(EXHAUSTED_CHUNKS_MAX),
            _ => {}
        }
        self.inner.commit_segment(&commit).await
    }

    async fn release(&self, release: &ReleaseLease) -> PortResult<Result<(), ReleaseRefused>> {
        let mut release = release.clone();
        match self.mutation {
            Some(M::ReleaseWithoutInboxCheck) => {
                let rows = self.inner.load_origin(&release.origin).await?;
                release.seen = rows.map_or(release.seen, |rows| rows.inbox);
            }
            Some(M::RepeatedReleaseFenced) if self.holder(&release.origin).await?.is_none() => {
                return Ok(Err(ReleaseRefused::Fenced));
            }
            Some(M::ReleaseWithoutTokenCheck) => {
                let holder = self.holder(&release.origin).await?;
                release.token = holder.map_or(release.token, |holder| holder.token);
            }
            Some(M::GivenUpForgotten) => release.lease.given_up = None,
            Some(M::HostFreeAtOnce) => release.free_from = Timestamp::UNIX_EPOCH,
            Some(M::BackOffForgotten) => release.lease.pace.back_off_exponent = 0,
            _ => {}
        }
        self.inner.release(&release).await
    }
}
