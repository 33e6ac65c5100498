//! robots.txt, kept from one turn to the next.

use dragline_domain::frontier::OriginKey;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{KeptRobots, RobotsRow};

use super::SqliteFrontier;

impl KeptRobots for SqliteFrontier {
    async fn load_robots(&self, origin: &OriginKey) -> PortResult<Option<RobotsRow>> {
        let key = origin.clone();
        self.run("load robots", origin, move |db| match db.origin_id(&key)? {
            Some(id) => db.robots(id),
            None => Ok(None),
        })
        .await
    }

    async fn put_robots(&self, origin: &OriginKey, robots: &RobotsRow) -> PortResult<()> {
        let (key, robots) = (origin.clone(), robots.clone());
        self.run("put robots", origin, move |db| db.put_robots(db.ensure_origin(&key)?, &robots)).await
    }
}
