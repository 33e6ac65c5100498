//! robots.txt, stored from one turn to the next.

use std::future::Future;

use dragline_domain::frontier::OriginKey;
use dragline_formats::robots::RobotsRecord;
use jiff::Timestamp;

use crate::error::PortResult;

/// robots.txt, stored from one turn to the next.
pub trait KeptRobots: Send + Sync {
    /// Returns the stored robots.txt; `None` if it was never fetched.
    fn load_robots(&self, origin: &OriginKey) -> impl Future<Output = PortResult<Option<RobotsRow>>> + Send;

    /// Stores robots.txt in place of the stored one. Ignores one that was fetched earlier than the
    /// stored one, as a delayed holder may write late; unless the stored one is so much later that
    /// the clock must have been set back ([`is_set_back`](dragline_domain::time::is_set_back)).
    fn put_robots(&self, origin: &OriginKey, robots: &RobotsRow) -> impl Future<Output = PortResult<()>> + Send;
}

/// A robots.txt as stored for an origin.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsRow {
    /// The response and its meaning.
    pub record: RobotsRecord,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// When to fetch it again.
    pub expires_at: Timestamp,
}
