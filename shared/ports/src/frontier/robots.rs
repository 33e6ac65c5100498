//! robots.txt, kept from one turn to the next.

use std::future::Future;

use dragline_domain::frontier::OriginKey;
use dragline_formats::robots::RobotsRecord;
use jiff::Timestamp;

use crate::error::PortResult;

/// robots.txt, kept from one turn to the next.
pub trait KeptRobots: Send + Sync {
    /// robots.txt as kept; `None` if it was never fetched.
    fn load_robots(&self, origin: &OriginKey) -> impl Future<Output = PortResult<Option<RobotsRow>>> + Send;

    /// Keeps robots.txt, in place of what was kept. What was fetched earlier than that is ignored, as a holder that slept may come late; unless what is
    /// kept is so much later that the clock was set back since ([`is_set_back`](dragline_domain::time::is_set_back)).
    fn put_robots(&self, origin: &OriginKey, robots: &RobotsRow) -> impl Future<Output = PortResult<()>> + Send;
}

/// robots.txt as kept for an origin.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsRow {
    /// What was got, and what it means.
    pub record: RobotsRecord,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// When it is to be fetched again.
    pub expires_at: Timestamp,
}
