//! Defects of candidates.

use dragline_domain::frontier::{CandidateUpdate, Claim, Claimer, OriginKey, RecrawlCursor};
use dragline_domain::ids::{Iteration, Turn};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Candidates, ClaimRequest, DuePage, Frontier};
use jiff::Timestamp;

use super::super::FrontierMutation as M;
use super::{MutantFrontier, blank, far_ahead};

impl<F: Frontier> Candidates for MutantFrontier<F> {
    async fn claim(&self, request: &ClaimRequest) -> PortResult<Vec<Claim>> {
        let mut request = request.clone();
        match self.mutation {
            Some(M::ClaimForgotten) => request.claimer = Claimer::stored(self.fresh().to_string()),
            Some(M::ClaimBeforeDue) => request.if_due = None,
            Some(M::LongPathsCut) => request.urls.iter_mut().for_each(|(path, _)| path.truncate(1_024)),
            _ => {}
        }
        let mut claims = self.inner.claim(&request).await?;
        for claim in claims.iter_mut().filter(|claim| matches!(claim, Claim::Taken { .. })) {
            match self.mutation {
                Some(M::ClaimAlwaysOwn) => *claim = Claim::Own { last: None },
                Some(M::ClaimerMistaken) => *claim = Claim::Taken { by: Claimer::recrawl() },
                _ => {}
            }
        }
        Ok(claims)
    }

    async fn due_candidates(
        &self,
        origin: &OriginKey,
        iteration: Iteration,
        cursor: &RecrawlCursor,
        now: Timestamp,
        limit: usize,
    ) -> PortResult<DuePage> {
        let iteration = if self.is(M::CursorTakesQueued) { iteration.next() } else { iteration };
        let now = if self.is(M::CursorBeforeDue) { far_ahead(now) } else { now };
        let page = self.inner.due_candidates(origin, iteration, cursor, now, limit).await?;
        Ok(if self.is(M::CursorLost) { DuePage { next: RecrawlCursor::End, ..page } } else { page })
    }

    async fn update_candidates(&self, origin: &OriginKey, updates: &[CandidateUpdate]) -> PortResult<()> {
        let mut updates = updates.to_vec();
        for update in &mut updates {
            match self.mutation {
                Some(M::UpdateGoesBack) => {
                    update.iteration = Iteration::new(99).unwrap_or(update.iteration);
                    update.turn = Turn(self.fresh());
                }
                Some(M::CaptureErased) if update.capture.is_none() => update.capture = Some(blank(update)),
                _ => {}
            }
        }
        self.inner.update_candidates(origin, &updates).await
    }
}
