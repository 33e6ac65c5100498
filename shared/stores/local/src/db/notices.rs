//! Rows of `notice`: what people have not been told yet.

use dragline_domain::ids::CrawlId;
use dragline_ports::frontier::{Fact, NoticeKept, NoticeKey, NoticeState, OwedNotice};
use dragline_ports::notifier::Notice;
use jiff::Timestamp;
use rusqlite::params;

use super::values::{Json, Time};
use super::{Db, StoreError};

impl Db {
    pub(crate) fn owe_notice(&self, owed: &OwedNotice) -> Result<NoticeKept, StoreError> {
        let crawl = self.ensure_crawl(owed.crawl())?;
        let sql = "SELECT notice FROM notice WHERE crawl_id = ?1 AND key = ?2";
        let kept: Option<Json<Notice>> = self.find(sql, params![crawl, owed.key.as_str()], |row| row.get(0))?;
        if let Some(Json(kept)) = kept {
            return Ok(if kept == owed.notice { NoticeKept::Kept } else { NoticeKept::Crowded });
        }
        let sql = "INSERT INTO notice (crawl_id, key, notice, since, due) VALUES (?1, ?2, ?3, ?4, ?5)";
        let notice = Json(&owed.notice);
        self.execute(sql, params![crawl, owed.key.as_str(), notice, Time(owed.since), Time(owed.due)])?;
        Ok(NoticeKept::Kept)
    }

    pub(crate) fn owed_notices(&self, due_by: Timestamp, limit: usize) -> Result<Vec<OwedNotice>, StoreError> {
        let sql = "SELECT key, notice, since, due FROM notice WHERE due <= ?1 ORDER BY due LIMIT ?2";
        self.all(sql, params![Time(due_by), limit], |row| {
            let (Json(notice), Time(since), Time(due)) = (row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(OwedNotice { key: NoticeKey::from_stored(row.get(0)?), notice, since, due })
        })
    }

    pub(crate) fn postpone_notice(&self, owed: &OwedNotice, due: Timestamp) -> Result<(), StoreError> {
        let Some(crawl) = self.crawl_id(owed.crawl())? else { return Ok(()) };
        let sql = "UPDATE notice SET due = ?3 WHERE crawl_id = ?1 AND key = ?2 AND due < ?3";
        self.execute(sql, params![crawl, owed.key.as_str(), Time(due)])?;
        Ok(())
    }

    pub(crate) fn mark_told(&self, crawl: &CrawlId, fact: &Fact, now: Timestamp) -> Result<NoticeState, StoreError> {
        let crawl = self.ensure_crawl(crawl)?;
        let sql = "INSERT OR IGNORE INTO told (crawl_id, fact, at) VALUES (?1, ?2, ?3)";
        let marked = self.execute(sql, params![crawl, fact.as_str(), Time(now)])?;
        Ok(if marked > 0 { NoticeState::Now } else { NoticeState::Before })
    }

    pub(crate) fn forget_notice(&self, owed: &OwedNotice) -> Result<(), StoreError> {
        let Some(crawl) = self.crawl_id(owed.crawl())? else { return Ok(()) };
        self.execute("DELETE FROM notice WHERE crawl_id = ?1 AND key = ?2", params![crawl, owed.key.as_str()])?;
        Ok(())
    }
}
