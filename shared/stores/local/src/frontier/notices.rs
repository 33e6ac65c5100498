//! Notices that people have not been told yet.

use dragline_domain::ids::CrawlId;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Fact, NoticeKept, NoticeState, OwedNotice, OwedNotices};
use jiff::Timestamp;

use super::SqliteFrontier;

impl OwedNotices for SqliteFrontier {
    async fn owe_notice(&self, owed: &OwedNotice) -> PortResult<NoticeKept> {
        let notice = owed.clone();
        self.run("owe notice", &owed.key, move |db| db.owe_notice(&notice)).await
    }

    async fn owed_notices(&self, due_by: Timestamp, limit: usize) -> PortResult<Vec<OwedNotice>> {
        self.run("list owed notices", &due_by, move |db| db.owed_notices(due_by, limit)).await
    }

    async fn postpone_notice(&self, owed: &OwedNotice, due: Timestamp) -> PortResult<()> {
        let notice = owed.clone();
        self.run("postpone notice", &owed.key, move |db| db.postpone_notice(&notice, due)).await
    }

    async fn mark_told(&self, crawl: &CrawlId, fact: &Fact, now: Timestamp) -> PortResult<NoticeState> {
        let (of, told) = (crawl.clone(), fact.clone());
        self.run("mark told", fact, move |db| db.mark_told(&of, &told, now)).await
    }

    async fn forget_notice(&self, owed: &OwedNotice) -> PortResult<()> {
        let notice = owed.clone();
        self.run("forget notice", &owed.key, move |db| db.forget_notice(&notice)).await
    }
}
