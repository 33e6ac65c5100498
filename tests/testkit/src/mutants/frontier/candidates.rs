//! Defects of candidates.

use dragline_domain::frontier::{
    Ahead, CandidateUpdate, Claim, Claimable, Claimer, DueQuery, Known, Named, Nearer, OriginKey, Pass, RulesDigest,
    ShorterWays, StateChange,
};
use dragline_domain::ids::{Iteration, Turn};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Candidates, ClaimRequest, DuePage, Frontier};

use super::super::FrontierMutation as M;
use super::{MutantFrontier, blank, far_ahead, never_ended};

impl<F: Frontier> Candidates for MutantFrontier<F> {
    async fn claim(&self, request: &ClaimRequest) -> PortResult<Vec<Claim>> {
        let mut request = request.clone();
        match self.mutation {
            Some(M::ClaimForgotten) => request.claimer = Claimer::stored(self.fresh().to_string()),
            Some(M::ClaimBeforeDue) => request.claimable = Claimable::All,
            Some(M::ShorterWayIgnored) => request.shorter_ways = ShorterWays::Ignored,
            Some(M::LongPathsCut) => request.urls.iter_mut().for_each(|(path, _)| path.truncate(1_024)),
            _ => {}
        }
        let mut claims = self.inner.claim(&request).await?;
        for claim in claims.iter_mut().filter(|claim| matches!(claim, Claim::Taken { .. })) {
            match self.mutation {
                Some(M::ClaimAlwaysOwn) => *claim = Claim::Own { known: Known::default() },
                Some(M::ClaimerMistaken) => *claim = Claim::Taken { by: Claimer::recrawl(), found_at: None },
                _ => {}
            }
        }
        Ok(claims)
    }

    async fn nearer(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        paths: &[String],
    ) -> PortResult<Vec<Option<Nearer>>> {
        let mut found = self.inner.nearer(origin, iteration, paths).await?;
        if self.mutation == Some(M::ShorterWayUnvisited) {
            found.iter_mut().flatten().for_each(|nearer| nearer.has_ended = false);
        }
        Ok(found)
    }

    async fn due_candidates(
        &self,
        origin: &OriginKey,
        query: &DueQuery,
        after: &str,
        limit: usize,
    ) -> PortResult<DuePage> {
        let mut query = *query;
        match self.mutation {
            Some(M::CursorTakesQueued) => query.iteration = query.iteration.next(),
            Some(M::CursorBeforeDue) => query.now = far_ahead(query.now),
            Some(M::CursorIgnoresPasses) => query.pass = Pass::All,
            Some(M::CursorIgnoresRules) => query.rules = RulesDigest(0),
            _ => {}
        }
        let page = self.inner.due_candidates(origin, &query, after, limit).await?;
        Ok(match self.mutation {
            Some(M::CursorLost) => DuePage { next: None, ..page },
            Some(M::CursorLooksNotAhead) => DuePage { ahead: Ahead::default(), ..page },
            _ => page,
        })
    }

    async fn update_candidates(&self, origin: &OriginKey, updates: &[CandidateUpdate]) -> PortResult<()> {
        let mut updates = updates.to_vec();
        for update in &mut updates {
            match self.mutation {
                Some(M::UpdateGoesBack) => {
                    update.iteration = Iteration::new(99).unwrap_or(update.iteration);
                    update.turn = Turn(self.fresh());
                }
                Some(M::CaptureErased) => update.ended.iter_mut().for_each(|ended| {
                    ended.capture = ended.capture.take().or_else(|| Some(blank(ended)));
                }),
                Some(M::CaptureRedated) => update.ended.iter_mut().for_each(|ended| {
                    ended.capture.iter_mut().for_each(|capture| capture.fetched_at = ended.at);
                }),
                Some(M::HiddenForgotten) => update.state = StateChange::Kept,
                Some(M::ReparseEnds) if update.ended.is_none() => update.ended = Some(never_ended()),
                _ => {}
            }
        }
        self.inner.update_candidates(origin, &updates).await
    }

    async fn add_namers(&self, origin: &OriginKey, named: &[Named]) -> PortResult<()> {
        self.inner.add_namers(origin, named).await
    }
}
