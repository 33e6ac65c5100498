//! The crawl log.

use std::future::Future;
use std::sync::Arc;

use dragline_domain::capture::SegmentLog;

use crate::error::PortResult;

/// The crawl log.
pub trait CrawlLog: Send + Sync {
    /// Stores the log of a segment, once; retries change nothing.
    fn put_log(&self, log: &Arc<SegmentLog>) -> impl Future<Output = PortResult<()>> + Send;
}
