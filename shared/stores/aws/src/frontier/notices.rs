//! Notices that people have not been told yet.

use dragline_domain::ids::CrawlId;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Fact, NoticeKept, NoticeKey, NoticeState, OwedNotice, OwedNotices};
use jiff::Timestamp;

use super::DynamoFrontier;
use crate::dynamo::{Expression, Fields, IndexWrites, Item, Key, Role, Write, instant, json};
use crate::errors::{StoreError, at};
use crate::meter::capacity::ReadKind;
use crate::rows::{self, keys};
use crate::tables::{AGENDA_AT, Index, PARTITION, SORT};

const NOTICE: &str = "notice";
const SINCE: &str = "since";

impl OwedNotices for DynamoFrontier {
    async fn owe_notice(&self, owed: &OwedNotice) -> PortResult<NoticeKept> {
        at("owe notice", &owed.key, async {
            match self.db.write(&put(owed)?.if_absent()).await? {
                Ok(_) => Ok(NoticeKept::Kept),
                Err(refused) => {
                    let kept = refused.row(Role::Other).map(read).transpose()?;
                    let is_same = kept.is_none_or(|kept| kept.notice == owed.notice);
                    Ok(if is_same { NoticeKept::Kept } else { NoticeKept::Crowded })
                }
            }
        })
        .await
    }

    async fn owed_notices(&self, due_by: Timestamp, limit: usize) -> PortResult<Vec<OwedNotice>> {
        at("list owed notices", due_by, async {
            let (mut found, mut start) = (Vec::new(), None);
            loop {
                let (items, next) =
                    self.db.indexed(Index::AGENDA, rows::OWED_NOTICES, due_by, limit - found.len(), start).await?;
                found.extend(self.really_owed(&items).await?.into_iter().filter(|owed| owed.due <= due_by));
                start = next;
                if found.len() >= limit || start.is_none() {
                    found.sort_by_key(|owed| owed.due);
                    return Ok(found);
                }
            }
        })
        .await
    }

    async fn postpone_notice(&self, owed: &OwedNotice, due: Timestamp) -> PortResult<()> {
        at("postpone notice", &owed.key, async {
            let update = Expression::new("SET #agenda_at = :due").with(":due", instant(due));
            let earlier = Expression::new("#agenda_at < :until").with(":until", instant(due));
            let write = Write::update(Role::Other, &notice_key(owed), update, &Item::new()).when(earlier);
            // Refused: it is no longer owed, or not before then.
            self.db.write(&write.indexed(IndexWrites::Move)).await.map(|_| ())
        })
        .await
    }

    async fn mark_told(&self, crawl: &CrawlId, fact: &Fact, now: Timestamp) -> PortResult<NoticeState> {
        at("mark told", fact, async {
            let key = keys::told_mark(crawl, fact);
            let mark = Write::put(Role::Other, &key, rows::row(&key, [(SINCE, instant(now))]));
            Ok(if self.db.write(&mark.if_absent()).await?.is_ok() { NoticeState::Now } else { NoticeState::Before })
        })
        .await
    }

    async fn forget_notice(&self, owed: &OwedNotice) -> PortResult<()> {
        at("forget notice", &owed.key, async {
            let write = Write::delete(Role::Other, &notice_key(owed), 1).indexed(IndexWrites::One);
            self.db.write(&write).await.map(|_| ())
        })
        .await
    }
}

impl DynamoFrontier {
    /// Loads the owed notices: the index lags and holds only keys, so the rows decide.
    async fn really_owed(&self, entries: &[Item]) -> Result<Vec<OwedNotice>, StoreError> {
        let key = |item: &Item| {
            let fields = Fields(item);
            let crawl = fields.parsed(PARTITION)?;
            Ok(Key { sort: fields.text(SORT)?.to_owned(), ..keys::crawl(&crawl) })
        };
        let wanted = entries.iter().map(key).collect::<Result<Vec<Key>, StoreError>>()?;
        let found = self.db.get_all(wanted, ReadKind::Consistent).await?;
        found.values().map(read).collect()
    }
}

fn notice_key(owed: &OwedNotice) -> Key {
    keys::notice(owed.crawl(), owed.key.as_str())
}

/// Puts a notice, replacing any with the same key.
pub(super) fn put(owed: &OwedNotice) -> Result<Write, StoreError> {
    let key = notice_key(owed);
    let [agenda, at] = rows::agenda(rows::OWED_NOTICES, owed.due);
    let attributes = [(NOTICE, json(&owed.notice)?), (SINCE, instant(owed.since)), agenda, at];
    Ok(Write::put(Role::Other, &key, rows::row(&key, attributes)).indexed(IndexWrites::One))
}

fn read(item: &Item) -> Result<OwedNotice, StoreError> {
    let fields = rows::fields(item)?;
    Ok(OwedNotice {
        key: NoticeKey::from_stored(keys::notice_key(fields.text(SORT)?)?),
        notice: fields.json(NOTICE)?,
        since: fields.instant(SINCE)?,
        due: fields.instant(AGENDA_AT)?,
    })
}
