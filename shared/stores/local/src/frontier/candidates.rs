//! Candidates: claiming them, walking those that are due, and recording how they ended.

use std::ops::ControlFlow;

use dragline_domain::frontier::{
    CandidateUpdate, Claim, Decided, DueQuery, DueWork, LaterCandidates, NamersUpdate, OriginKey, SeedDistance,
    ShorterWayState, Sighting, StateChange, TodoEntry, UrlHistory, VisitPlace, claim as decide, is_owned_by_other,
};
use dragline_domain::ids::Iteration;
use dragline_domain::lastmod::PageTimes;
use dragline_domain::url::Origin;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Candidates, ClaimRequest, DueCandidate, DuePage};

use super::SqliteFrontier;
use crate::db::urls::restore;
use crate::db::{Candidate, Claimed, Db, OriginRowId, SegmentRowId, StoreError, VisitId};

impl Candidates for SqliteFrontier {
    async fn claim(&self, request: &ClaimRequest) -> PortResult<Vec<Claim>> {
        let owned = request.clone();
        self.run("claim", &request.origin, move |db| claim(db, &owned)).await
    }

    async fn nearer(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        paths: &[String],
    ) -> PortResult<Vec<Option<ShorterWayState>>> {
        let (key, paths) = (origin.clone(), paths.to_vec());
        self.run("look for shorter ways", origin, move |db| nearer(db, &key, iteration, &paths)).await
    }

    async fn page_times(&self, origin: &OriginKey, paths: &[String]) -> PortResult<Vec<Option<PageTimes>>> {
        let (key, paths) = (origin.clone(), paths.to_vec());
        let work = move |db: &Db| match db.origin_id(&key)? {
            Some(origin) => paths.iter().map(|path| db.page_times(origin, path)).collect(),
            None => Ok(vec![None; paths.len()]),
        };
        self.run("look when pages changed", origin, work).await
    }

    async fn due_candidates(
        &self,
        origin: &OriginKey,
        query: &DueQuery,
        after: &str,
        limit: usize,
    ) -> PortResult<DuePage> {
        let (owner, query, after) = (origin.clone(), *query, after.to_owned());
        self.run("list due candidates", origin, move |db| due_candidates(db, &owner, &query, &after, limit)).await
    }

    async fn update_candidates(&self, origin: &OriginKey, updates: &[CandidateUpdate]) -> PortResult<()> {
        let (key, updates) = (origin.clone(), updates.to_vec());
        self.run("update candidates", origin, move |db| update_candidates(db, &key, &updates)).await
    }

    async fn add_namers(&self, origin: &OriginKey, named: &[NamersUpdate]) -> PortResult<()> {
        let (key, named) = (origin.clone(), named.to_vec());
        let work = move |db: &Db| match db.origin_id(&key)? {
            Some(origin) => db.add_namers(origin, &named),
            None => Ok(()),
        };
        self.run("add who calls URLs canonical", origin, work).await
    }
}

// Not inlined, so that profiles show it by its name.
#[inline(never)]
fn claim(db: &Db, request: &ClaimRequest) -> Result<Vec<Claim>, StoreError> {
    let origin = (db.ensure_origin(&request.origin)?, &request.origin.origin);
    request.urls.iter().map(|(path, sighting)| claim_one(db, request, origin, path, sighting)).collect()
}

