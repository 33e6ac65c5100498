//! Turns: taking a lease, working its todo, committing segments, releasing it.

use dragline_domain::frontier::{
    ChunkKey, Counts, Decided, EXHAUSTED_CHUNKS_MAX, IterationRow, Lease, OriginKey, OriginRows, ReleaseRefused,
    ReleasedRows, SegmentCommitted, TakeRefused, TakeRequest, TodoChunk, TurnRefused, commit_segment as decide,
    take_turn,
};
use dragline_domain::ids::Iteration;
use dragline_domain::url::HostKey;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{CommitSegment, GiveBackHost, ReleaseLease, Turns};

use super::DynamoFrontier;
use super::endings::ending_writes;
use super::hosts::HostKeys;
use crate::dynamo::{Item, Role, Write};
use crate::errors::{StoreError, at};
use crate::meter::capacity::{ReadKind, item_bytes};
use crate::rows::lease::HeldLease;
use crate::rows::{chunk, counts, inbox, iteration, keys, lease, segment};

/// The assumed size of a chunk that this process has not read.
const USUAL_CHUNK_BYTES: u64 = 4 << 10;

impl Turns for DynamoFrontier {
    async fn take_lease(
        &self,
        origin: &OriginKey,
        number: Iteration,
        take: &TakeRequest,
    ) -> PortResult<Result<Lease, TakeRefused>> {
        at("take lease", origin, async {
            let host_keys = HostKeys::new(HostKey::from_origin(&origin.origin));
            let [lease_key, iteration_key] = [keys::lease(origin), keys::iteration(&origin.crawl, number)];
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let wanted = [lease_key.clone(), iteration_key.clone()].into_iter().chain(host_keys.rows()).collect();
                let found = self.db.get_all(wanted, ReadKind::Consistent).await?;
                let Some(item) = found.get(&lease_key) else { return Ok(Err(TakeRefused::NothingToDo)) };
                let before = lease::read(item)?;
                let Some(row) = found.get(&iteration_key).map(iteration::read).transpose()? else {
                    return Ok(Err(TakeRefused::NotOpen));
                };
                if before.is_held_by(&take.token) {
                    // An earlier try whose answer was lost.
                    return Ok(Ok(before));
                }
                let seen = host_keys.rows_in(&found)?;
                let after = match take_turn(origin, &before, &row, seen.rows(), take) {
                    Ok(taken) => taken,
                    Err(TurnRefused::Lease(refused)) => return Ok(Err(refused)),
                    Err(TurnRefused::Host(refused)) => {
                        let busy = Ok(Err(TakeRefused::HostBusy { until: refused.until() }));
                        // Nothing depends on the answer alone: a superfluous ticket is void.
                        let Some(line) = seen.line(&refused)? else { return busy };
                        // The rows are not a snapshot: another ticket of this turn may have taken
                        // both in between.
                        if self.db.transact(&[lease::still(origin, item, &before), line]).await?.is_ok() {
                            return busy;
                        }
                        continue;
                    }
                };
                let mut writes = vec![
                    lease::replace(origin, Some(&before), &after.lease, self.lease_grace)?,
                    iteration::reserve(&row, &after.iteration),
                ];
                writes.extend(seen.take_writes(&after.host)?);
                writes.extend(counts::add(origin, number, &Counts::from_lease_change(Some(&before), &after.lease)));
                if self.db.transact(&writes).await?.is_ok() {
                    self.leases_held.remember(&lease_key, HeldLease::new(&after.lease, self.lease_grace));
                    return Ok(Ok(after.lease));
                }
            }
        })
        .await
    }

    async fn load_chunk(&self, origin: &OriginKey, key: &ChunkKey) -> PortResult<Option<TodoChunk>> {
        at("load todo", origin, async {
            let item = self.db.get(&keys::chunk(origin, key)).await?;
            item.as_ref().map(|item| self.read_chunk(origin, item)).transpose()
        })
        .await
    }

    async fn first_chunk(
        &self,
        origin: &OriginKey,
        number: Iteration,
        skip: &[ChunkKey],
    ) -> PortResult<Option<TodoChunk>> {
        at("next todo", origin, async {
            // Among one more than are skipped, at least one is not skipped.
            let mut range = keys::chunks(origin, number);
            let mut left = skip.len() + 1;
            while left > 0 {
                let page = self.db.first(&range, left, ReadKind::Consistent).await?;
                for item in &page.items {
                    let found = self.read_chunk(origin, item)?;
                    if !skip.contains(&found.key) {
                        return Ok(Some(found));
                    }
                }
                left -= page.items.len().min(left);
                // A page may end early, at 1 MB.
                let Some(next) = page.next else { return Ok(None) };
                range.after = Some(next);
            }
            Ok(None)
        })
        .await
    }

    async fn commit_segment(&self, commit: &CommitSegment) -> PortResult<SegmentCommitted> {
        at("commit segment", &commit.segment.id, async {
            StoreError::check_size("exhausted chunks", commit.exhausted.len(), EXHAUSTED_CHUNKS_MAX)?;
            let CommitSegment { segment: row, lease: held, exhausted } = commit;
            let origin = &row.id.origin;
            let lease_key = keys::lease(origin);
            let mut seen = self.leases_held.forget(&lease_key);
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let before = match seen.take() {
                    Some(seen) => seen,
                    None => match self.db.get(&lease_key).await? {
                        Some(item) => HeldLease::new(&lease::read(&item)?, self.lease_grace),
                        None => return Ok(SegmentCommitted::Fenced),
                    },
                };
                let after = HeldLease::new(held, self.lease_grace);
                let mut writes =
                    vec![segment::commit(row), lease::renew(origin, &row.token, &before, (held, self.lease_grace))?];
                writes.extend(exhausted.iter().map(|exhausted| {
                    let key = keys::chunk(origin, exhausted);
                    let bytes = self.chunk_bytes.forget(&key).unwrap_or(USUAL_CHUNK_BYTES);
                    Write::delete(Role::Chunk, &key, bytes).if_there()
                }));
                writes.extend(counts::add(origin, row.iteration, &after.counts.clone().since(&before.counts)));
                let Err(refused) = self.db.transact(&writes).await? else {
                    self.leases_held.remember(&lease_key, after);
                    return Ok(SegmentCommitted::Done);
                };
                let earlier = refused.row(Role::Segment).map(|item| segment::read(&row.id, item)).transpose()?;
                // If the lease did not refuse, it is still ours. If it did, its current state
                // decides, if it exists.
                let stored = if refused.by(Role::Lease) {
                    refused.row(Role::Lease).map(lease::read).transpose()?
                } else {
                    Some(held.clone())
                };
                match decide(stored.as_ref(), earlier.as_ref(), row) {
                    Decided::Leave(committed) => return Ok(committed),
                    // It is ours, but has changed: an earlier commit succeeded, and its answer was
                    // lost.
                    Decided::Write(_) if refused.by(Role::Lease) => {}
                    Decided::Write(_) => {
                        return Err(StoreError::Damaged(
                            "a todo chunk was consumed before it was exhausted".to_owned(),
                        ));
                    }
                }
            }
        })
        .await
    }

    async fn release(&self, request: &ReleaseLease) -> PortResult<Result<(), ReleaseRefused>> {
        at("release lease", &request.origin, async {
            let ReleaseLease { origin, token, lease: last, seen, how, free_from, now } = request;
            let host = HostKey::from_origin(&origin.origin);
            let host_keys = HostKeys::new(host.clone());
            let (token_back, free_from, now) = (token.clone(), *free_from, *now);
            let back = GiveBackHost { host, token: token_back, free_from, pace: last.pace, now };
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let Some(current) = self.current(origin, last.iteration).await? else { continue };
                let Some(rows) = current.rows else { return Ok(Err(ReleaseRefused::Fenced)) };
                let missing = || StoreError::Damaged("there is no such iteration".to_owned());
                let row = current.iteration.ok_or_else(missing)?;
                let after = match rows.lease.release(token, last, seen, &rows.inbox, &row, *how) {
                    Ok(after) => after,
                    Err(ReleaseRefused::Fenced) if rows.lease.was_released(last, seen, *how) => return Ok(Ok(())),
                    Err(refused) => return Ok(Err(refused)),
                };
                let before = Before { origin, rows: &rows, iteration: &row };
                let mut writes = self.released(request, &before, &after)?;
                writes.extend(self.see_host(&host_keys).await?.release_writes(&back)?);
                match self.db.transact(&writes).await? {
                    Ok(()) => {
                        self.leases_held.forget(&keys::lease(origin));
                        if after.leftover.is_some() {
                            self.drop_chunks(origin, last.iteration).await?;
                        }
                        return Ok(Ok(()));
                    }
                    // Another worker has it, or this repeats a write whose answer was lost; reading
                    // it again shows which.
                    Err(refused) if refused.by(Role::Lease) => {}
                    Err(refused) if refused.by(Role::Inbox) => return Ok(Err(ReleaseRefused::Changed)),
                    // Somebody joined the waiting line meanwhile.
                    Err(refused) if refused.by(Role::Host) || refused.by(Role::Domain) => {}
                    Err(_) => return Err(StoreError::Damaged("an open origin was not counted as open".to_owned())),
                }
            }
        })
        .await
    }
}

