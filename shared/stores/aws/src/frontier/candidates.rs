//! Candidates: claiming them, walking those that are due, and recording how they ended.

use std::collections::HashMap;

use dragline_domain::frontier::{
    CandidateUpdate, Claim, Claimable, Decided, DueQuery, LaterCandidates, NamersUpdate, OriginKey, ShorterWayState,
    UrlHistory, claim as decide,
};
use dragline_domain::ids::Iteration;
use dragline_domain::lastmod::PageTimes;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Candidates, ClaimRequest, DueCandidate, DuePage};

use super::DynamoFrontier;
use crate::dynamo::Statement;
use crate::errors::{StoreError, at};
use crate::meter::capacity::ReadKind;
use crate::rows::candidate::{self, Candidate, Queueing};
use crate::rows::keys;
use crate::tables::Table;

impl Candidates for DynamoFrontier {
    /// Reads the candidates, decides, and writes the claimer's own. URLs changed by others
    /// meanwhile are decided again.
    ///
    /// The read comes first because most links lead to known URLs: a read costs a tenth of a
    /// refused write. The first read may be stale: claims of this iteration stay, and writes are
    /// refused where the state has changed. Only a consistent read counts as proof that a candidate
    /// is not due.
    async fn claim(&self, request: &ClaimRequest) -> PortResult<Vec<Claim>> {
        at("claim", &request.origin, async {
            let mut claims: Vec<Option<Claim>> = vec![None; request.urls.len()];
            let mut kind = ReadKind::Eventual;
            let mut rounds = self.db.rounds();
            loop {
                if kind == ReadKind::Consistent {
                    rounds.begin().await?;
                }
                let open: Vec<usize> = (0..claims.len()).filter(|&n| claims[n].is_none()).collect();
                if open.is_empty() {
                    return Ok(claims.into_iter().flatten().collect());
                }
                let wanted = open.iter().map(|&n| keys::candidate(&request.origin, &request.urls[n].0)).collect();
                let found = self.db.get_all(wanted, kind).await?;
                let (mut statements, mut written) = (Vec::new(), Vec::new());
                for n in open {
                    let item = found.get(&keys::candidate(&request.origin, &request.urls[n].0));
                    let candidate = item.map(Candidate::read).transpose()?;
                    match self.claim_one(request, n, candidate.as_ref())? {
                        // Whether it is due may have changed since; that it was visited has not.
                        ClaimStep::Answer(Claim::NotDue)
                            if kind == ReadKind::Eventual && request.claimable != Claimable::New => {}
                        ClaimStep::Answer(claim) => claims[n] = Some(claim),
                        ClaimStep::OnceWritten(statement, claim) => {
                            statements.push(statement);
                            written.push((n, claim));
                        }
                    }
                }
                let answers = self.db.execute_all(&statements).await?;
                for ((n, claim), answer) in written.into_iter().zip(answers) {
                    claims[n] = answer.ok().map(|()| claim);
                }
                kind = ReadKind::Consistent;
            }
        })
        .await
    }

    async fn nearer(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        paths: &[String],
    ) -> PortResult<Vec<Option<ShorterWayState>>> {
        at("look for shorter ways", origin, async {
            let keys: Vec<_> = paths.iter().map(|path| keys::candidate(origin, path)).collect();
            let found = self.db.get_all(keys.clone(), ReadKind::Consistent).await?;
            let nearer = keys.iter().map(|key| {
                let candidate = found.get(key).map(Candidate::read).transpose()?;
                Ok(candidate.and_then(|candidate| candidate.state.nearer(candidate.known, iteration)))
            });
            nearer.collect()
        })
        .await
    }

    async fn page_times(&self, origin: &OriginKey, paths: &[String]) -> PortResult<Vec<Option<PageTimes>>> {
        at("look when pages changed", origin, async {
            let keys: Vec<_> = paths.iter().map(|path| keys::candidate(origin, path)).collect();
            let found = self.db.get_all(keys.clone(), ReadKind::Eventual).await?;
            let times = keys.iter().map(|key| Ok(found.get(key).map(candidate::page_times).transpose()?.flatten()));
            times.collect()
        })
        .await
    }

