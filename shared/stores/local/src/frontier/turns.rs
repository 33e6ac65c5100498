//! Turns: taking a lease, working its todo, committing segments, releasing it.

use dragline_domain::frontier::{
    ChunkKey, Decided, EXHAUSTED_CHUNKS_MAX, Lease, OriginKey, ReleaseRefused, SegmentCommitted, TakeRefused,
    TakeRequest, TodoChunk, TurnRefused, commit_segment as decide, take_turn,
};
use dragline_domain::ids::Iteration;
use dragline_domain::url::HostKey;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{CommitSegment, GiveBackHost, ReleaseLease, Turns};

use super::SqliteFrontier;
use super::hosts::{StoredHostRows, give_back_host};
use crate::db::{Db, StoreError};

impl Turns for SqliteFrontier {
    async fn take_lease(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        take: &TakeRequest,
    ) -> PortResult<Result<Lease, TakeRefused>> {
        let (key, take) = (origin.clone(), take.clone());
        self.run("take lease", origin, move |db| take_lease(db, &key, iteration, &take)).await
    }

    async fn load_chunk(&self, origin: &OriginKey, key: &ChunkKey) -> PortResult<Option<TodoChunk>> {
        let (owner, key) = (origin.clone(), key.clone());
        self.run("load todo", origin, move |db| match db.origin_id(&owner)? {
            Some(id) => db.chunk(id, &key),
            None => Ok(None),
        })
        .await
    }

    async fn first_chunk(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        skip: &[ChunkKey],
    ) -> PortResult<Option<TodoChunk>> {
        let (owner, skip) = (origin.clone(), skip.to_vec());
        self.run("next todo", origin, move |db| first_chunk(db, &owner, iteration, &skip)).await
    }

    async fn commit_segment(&self, commit: &CommitSegment) -> PortResult<SegmentCommitted> {
        let request = commit.clone();
        self.run("commit segment", &commit.segment.id, move |db| commit_segment(db, &request)).await
    }

    async fn release(&self, request: &ReleaseLease) -> PortResult<Result<(), ReleaseRefused>> {
        let owned = request.clone();
        self.run("release lease", &request.origin, move |db| release(db, &owned)).await
    }
}

fn take_lease(
    db: &Db,
    key: &OriginKey,
    iteration: Iteration,
    take: &TakeRequest,
) -> Result<Result<Lease, TakeRefused>, StoreError> {
    let Some(origin) = db.origin_id(key)? else { return Ok(Err(TakeRefused::NothingToDo)) };
    let Some(lease) = db.lease(origin)? else { return Ok(Err(TakeRefused::NothingToDo)) };
    let Some(row) = db.iteration(&key.crawl, iteration)? else { return Ok(Err(TakeRefused::NotOpen)) };
    let host = HostKey::from_origin(&key.origin);
    let stored = StoredHostRows::load(db, &host)?;
    match take_turn(key, &lease, &row, stored.rows(), take) {
        Err(TurnRefused::Lease(refused)) => Ok(Err(refused)),
        Err(TurnRefused::Host(refused)) => {
            stored.put_line(db, &refused)?;
            Ok(Err(TakeRefused::HostBusy { until: refused.until() }))
        }
        Ok(taken) => {
            db.put_lease(origin, &taken.lease)?;
            stored.put(db, &taken.host)?;
            if taken.iteration != row {
                db.update_iteration(&taken.iteration)?;
            }
            Ok(Ok(taken.lease))
        }
    }
}

fn first_chunk(
    db: &Db,
    key: &OriginKey,
    iteration: Iteration,
    skip: &[ChunkKey],
) -> Result<Option<TodoChunk>, StoreError> {
    let Some(origin) = db.origin_id(key)? else { return Ok(None) };
    match db.first_chunk_key(origin, iteration, skip)? {
        Some(first) => db.chunk(origin, &first),
        None => Ok(None),
    }
}

fn commit_segment(db: &Db, commit: &CommitSegment) -> Result<SegmentCommitted, StoreError> {
    if commit.exhausted.len() > EXHAUSTED_CHUNKS_MAX {
        return Err(StoreError::OutOfRange("the number of exhausted chunks"));
    }
    let segment = &commit.segment;
    let Some(origin) = db.origin_id(&segment.id.origin)? else { return Ok(SegmentCommitted::Fenced) };
    let earlier = db.segment(&segment.id)?.map(|stored| stored.row);
    let decided = decide(db.lease(origin)?.as_ref(), earlier.as_ref(), segment);
    if let Decided::Write(_) = decided {
        db.insert_segment(origin, segment)?;
        db.put_lease(origin, &commit.lease)?;
        commit.exhausted.iter().try_for_each(|chunk| db.delete_chunk(origin, chunk))?;
    }
    Ok(decided.outcome())
}

fn release(db: &Db, request: &ReleaseLease) -> Result<Result<(), ReleaseRefused>, StoreError> {
    let ReleaseLease { origin: key, token, lease: last, seen, how, free_from, now } = request;
    let Some(origin) = db.origin_id(key)? else { return Ok(Err(ReleaseRefused::Fenced)) };
    let Some(rows) = db.origin_rows(origin)? else { return Ok(Err(ReleaseRefused::Fenced)) };
    let number = rows.lease.iteration;
    let iteration = db.iteration(&key.crawl, number)?.ok_or(StoreError::Missing("such iteration"))?;
    let after = match rows.lease.release(token, last, seen, &rows.inbox, &iteration, *how) {
        Ok(after) => after,
        Err(ReleaseRefused::Fenced) if rows.lease.was_released(last, seen, *how) => return Ok(Ok(())),
        Err(refused) => return Ok(Err(refused)),
    };
    if let Some(leftover) = &after.leftover {
        db.put_leftover(origin, leftover)?;
        db.delete_chunks(origin, number)?;
    }
    db.put_lease(origin, &after.rows.lease)?;
    if after.rows.inbox != rows.inbox {
        db.put_inbox(origin, &after.rows.inbox)?;
    }
    if after.iteration != iteration {
        db.update_iteration(&after.iteration)?;
    }
    let host = HostKey::from_origin(&key.origin);
    let (free_from, now) = (*free_from, *now);
    give_back_host(db, &GiveBackHost { host, token: token.clone(), free_from, pace: last.pace, now })?;
    Ok(Ok(()))
}
