//! Putting documents that were made again in the place of those that are stored.

use std::future::Future;

use dragline_domain::frontier::{OriginKey, SegmentId, SegmentRow};
use dragline_domain::ids::CrawlId;
use dragline_domain::remake::{RemadeVisit, RemakeState};

use crate::error::PortResult;

/// Replaces documents of parsed segments, of whatever iteration, while no iteration of the crawl is open.
///
/// A document is only ever replaced: what was pruned or forgotten does not come back.
pub trait Remaking: Send + Sync {
    /// Returns how far making the crawl's documents again has come; `None` if nobody is at it.
    fn load_remake(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Option<RemakeState>>> + Send;

    /// Lists segments of an origin in the order of their commits, at most `limit` of those after `after`: the parsed ones whose objects are kept.
    fn list_parsed(
        &self,
        origin: &OriginKey,
        after: Option<&SegmentId>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<SegmentRow>>> + Send;

    /// Puts these in the place of what is stored for their visits: document, items, difference, how the log says that the visit ended and what it
    /// changed, and what the candidate says if it is the URL's last good document. Stores with it how far the work has come. What is not there any
    /// more stays so. May be repeated.
    fn replace(
        &self,
        segment: &SegmentRow,
        visits: &[RemadeVisit],
        state: &RemakeState,
    ) -> impl Future<Output = PortResult<()>> + Send;

    /// Records that all is done. May be repeated.
    fn end_remake(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<()>> + Send;
}
