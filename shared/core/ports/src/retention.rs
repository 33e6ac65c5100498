//! Deleting what nothing refers to any more, and everything of some URLs.

use std::future::Future;

use dragline_domain::frontier::{IterationRow, ObjectKey, OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;

use crate::error::PortResult;
use crate::reader::Cursor;

/// Deletes of dropped iterations what nothing refers to, by the rule of [`dragline_domain::retention`].
///
/// The order keeps rows from referring to what is gone, wherever it is cut short: the iterations are marked, then the rows of a batch of segments are
/// deleted, then the caller deletes their objects, and then the segments are marked, or deleted. Each operation may be repeated, and a repeated walk
/// finds what an earlier one left.
pub trait Retained: Send + Sync {
    /// Lists the iterations of a crawl, the newest first.
    fn list_iterations(&self, crawl: &CrawlId) -> impl Future<Output = PortResult<Vec<IterationRow>>> + Send;

    /// Marks the iterations up to this one as pruned, with what they left over. Those that were marked before keep their time.
    fn mark_pruned(
        &self,
        crawl: &CrawlId,
        cut: Iteration,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<()>> + Send;

    /// Looks at the next segments of an origin, in an order of the store's own, and deletes the rows of what nothing refers to if the iterations up to
    /// `cut` are dropped. Segments of later iterations, and those that are not parsed, are left alone.
    fn prune_segments(
        &self,
        origin: &OriginKey,
        cut: Iteration,
        after: Option<&SegmentId>,
        effect: Effect,
    ) -> impl Future<Output = PortResult<PrunedSegments>> + Send;

    /// Records that the objects of these segments are gone.
    fn forget_objects(&self, segments: &[SegmentId]) -> impl Future<Output = PortResult<()>> + Send;
}

/// Forgets URLs: no row of theirs stays.
///
/// Objects come first: until the rows are gone, a repeated call finds the same objects.
pub trait Forgetting: Send + Sync {
    /// Lists objects with records of these URLs, or of URLs that were found on them: some after `after`, in the order of their segments.
    fn objects_naming(
        &self,
        crawl: &CrawlId,
        urls: &[CrawlUrl],
        after: Option<&Cursor>,
    ) -> impl Future<Output = PortResult<ObjectsNaming>> + Send;

    /// Deletes candidates, log and documents of these URLs. URLs that were found on them are as if nobody knew where. Counters of iterations and
    /// links of other pages stay.
    fn forget_urls(&self, crawl: &CrawlId, urls: &[CrawlUrl]) -> impl Future<Output = PortResult<Forgotten>> + Send;
}

/// Objects that name URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectsNaming {
    /// The objects.
    pub objects: Vec<ObjectKey>,
    /// Where to continue; `None` after the last.
    pub next: Option<Cursor>,
}

/// How much was stored of URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// URLs of which anything was.
    pub urls: u64,
    /// Their visits.
    pub visits: u64,
    /// Their documents.
    pub documents: u64,
}

/// Whether anything is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is.
    Delete,
    /// What would be is only counted.
    Count,
}

/// What became of some segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrunedSegments {
    /// Visits of which nothing is stored now.
    pub visits: u64,
    /// Documents that were deleted.
    pub documents: u64,
    /// Visits that stay whole, because something refers to them.
    pub kept: u64,
    /// Objects that nothing refers to any more. The caller deletes them.
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
