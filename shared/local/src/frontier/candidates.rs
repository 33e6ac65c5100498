//! Candidates: claiming them, walking those that are due, and recording how they ended.

use std::ops::ControlFlow;

use dragline_domain::frontier::{
    CandidateUpdate, Claim, Claimer, Decided, OriginKey, RecrawlCursor, Sighting, TodoEntry, claim as decide,
};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Candidates, ClaimRequest, DuePage};
use jiff::Timestamp;

use super::SqliteFrontier;
use crate::db::urls::restore;
use crate::db::{Candidate, Db, OriginRowId, StoreError};

impl Candidates for SqliteFrontier {
    async fn claim(&self, request: &ClaimRequest) -> PortResult<Vec<Claim>> {
        let owned = request.clone();
        self.run("claim", &request.origin, move |db| claim(db, &owned)).await
    }

    async fn due_candidates(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        cursor: &RecrawlCursor,
        now: Timestamp,
        limit: usize,
    ) -> PortResult<DuePage> {
        let (owner, cursor) = (origin.clone(), cursor.clone());
        self.run("list due candidates", origin, move |db| due_candidates(db, &owner, iteration, &cursor, now, limit))
            .await
    }

    async fn update_candidates(&self, origin: &OriginKey, updates: &[CandidateUpdate]) -> PortResult<()> {
        let (key, updates) = (origin.clone(), updates.to_vec());
        self.run("update candidates", origin, move |db| update_candidates(db, &key, &updates)).await
    }
}

fn claim(db: &Db, request: &ClaimRequest) -> Result<Vec<Claim>, StoreError> {
    let origin = db.ensure_origin(&request.origin)?;
    request.urls.iter().map(|(path, sighting)| claim_one(db, request, origin, path, sighting)).collect()
}

fn claim_one(
    db: &Db,
    request: &ClaimRequest,
    origin: OriginRowId,
    path: &str,
    sighting: &Sighting,
) -> Result<Claim, StoreError> {
    let candidate = db.candidate(origin, path)?;
    let claimed = candidate.as_ref().map(|candidate| &candidate.claimed);
    let last = candidate.as_ref().and_then(|candidate| candidate.last.as_ref());
    let decided = decide(claimed, last, request.iteration, &request.claimer, request.if_due);
    if let Decided::Write(_) = decided {
        let (origin, queued) = ((origin, &request.origin.origin), (request.iteration, &request.claimer));
        match &candidate {
            None => db.insert_candidate(origin, path, queued, sighting, request.now)?,
            Some(_) => db.queue_candidate(origin, path, queued, sighting)?,
        }
    }
    Ok(decided.outcome())
}

fn due_candidates(
    db: &Db,
    key: &OriginKey,
    iteration: Iteration,
    cursor: &RecrawlCursor,
    now: Timestamp,
    limit: usize,
) -> Result<DuePage, StoreError> {
    let through = DuePage { entries: Vec::new(), next: RecrawlCursor::End };
    let after = match cursor {
        RecrawlCursor::Start => None,
        RecrawlCursor::After(path) => Some(path.as_str()),
        RecrawlCursor::End => return Ok(through),
    };
    let Some(origin) = db.origin_id(key)? else { return Ok(through) };
    let claimer = Claimer::recrawl();
    let mut entries = Vec::new();
    let last_seen = db.scan_candidates(origin, after, |candidate| {
        let claim = decide(Some(&candidate.claimed), None, iteration, &claimer, Some(now)).outcome();
        let is_own = matches!(claim, Claim::Own { .. });
        // What the definition forbids waits until a link to it is allowed.
        if is_own && candidate.last_outcome != Some(Outcome::BlockedUrlByLocalPolicy) {
            entries.push(entry(key, candidate)?);
        }
        Ok(if entries.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(DuePage { entries, next: last_seen.map_or(RecrawlCursor::End, RecrawlCursor::After) })
}

fn entry(key: &OriginKey, candidate: Candidate) -> Result<(TodoEntry, u32), StoreError> {
    let via = candidate.via.map(|via| restore(&key.origin, via)).transpose()?;
    let Candidate { path_and_query, last, depth, .. } = candidate;
    Ok((TodoEntry { path_and_query, via, redirects: 0, last }, depth))
}

fn update_candidates(db: &Db, key: &OriginKey, updates: &[CandidateUpdate]) -> Result<(), StoreError> {
    let Some(origin) = db.origin_id(key)? else { return Ok(()) };
    updates.iter().try_for_each(|update| db.update_candidate(origin, update))
}
