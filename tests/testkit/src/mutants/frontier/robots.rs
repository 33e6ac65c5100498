//! Defects of the stored robots.txt.

use dragline_domain::frontier::OriginKey;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Frontier, KeptRobots, RobotsRow};

use super::super::FrontierMutation as M;
use super::MutantFrontier;

impl<F: Frontier> KeptRobots for MutantFrontier<F> {
    async fn load_robots(&self, origin: &OriginKey) -> PortResult<Option<RobotsRow>> {
        self.inner.load_robots(origin).await
    }

    async fn put_robots(&self, origin: &OriginKey, robots: &RobotsRow) -> PortResult<()> {
        let is_kept_first = self.is(M::RobotsKeptFirst) && self.inner.load_robots(origin).await?.is_some();
        if is_kept_first || self.is(M::RobotsNotKept) {
            return Ok(());
        }
        if self.is(M::RobotsOfTheFutureKept)
            && let Some(kept) = self.inner.load_robots(origin).await?
            && kept.fetched_at > robots.fetched_at
        {
            return Ok(());
        }
        if self.is(M::RobotsGoBack)
            && let Some(kept) = self.inner.load_robots(origin).await?
        {
            let fetched_at = robots.fetched_at.max(kept.fetched_at);
            return self.inner.put_robots(origin, &RobotsRow { fetched_at, ..robots.clone() }).await;
        }
        self.inner.put_robots(origin, robots).await
    }
}
