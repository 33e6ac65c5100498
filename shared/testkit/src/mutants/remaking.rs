//! Making documents again, with one defect each.

use dragline_domain::change::VisitChange;
use dragline_domain::frontier::{OriginKey, SegmentId, SegmentRow, StateChange};
use dragline_domain::ids::CrawlId;
use dragline_domain::remake::{RemadeVisit, RemakeState, Rewrite};
use dragline_ports::documents::Documents;
use dragline_ports::error::PortResult;
use dragline_ports::remaking::Remaking;

use super::mutations;
use RemakingMutation as M;

mutations! {
    /// What is wrong with making documents again.
    RemakingMutation {
        /// Nothing is replaced.
        NothingReplaced,
        /// What a visit changed stays as it was.
        ChangeKept,
        /// What is not decided again is erased from the log.
        ChangeErased,
        /// Where a visit leads is not written.
        RedirectKept,
        /// What is made of one URL replaces the document of another.
        UrlIgnored,
        /// Each page of segments is the first.
        FirstPageAgain,
        /// A page has more segments than were asked for.
        PageTooLong,
        /// How far it has come is not known.
        StateForgotten,
        /// How far another crawl has come is said of each.
        StateOfAnyCrawl,
        /// It is never over.
        NeverOver,
    }
}

/// Making documents again, with one defect.
#[derive(Clone, Debug)]
pub struct MutantRemaking<R, D> {
    inner: R,
    documents: D,
    mutation: RemakingMutation,
}

impl<R: Remaking, D: Documents> MutantRemaking<R, D> {
    /// Wraps what makes these documents again with this defect.
    #[must_use]
    pub const fn new(inner: R, documents: D, mutation: RemakingMutation) -> Self {
        Self { inner, documents, mutation }
    }

    async fn spoilt(&self, segment: &SegmentRow, visits: &[RemadeVisit]) -> PortResult<Vec<RemadeVisit>> {
        let mut visits = visits.to_vec();
        match self.mutation {
            M::NothingReplaced => visits.clear(),
            M::ChangeKept => visits.iter_mut().for_each(|visit| visit.change = Rewrite::Keep),
            M::ChangeErased => visits.iter_mut().filter(|visit| visit.change == Rewrite::Keep).for_each(|visit| {
                visit.change = Rewrite::With(None::<VisitChange>);
            }),
            M::RedirectKept => visits.iter_mut().for_each(|visit| visit.redirect = None),
            M::UrlIgnored => {
                let stored = self.documents.load(segment).await?.unwrap_or_default();
                for visit in &mut visits {
                    if let Some(stored) = stored.iter().find(|stored| stored.n == visit.document.n) {
                        visit.document.url = stored.url.clone();
                        visit.state = StateChange::Kept;
                    }
                }
            }
            _ => {}
        }
        Ok(visits)
    }
}

impl<R: Remaking, D: Documents> Remaking for MutantRemaking<R, D> {
    async fn load_remake(&self, crawl: &CrawlId) -> PortResult<Option<RemakeState>> {
        match self.mutation {
            M::StateForgotten => Ok(None),
            M::StateOfAnyCrawl => self.inner.load_remake(&crate::conformance::reader::crawl()).await,
            _ => self.inner.load_remake(crawl).await,
        }
    }

    async fn list_parsed(
        &self,
        origin: &OriginKey,
        after: Option<&SegmentId>,
        limit: usize,
    ) -> PortResult<Vec<SegmentRow>> {
        let after = after.filter(|_| self.mutation != M::FirstPageAgain);
        let limit = if self.mutation == M::PageTooLong { limit + 1 } else { limit };
        self.inner.list_parsed(origin, after, limit).await
    }

    async fn replace(&self, segment: &SegmentRow, visits: &[RemadeVisit], state: &RemakeState) -> PortResult<()> {
        let visits = self.spoilt(segment, visits).await?;
        self.inner.replace(segment, &visits, state).await
    }

    async fn end_remake(&self, crawl: &CrawlId) -> PortResult<()> {
        match self.mutation {
            M::NeverOver => Ok(()),
            _ => self.inner.end_remake(crawl).await,
        }
    }
}
