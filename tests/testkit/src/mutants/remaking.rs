//! Making documents again, with one defect each.

use dragline_domain::change::VisitChange;
use dragline_domain::frontier::{OriginKey, SegmentId, SegmentRow, StateChange};
use dragline_domain::ids::CrawlId;
use dragline_domain::remake::{Recount, RemadeVisit, RemakeJob, RemakeState, Rewrite};
use dragline_ports::documents::Documents;
use dragline_ports::error::PortResult;
use dragline_ports::remaking::{RemakeBegun, Remaking, Replaced, Replacement};

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
        /// What the last try of a segment counts is returned.
        CountedLast,
        /// Documents are replaced by a job whose place another took.
        OthersOvertaken,
        /// An iteration that is open is not seen.
        OpenNotSeen,
        /// Counters stay as they were.
        NotRecounted,
        /// When a URL changed is not looked for where its last visit changed nothing.
        LastChangeIgnored,
        /// What is made of a document that is gone replaces another.
        GonePutElsewhere,
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
            M::NotRecounted => visits.iter_mut().for_each(|visit| visit.recount = Recount::default()),
            M::LastChangeIgnored => {
                for visit in &mut visits {
                    if let StateChange::Shown { changed_at, .. } = &mut visit.state {
                        *changed_at = changed_at.or(visit.document.body.as_ref().map(|body| body.at));
                    }
                }
            }
            M::GonePutElsewhere => {
                let stored = self.documents.load(segment).await?.unwrap_or_default();
                for visit in &mut visits {
                    let is_there = stored.iter().any(|stored| stored.url == visit.document.url);
                    if let (false, Some(other)) = (is_there, stored.first()) {
                        (visit.document.n, visit.document.url) = (other.n, other.url.clone());
                    }
                }
            }
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
    async fn begin_remake(&self, crawl: &CrawlId, job: &RemakeJob) -> PortResult<RemakeBegun> {
        match self.mutation {
            M::StateForgotten => {
                self.inner.begin_remake(crawl, job).await?;
                Ok(RemakeBegun::From(RemakeState::begin(job.clone())))
            }
            M::StateOfAnyCrawl => self.inner.begin_remake(&crate::conformance::reader::crawl(), job).await,
            M::OpenNotSeen => match self.inner.begin_remake(crawl, job).await? {
                RemakeBegun::Busy(_) => Ok(RemakeBegun::From(RemakeState::begin(job.clone()))),
                begun => Ok(begun),
            },
            _ => self.inner.begin_remake(crawl, job).await,
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

    async fn replace(&self, replacement: Replacement<'_>) -> PortResult<Replaced> {
        let Replacement { segment, state, .. } = replacement;
        let visits = &self.spoilt(segment, replacement.visits).await?;
        if self.mutation == M::OthersOvertaken {
            self.inner.begin_remake(&segment.id.origin.crawl, &state.job).await?;
        }
        let replaced = self.inner.replace(Replacement { visits, ..replacement }).await?;
        Ok(match (self.mutation, replaced) {
            (M::CountedLast, Replaced::Done(_)) | (M::OpenNotSeen, Replaced::Busy(_)) => Replaced::Done(state.done),
            (_, replaced) => replaced,
        })
    }

    async fn end_remake(&self, crawl: &CrawlId, job: &RemakeJob) -> PortResult<()> {
        match self.mutation {
            M::NeverOver => Ok(()),
            _ => self.inner.end_remake(crawl, job).await,
        }
    }
}