fn claim_one(
    db: &Db,
    request: &ClaimRequest,
    origin: (OriginRowId, &Origin),
    path: &str,
    sighting: &Sighting,
) -> Result<Claim, StoreError> {
    let way = request.shorter_way(sighting);
    // Most URLs belong to other claimers, or are new. Neither case needs the rest of the row.
    let candidate = match db.claimed(origin, path)? {
        Some(Claimed { queued_in, by, found_at, has_shorter_ways: false })
            if is_owned_by_other(queued_in, &by, request.iteration, &request.claimer)
                && way.is_none_or(|way| way >= found_at) =>
        {
            return Ok(Claim::Taken { by, found_at: Some(found_at) });
        }
        Some(_) => db.candidate(origin, path)?,
        None => None,
    };
    let nothing = UrlHistory::default();
    let known = candidate.as_ref().map_or(&nothing, |candidate| &candidate.known);
    let state = candidate.as_ref().map(|candidate| &candidate.state);
    let decided = decide(state, known, request.iteration, &request.claimer, request.claimable, way);
    if let Decided::Write(claim) = &decided {
        let queued = (request.iteration, &request.claimer);
        match (&candidate, claim) {
            (None, _) => db.insert_candidate(origin, path, queued, sighting, request.now)?,
            (Some(Candidate { state, .. }), Claim::Nearer { .. }) => {
                db.put_nearer(origin, path, (&state.nearer, &request.claimer), sighting)?;
            }
            (Some(_), _) => db.queue_candidate(origin, path, queued, sighting)?,
        }
    }
    Ok(decided.outcome())
}

fn nearer(
    db: &Db,
    key: &OriginKey,
    iteration: Iteration,
    paths: &[String],
) -> Result<Vec<Option<ShorterWayState>>, StoreError> {
    let Some(origin) = db.origin_id(key)? else { return Ok(vec![None; paths.len()]) };
    let found = paths.iter().map(|path| {
        let candidate = db.candidate((origin, &key.origin), path)?;
        Ok(candidate.and_then(|candidate| candidate.state.nearer(candidate.known, iteration)))
    });
    found.collect()
}

fn due_candidates(
    db: &Db,
    key: &OriginKey,
    query: &DueQuery,
    after: &str,
    limit: usize,
) -> Result<DuePage, StoreError> {
    let mut page = DuePage { entries: Vec::new(), next: None, ahead: LaterCandidates::default() };
    let Some(origin) = db.origin_id(key)? else { return Ok(page) };
    page.next = db.scan_candidates((origin, &key.origin), after, |candidate| {
        let (work, ahead) = query.decide(&candidate.state, &candidate.known);
        page.ahead = page.ahead.and(ahead);
        if let Some(work) = work {
            page.entries.push(due(key, candidate, work)?);
        }
        Ok(if page.entries.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(page)
}

fn due(key: &OriginKey, candidate: Candidate, work: DueWork) -> Result<DueCandidate, StoreError> {
    let via = candidate.via.map(|via| restore(&key.origin, via)).transpose()?;
    let Candidate { path_and_query, known, state, read_as, .. } = candidate;
    let SeedDistance { depth, requisite_steps } = state.found_at;
    let (demand, follow_up) = Default::default();
    let entry = TodoEntry { path_and_query, via, redirects: 0, requisite_steps, read_as, known, demand, follow_up };
    Ok(DueCandidate { entry, depth, work })
}

// Not inlined, so that profiles show it by its name.
#[inline(never)]
fn update_candidates(db: &Db, key: &OriginKey, updates: &[CandidateUpdate]) -> Result<(), StoreError> {
    let Some(origin) = db.origin_id(key)? else { return Ok(()) };
    // Most documents belong to the segment that puts them.
    let mut last: Option<(VisitPlace, SegmentRowId)> = None;
    let updates = updates.iter().map(|update| {
        let document = match update.state {
            StateChange::Shown { place, .. } => {
                let segment = match last {
                    Some((of, segment)) if (of.turn, of.segment) == (place.turn, place.segment) => segment,
                    _ => db.segment_at(origin, &place)?.ok_or(StoreError::Missing("segment of a document"))?,
                };
                last = Some((place, segment));
                Some(VisitId::new(segment, place.n)?)
            }
            StateChange::Kept | StateChange::Confirmed | StateChange::Hidden(_) => None,
        };
        Ok((update, document))
    });
    db.update_candidates(origin, updates)
}