impl DynamoFrontier {
    /// Reads a chunk and remembers its size, by which its deletion is billed later.
    fn read_chunk(&self, origin: &OriginKey, item: &Item) -> Result<TodoChunk, StoreError> {
        let found = chunk::read(item)?;
        self.chunk_bytes.remember(&keys::chunk(origin, &found.key), item_bytes(item));
        Ok(found)
    }

    fn released(
        &self,
        request: &ReleaseLease,
        before: &Before<'_>,
        after: &ReleasedRows,
    ) -> Result<Vec<Write>, StoreError> {
        let (origin, OriginRows { lease: was, inbox: inbox_was }) = (before.origin, before.rows);
        let lease = &after.rows.lease;
        let mut writes = vec![lease::replace_held(origin, &request.token, was, lease, self.lease_grace)?];
        if !matches!(request.how, dragline_domain::frontier::Release::Wake { .. }) {
            writes.push(inbox::decided(origin, inbox_was, &after.rows.inbox));
        }
        writes.extend(iteration::released(before.iteration, &after.iteration));
        writes.extend(ending_writes(origin, before.rows, &after.rows, after.leftover.as_ref()));
        Ok(writes)
    }
}

/// The rows on which a release is based.
struct Before<'r> {
    origin: &'r OriginKey,
    rows: &'r OriginRows,
    iteration: &'r IterationRow,
}
