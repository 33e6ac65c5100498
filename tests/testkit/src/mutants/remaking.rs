//! Making documents again, with one defect each.

use dragline_domain::frontier::{OriginKey, SegmentId, SegmentRow, StateChange};
use dragline_domain::ids::CrawlId;
use dragline_domain::remake::{Recount, RemadeVisit, RemakeJob, RemakeState, Rewrite};
use dragline_ports::documents::Documents;
use dragline_ports::error::PortResult;
use dragline_ports::remaking::{RemakeBegun, Remaking, ReplaceResult, Replacement};

use super::{Mutant, mutants, spoil_each};

impl<R: Remaking, D: Documents> Mutant<(R, D), RemakingMutation> {
    /// Replaces documents by spoiled ones.
    async fn replace_by(
        &self,
        asked: Replacement<'_>,
        spoil: impl FnMut(&mut RemadeVisit),
    ) -> PortResult<ReplaceResult> {
        let visits = &spoil_each(asked.visits, spoil);
        self.inner.0.replace(Replacement { visits, ..asked }).await
    }
}

mutants! {
    /// What is wrong with making documents again.
    RemakingMutation, for (R, D), |this| this.inner.0;
    Remaking<R: Remaking, D: Documents> {
        fn begin_remake(crawl: &CrawlId, job: &RemakeJob) -> RemakeBegun;
            also OpenNotSeen but |begun| if let RemakeBegun::Busy(_) = begun {
                begun = RemakeBegun::From(RemakeState::begin(job.clone()));
            };
            - StateForgotten: "how far it has come is not known" => {
                this.inner.0.begin_remake(crawl, job).await?;
                Ok(RemakeBegun::From(RemakeState::begin(job.clone())))
            };
            - StateOfAnyCrawl: "how far another crawl has come is said of each"
                { let crawl = &crate::conformance::reader::crawl(); };
        fn list_parsed(origin: &OriginKey, after: Option<&SegmentId>, limit: usize) -> Vec<SegmentRow>;
            - FirstPageAgain: "each page of segments is the first" { let after = None; };
            - PageTooLong: "a page has more segments than were asked for" { let limit = limit + 1; };
        fn replace(asked: Replacement<'_>) -> ReplaceResult;
            - NothingReplaced: "nothing is replaced" { let asked = Replacement { visits: &[], ..asked }; };
            - ChangeKept: "what a visit changed stays as it was"
                => this.replace_by(asked, |visit| visit.change = Rewrite::Keep).await;
            - ChangeErased: "what is not decided again is erased from the log"
                => this.replace_by(asked, |visit| {
                    if visit.change == Rewrite::Keep { visit.change = Rewrite::With(None) }
                }).await;
            - RedirectKept: "where a visit leads is not written"
                => this.replace_by(asked, |visit| visit.redirect = None).await;
            - UrlIgnored: "what is made of one URL replaces the document of another" => {
                let stored = this.inner.1.load(asked.segment).await?.unwrap_or_default();
                this.replace_by(asked, |visit| {
                    if let Some(stored) = stored.iter().find(|stored| stored.n == visit.document.n) {
                        (visit.document.url, visit.state) = (stored.url.clone(), StateChange::Kept);
                    }
                }).await
            };
            - GonePutElsewhere: "what is made of a document that is gone replaces another" => {
                let stored = this.inner.1.load(asked.segment).await?.unwrap_or_default();
                this.replace_by(asked, |visit| {
                    let is_there = stored.iter().any(|stored| stored.url == visit.document.url);
                    if let (false, Some(other)) = (is_there, stored.first()) {
                        (visit.document.n, visit.document.url) = (other.n, other.url.clone());
                    }
                }).await
            };
            - CountedLast: "what the last try of a segment counts is returned"
                but |replaced| if let ReplaceResult::Done(done) = &mut replaced { *done = asked.state.done };
            - OthersOvertaken: "documents are replaced by a job whose place another took"
                { this.inner.0.begin_remake(&asked.segment.id.origin.crawl, &asked.state.job).await?; };
            - OpenNotSeen: "an iteration that is open is not seen" but |replaced| if let ReplaceResult::Busy(_) = replaced {
                replaced = ReplaceResult::Done(asked.state.done);
            };
            - NotRecounted: "counters stay as they were"
                => this.replace_by(asked, |visit| visit.recount = Recount::default()).await;
            - LastChangeIgnored: "when a URL changed is not looked for where its last visit changed nothing"
                => this.replace_by(asked, |visit| {
                    if let StateChange::Shown { changed_at, .. } = &mut visit.state {
                        *changed_at = changed_at.or(visit.document.body.as_ref().map(|body| body.at));
                    }
                }).await;
        fn end_remake(crawl: &CrawlId, job: &RemakeJob) -> ();
            - NeverOver: "it is never over" => Ok(());
    }
}
