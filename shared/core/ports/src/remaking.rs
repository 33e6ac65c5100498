//! Putting documents that were made again in the place of those that are stored.

use std::future::Future;

use dragline_domain::frontier::{OriginKey, SegmentId, SegmentRow};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::remake::{Remade, RemadeVisit, RemakeJob, RemakeState};

use crate::error::PortResult;

/// What takes the place of a segment's documents.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'r> {
    /// The segment.
    pub segment: &'r SegmentRow,
    /// Those of its visits whose documents were made again.
    pub visits: &'r [RemadeVisit],
    /// How far the work has come with this.
    pub state: &'r RemakeState,
}

/// What became of beginning to make documents again.
#[derive(Clone, Debug, PartialEq)]
pub enum RemakeBegun {
    /// The work is to go on from here; where nobody was at this job, from its beginning.
    From(RemakeState),
    /// This iteration of the crawl is not over.
    Busy(Iteration),
}

/// What became of a replacement.
#[derive(Clone, Debug, PartialEq)]
pub enum Replaced {
    /// It is done, be it by an earlier try; this was done since the work began.
    Done(Remade),
    /// This iteration of the crawl began meanwhile, and goes first.
    Busy(Iteration),
    /// Somebody else makes the crawl's documents again since, by another job, or ended this one.
    Superseded,
}

/// Replaces documents of parsed segments, of whatever iteration, while no iteration of the crawl is open.
///
/// A document is only ever replaced: what was pruned or forgotten does not come back.
pub trait Remaking: Send + Sync {
    /// Takes up a job: goes on where it stopped, or begins it in place of another. May be repeated.
    fn begin_remake(&self, crawl: &CrawlId, job: &RemakeJob) -> impl Future<Output = PortResult<RemakeBegun>> + Send;

    /// Lists segments of an origin in the order of their commits, at most `limit` of those after `after`: the parsed ones whose objects are kept.
    fn list_parsed(
        &self,
        origin: &OriginKey,
        after: Option<&SegmentId>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<SegmentRow>>> + Send;

    /// Puts these in the place of what is stored for their visits: document, items, difference, how the log says that the visit ended and what it
    /// changed, what the candidate says if it is the URL's last good document, and what the counters of the segment's iteration say, if its origin
    /// still has them. Stores with it how far the work has come. What is not there any more stays so. May be repeated, also where it was cut short,
    /// and then counts what was different before the first try.
    fn replace(&self, replacement: Replacement<'_>) -> impl Future<Output = PortResult<Replaced>> + Send;

    /// Records that all of this job is done, unless another took its place. May be repeated.
    fn end_remake(&self, crawl: &CrawlId, job: &RemakeJob) -> impl Future<Output = PortResult<()>> + Send;
}
