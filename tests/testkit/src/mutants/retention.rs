//! What is kept, with one defect each.

use dragline_domain::frontier::{IterationRow, OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;
use dragline_ports::reader::Cursor;
use dragline_ports::retention::{Effect, Forgetting, Forgotten, ObjectsNaming, PrunedSegments, Retained};
use jiff::Timestamp;

use super::mutations;
use RetentionMutation as M;

mutations! {
    /// What is wrong with what is kept.
    RetentionMutation {
        /// Nothing is deleted.
        NothingDeleted,
        /// A count deletes what it counts.
        CountDeletes,
        /// One iteration more is dropped.
        DropsOneMore,
        /// Objects that nothing refers to are not named.
        UnusedNotNamed,
        /// Objects that are gone are not recorded as gone.
        GoneForgotten,
        /// Visits that stay are not counted.
        KeptNotCounted,
        /// Iterations are not marked.
        MarkForgotten,
        /// One iteration more is marked.
        MarksOneMore,
        /// Iterations are listed oldest first.
        OldestFirst,
        /// Nothing is forgotten.
        NothingForgotten,
    }
}

/// What is kept, with one defect.
#[derive(Clone, Debug)]
pub struct MutantRetained<R> {
    inner: R,
    mutation: RetentionMutation,
}

impl<R: Retained> MutantRetained<R> {
    /// Wraps what is kept with this defect.
    #[must_use]
    pub const fn new(inner: R, mutation: RetentionMutation) -> Self {
        Self { inner, mutation }
    }
}

impl<R: Retained> Retained for MutantRetained<R> {
    async fn list_iterations(&self, crawl: &CrawlId) -> PortResult<Vec<IterationRow>> {
        let mut rows = self.inner.list_iterations(crawl).await?;
        if self.mutation == M::OldestFirst {
            rows.reverse();
        }
        Ok(rows)
    }

    async fn mark_pruned(&self, crawl: &CrawlId, cut: Iteration, now: Timestamp) -> PortResult<()> {
        match self.mutation {
            M::MarkForgotten => Ok(()),
            M::MarksOneMore => self.inner.mark_pruned(crawl, cut.next(), now).await,
            _ => self.inner.mark_pruned(crawl, cut, now).await,
        }
    }

    async fn prune_segments(
        &self,
        origin: &OriginKey,
        cut: Iteration,
        after: Option<&SegmentId>,
        effect: Effect,
    ) -> PortResult<PrunedSegments> {
        let effect = match self.mutation {
            M::NothingDeleted => Effect::Count,
            M::CountDeletes => Effect::Delete,
            _ => effect,
        };
        let cut = if self.mutation == M::DropsOneMore { cut.next() } else { cut };
        let mut pruned = self.inner.prune_segments(origin, cut, after, effect).await?;
        match self.mutation {
            M::UnusedNotNamed => pruned.unused.clear(),
            M::KeptNotCounted => pruned.kept = 0,
            _ => {}
        }
        Ok(pruned)
    }

    async fn forget_objects(&self, segments: &[SegmentId]) -> PortResult<()> {
        match self.mutation {
            M::GoneForgotten => Ok(()),
            _ => self.inner.forget_objects(segments).await,
        }
    }
}

impl<R: Forgetting> Forgetting for MutantRetained<R> {
    async fn objects_naming(
        &self,
        crawl: &CrawlId,
        urls: &[CrawlUrl],
        after: Option<&Cursor>,
    ) -> PortResult<ObjectsNaming> {
        self.inner.objects_naming(crawl, urls, after).await
    }

    async fn forget_urls(&self, crawl: &CrawlId, urls: &[CrawlUrl]) -> PortResult<Forgotten> {
        match self.mutation {
            M::NothingForgotten => Ok(Forgotten::default()),
            _ => self.inner.forget_urls(crawl, urls).await,
        }
    }
}