    async fn due_candidates(
        &self,
        origin: &OriginKey,
        query: &DueQuery,
        after: &str,
        limit: usize,
    ) -> PortResult<DuePage> {
        at("list due candidates", origin, async {
            let after = Some(after).filter(|after| !after.is_empty());
            let page = self.db.first(&keys::candidates_after(origin, after), limit, ReadKind::Eventual).await?;
            let (mut entries, mut ahead) = (Vec::new(), LaterCandidates::default());
            for item in &page.items {
                let candidate = Candidate::read(item)?;
                let (work, more) = query.decide(&candidate.state, &candidate.known);
                ahead = ahead.and(more);
                entries.extend(work.map(|work| {
                    let (entry, depth) = candidate.into_entry();
                    DueCandidate { entry, depth, work }
                }));
            }
            Ok(DuePage { entries, next: page.next, ahead })
        })
        .await
    }

    /// Refuses updates older than the stored state, and of missing candidates.
    async fn update_candidates(&self, origin: &OriginKey, updates: &[CandidateUpdate]) -> PortResult<()> {
        at("update candidates", origin, async {
            let table = self.db.table(Table::Candidates);
            for layer in layers(updates) {
                let statements = layer.into_iter().map(|update| candidate::end(table, origin, update));
                self.db.execute_all(&statements.collect::<Result<Vec<_>, _>>()?).await?;
            }
            Ok(())
        })
        .await
    }

    async fn add_namers(&self, origin: &OriginKey, named: &[NamersUpdate]) -> PortResult<()> {
        at("add who calls URLs canonical", origin, async {
            let table = self.db.table(Table::Candidates);
            let statements: Vec<_> = named.iter().map(|named| candidate::add_namers(table, origin, named)).collect();
            self.db.execute_all(&statements).await?;
            Ok(())
        })
        .await
    }
}

impl DynamoFrontier {
    fn claim_one(
        &self,
        request: &ClaimRequest,
        n: usize,
        candidate: Option<&Candidate>,
    ) -> Result<ClaimStep, StoreError> {
        let (path, sighting) = &request.urls[n];
        let nothing = UrlHistory::default();
        let state = candidate.map(|candidate| &candidate.state);
        let known = candidate.map_or(&nothing, |candidate| &candidate.known);
        let decided =
            decide(state, known, request.iteration, &request.claimer, request.claimable, request.shorter_way(sighting));
        let queueing = Queueing {
            table: self.db.table(Table::Candidates),
            origin: &request.origin,
            iteration: request.iteration,
            claimer: &request.claimer,
        };
        Ok(match (decided, state) {
            (Decided::Leave(claim), _) => ClaimStep::Answer(claim),
            (Decided::Write(claim), None) => {
                ClaimStep::OnceWritten(queueing.insert(path, sighting, request.now), claim)
            }
            (Decided::Write(claim @ Claim::Nearer { .. }), Some(state)) => {
                ClaimStep::OnceWritten(queueing.come_nearer(path, sighting, state)?, claim)
            }
            (Decided::Write(claim), Some(state)) => {
                ClaimStep::OnceWritten(queueing.update(path, sighting, state.queued_in), claim)
            }
        })
    }
}

/// The result of claiming one URL.
enum ClaimStep {
    Answer(Claim),
    /// This claim, if the statement takes effect.
    OnceWritten(Statement, Claim),
}

/// Splits updates into layers, as a batch with a duplicate key fails: no layer contains a URL
/// twice, and each URL's updates stay in order.
fn layers(updates: &[CandidateUpdate]) -> Vec<Vec<&CandidateUpdate>> {
    let mut layers: Vec<Vec<&CandidateUpdate>> = Vec::new();
    let mut earlier: HashMap<&str, usize> = HashMap::new();
    for update in updates {
        let layer = earlier.entry(&update.path_and_query).or_default();
        match layers.get_mut(*layer) {
            Some(updates) => updates.push(update),
            None => layers.push(vec![update]),
        }
        *layer += 1;
    }
    layers
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::{StateChange, VisitTarget};
    use dragline_domain::ids::{Iteration, Turn};

    use super::*;

    #[test]
    fn layers_have_no_url_twice_and_keep_each_urls_order() {
        let update = |path: &str, n| CandidateUpdate {
            path_and_query: path.into(),
            iteration: Iteration::FIRST,
            turn: Turn(1),
            n,
            ended: None,
            state: StateChange::Kept,
            leads_to: VisitTarget::AsBefore,
            text: None,
        };
        let updates = [update("/a", 0), update("/b", 1), update("/a", 2), update("/a", 3), update("/b", 4)];
        let layers: Vec<Vec<u64>> =
            layers(&updates).into_iter().map(|layer| layer.into_iter().map(|update| update.n).collect()).collect();
        assert_eq!(layers, [vec![0, 1], vec![2, 4], vec![3]]);
    }
}
