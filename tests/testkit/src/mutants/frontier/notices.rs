//! Defects of notices.

use dragline_domain::ids::CrawlId;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Fact, Frontier, NoticeKept, NoticeKey, NoticeState, OwedNotice, OwedNotices};
use jiff::Timestamp;

use super::super::FrontierMutation as M;
use super::{MutantFrontier, far_ahead};

impl<F: Frontier> OwedNotices for MutantFrontier<F> {
    async fn owe_notice(&self, owed: &OwedNotice) -> PortResult<NoticeKept> {
        match self.mutation {
            Some(M::NoticeForgotten) => Ok(NoticeKept::Kept),
            Some(M::NoticesPileUp) => {
                let key = NoticeKey::stored(format!("{}#{}", owed.key, self.fresh()));
                self.inner.owe_notice(&OwedNotice { key, ..owed.clone() }).await
            }
            _ => self.inner.owe_notice(owed).await,
        }
    }

    async fn owed_notices(&self, due_by: Timestamp, limit: usize) -> PortResult<Vec<OwedNotice>> {
        let due_by = if self.is(M::NoticesDueTooEarly) { far_ahead(due_by) } else { due_by };
        self.inner.owed_notices(due_by, limit).await
    }

    async fn postpone_notice(&self, owed: &OwedNotice, due: Timestamp) -> PortResult<()> {
        match self.mutation {
            Some(M::NoticePostponeForgotten) => Ok(()),
            Some(M::ToldNoticeComesBack) => self.inner.owe_notice(&OwedNotice { due, ..owed.clone() }).await.map(drop),
            _ => self.inner.postpone_notice(owed, due).await,
        }
    }

    async fn mark_told(&self, crawl: &CrawlId, fact: &Fact, now: Timestamp) -> PortResult<NoticeState> {
        match self.mutation {
            Some(M::ToldAgain) => Ok(NoticeState::Now),
            Some(M::ToldOfAnyCrawl) => self.inner.mark_told(&CrawlId::default(), fact, now).await,
            _ => self.inner.mark_told(crawl, fact, now).await,
        }
    }

    async fn forget_notice(&self, owed: &OwedNotice) -> PortResult<()> {
        if self.is(M::ToldNoticeStays) { Ok(()) } else { self.inner.forget_notice(owed).await }
    }
}
