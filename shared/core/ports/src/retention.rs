//! Deleting unreferenced rows and objects, and everything stored of some URLs.

use std::future::Future;

use dragline_domain::frontier::{IterationRow, ObjectKey, OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;

use crate::error::PortResult;
use crate::reader::Cursor;

/// A store that deletes unreferenced data of dropped iterations, by the rule of
/// [`dragline_domain::retention`].
///
/// The order prevents dangling references after any interruption: the iterations are marked, then
/// the rows of a batch of segments are deleted, then the caller deletes their objects, and then the
/// segments are marked or deleted. Each operation may be repeated, and a repeated walk finds what
/// an earlier one left.
pub trait Pruning: Send + Sync {
    /// Lists the iterations of a crawl, newest first.
    fn list_iterations(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Vec<IterationRow>>> + Send;

    /// Marks the iterations up to this one as pruned, together with their leftovers. Iterations
    /// that were marked before keep their time.
    fn mark_pruned(
        &self,
        crawl: &CrawlId,
        cut: Iteration,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<()>> + Send;

    /// Visits the next segments of an origin, in the store's own order, and deletes the rows that
    /// nothing would refer to if the iterations up to `cut` are dropped. Skips unparsed segments
    /// and those of later iterations.
    fn prune_segments(
        &self,
        origin: &OriginKey,
        cut: Iteration,
        after: Option<&SegmentId>,
        effect: PruneMode,
    ) -> impl Future<Output = PortResult<PrunedSegments>> + Send;

    /// Records that the objects of these segments are deleted.
    fn forget_objects(&self, segments: &[SegmentId]) -> impl Future<Output = PortResult<()>> + Send;
}

/// A store that forgets URLs, deleting all of their rows.
///
/// Objects come first: until the rows are deleted, a repeated call finds the same objects.
pub trait Forgetting: Send + Sync {
    /// Lists some objects after `after`, in the order of their segments, with records of these URLs
    /// or of URLs that were found on them.
    fn objects_naming(
        &self,
        crawl: &CrawlId,
        urls: &[CrawlUrl],
        after: Option<&Cursor>,
    ) -> impl Future<Output = PortResult<ObjectsNaming>> + Send;

    /// Deletes candidates, log and documents of these URLs. For URLs that were found on them, the
    /// source becomes unknown. Counters of iterations and links of other pages stay.
    fn forget_urls(&self, crawl: &CrawlId, urls: &[CrawlUrl]) -> impl Future<Output = PortResult<ForgetTotals>> + Send;
}

/// Some objects that name forgotten URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectsNaming {
    /// The objects.
    pub objects: Vec<ObjectKey>,
    /// Where to continue; `None` after the last.
    pub next: Option<Cursor>,
}

/// How much of the URLs was stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForgetTotals {
    /// URLs with any stored data.
    pub urls: u64,
    /// Visits of the URLs.
    pub visits: u64,
    /// Documents of the URLs.
    pub documents: u64,
}

/// Whether anything is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PruneMode {
    /// Delete.
    Delete,
    /// Only count what would be deleted.
    Count,
}

/// The result of pruning some segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrunedSegments {
    /// Visits with no stored data left.
    pub visits: u64,
    /// Documents that were deleted.
    pub documents: u64,
    /// Visits that are kept whole, because something refers to them.
    pub kept: u64,
    /// Objects that nothing refers to any more, for the caller to delete.
    pub unused: Vec<UnusedObject>,
    /// The segment after which to continue; `None` if these were the last.
    pub after: Option<SegmentId>,
}

/// An object that nothing refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedObject {
    /// Its segment.
    pub segment: SegmentId,
    /// The iteration of its segment.
    pub iteration: Iteration,
    /// The object.
    pub object: ObjectKey,
    /// Its size in bytes.
    pub bytes: u64,
}
