//! Defects of overdue work.

use dragline_domain::ids::CrawlId;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Frontier, Overdue, OverdueKinds, OverdueWork};
use jiff::Timestamp;

use super::super::FrontierMutation as M;
use super::MutantFrontier;

impl<F: Frontier> OverdueWork for MutantFrontier<F> {
    async fn overdue(
        &self,
        crawl: &CrawlId,
        due_by: Timestamp,
        kinds: OverdueKinds,
        limit: usize,
    ) -> PortResult<Vec<Overdue>> {
        let kinds = if self.is(M::LeasesHideTheRest) { OverdueKinds::All } else { kinds };
        let mut work = self.inner.overdue(crawl, due_by, kinds, limit).await?;
        if self.is(M::OriginsHideLostParses) {
            work.truncate(limit);
        }
        work.retain(|work| !(self.is(M::SegmentsNeverOverdue) && matches!(work, Overdue::Segment(..))));
        Ok(work)
    }

    async fn postpone(&self, work: &Overdue, due: Timestamp) -> PortResult<()> {
        if self.is(M::PostponeForgotten) { Ok(()) } else { self.inner.postpone(work, due).await }
    }
}
