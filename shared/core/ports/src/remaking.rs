//! Replacing stored documents with remade ones.

use std::future::Future;

use dragline_domain::frontier::{OriginKey, SegmentId, SegmentRow};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::remake::{RemadeVisit, RemakeJob, RemakeState, RemakeTotals};

use crate::error::PortResult;

/// The replacement of a segment's documents.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'r> {
    /// The segment.
    pub segment: &'r SegmentRow,
    /// The visits with remade documents.
    pub visits: &'r [RemadeVisit],
    /// The progress of the job after this.
    pub state: &'r RemakeState,
}

/// The result of beginning to remake documents.
#[derive(Clone, Debug, PartialEq)]
pub enum RemakeBegun {
    /// Continue from this state; for a new job, its beginning.
    From(RemakeState),
    /// This iteration of the crawl is still open.
    Busy(Iteration),
}

/// The result of a replacement.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplaceResult {
    /// It is done, possibly by an earlier try; these are the totals since the job began.
    Done(RemakeTotals),
    /// This iteration of the crawl began meanwhile, and has priority.
    Busy(Iteration),
    /// Another job has taken over the remaking of the crawl's documents, or ended this one.
    Superseded,
}

/// A store that replaces documents of parsed segments, of any iteration, while no iteration of the
/// crawl is open.
///
/// Documents are only ever replaced: pruned or forgotten ones do not come back.
pub trait Remaking: Send + Sync {
    /// Takes up a job: continues it where it stopped, or begins it in place of another. May be
    /// repeated.
    fn begin_remake(&self, crawl: &CrawlId, job: &RemakeJob) -> impl Future<Output = PortResult<RemakeBegun>> + Send;

    /// Lists at most `limit` segments of an origin after `after`, in commit order: the parsed ones
    /// whose objects are kept.
    fn list_parsed(
        &self,
        origin: &OriginKey,
        after: Option<&SegmentId>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<SegmentRow>>> + Send;

    /// Replaces what is stored for these visits: the document, its items and difference, the
    /// outcome and change in the log, the fields of the candidate if this is the URL's last good
    /// document, and the counters of the segment's iteration if its origin still has them. Stores
    /// the job's progress with it. Missing rows stay missing. May be repeated, also after an
    /// interruption; the totals then still count the differences from before the first try.
    fn replace(&self, replacement: Replacement<'_>) -> impl Future<Output = PortResult<ReplaceResult>> + Send;

    /// Records that this job is finished, unless another took its place. May be repeated.
    fn end_remake(&self, crawl: &CrawlId, job: &RemakeJob) -> impl Future<Output = PortResult<()>> + Send;
}
