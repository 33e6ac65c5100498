//! Defects of settling and giving up origins that nobody holds.

use dragline_domain::frontier::{OriginKey, OriginRows};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Endings, Frontier, GiveUp, Settled};

use super::super::FrontierMutation as M;
use super::{MutantFrontier, far_ahead};

impl<F: Frontier> Endings for MutantFrontier<F> {
    async fn settle(&self, origin: &OriginKey, seen: &OriginRows) -> PortResult<Settled> {
        if self.is(M::SettlementForgotten) {
            return Ok(Settled::Closed);
        }
        let now = if self.is(M::SettleFromStaleRows) { self.inner.load_origin(origin).await? } else { None };
        self.inner.settle(origin, now.as_ref().unwrap_or(seen)).await
    }

    async fn give_up(&self, give_up: &GiveUp) -> PortResult<Settled> {
        let mut give_up = give_up.clone();
        match self.mutation {
            Some(M::GiveUpFromStaleRows) => {
                give_up.seen = self.inner.load_origin(&give_up.origin).await?.unwrap_or(give_up.seen);
            }
            Some(M::GiveUpOnTheLiving) => give_up.now = far_ahead(give_up.now),
            _ => {}
        }
        self.inner.give_up(&give_up).await
    }
}
