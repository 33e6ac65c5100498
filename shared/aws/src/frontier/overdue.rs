//! Lists: of origins, and of work that looks overdue.

use dragline_domain::frontier::{OriginKey, SegmentId};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::Origin;
use dragline_pipeline::ports::frontier::Overdue;
use futures_util::future::try_join_all;
use jiff::Timestamp;

use super::DynamoFrontier;
use crate::dynamo::{Expression, Fields, IndexWrites, Item, Role, Write, instant};
use crate::errors::StoreError;
use crate::meter::capacity::ReadKind;
use crate::rows::keys::{self, OwedRow};
use crate::rows::{self, SHARDS, lease};
use crate::tables::{DUE, ITERATION, Index, PARTITION, SORT};

/// Work, and when it was due.
type Due = (Timestamp, Overdue);

impl DynamoFrontier {
    pub(super) async fn origins(
        &self,
        crawl: &CrawlId,
        after: Option<&Origin>,
        limit: usize,
    ) -> Result<Vec<Origin>, StoreError> {
        let mut range = keys::listed_after(crawl, after);
        let mut origins = Vec::new();
        while origins.len() < limit {
            let page = self.db.first(&range, limit - origins.len(), ReadKind::Consistent).await?;
            for item in &page.items {
                origins.push(keys::origin_listed(Fields(item).text(SORT)?)?);
            }
            let Some(next) = page.next else { break };
            range.after = Some(next);
        }
        Ok(origins)
    }

    /// What is due by then, the longest overdue first.
    pub(super) async fn due_by(
        &self,
        crawl: &CrawlId,
        due_by: Timestamp,
        limit: usize,
    ) -> Result<Vec<Overdue>, StoreError> {
        let shards = (0..SHARDS).map(|shard| self.due_in_shard(crawl, shard, due_by, limit));
        let mut found: Vec<Due> = try_join_all(shards).await?.into_iter().flatten().collect();
        if let Some(row) = self.latest(crawl).await?
            && let Some(due) = row.due.filter(|due| *due <= due_by)
        {
            found.push((due, Overdue::Token(crawl.clone(), row.number)));
        }
        found.sort_by_key(|(due, _)| *due);
        found.truncate(limit);
        Ok(found.into_iter().map(|(_, overdue)| overdue).collect())
    }

    async fn due_in_shard(
        &self,
        crawl: &CrawlId,
        shard: u8,
        due_by: Timestamp,
        limit: usize,
    ) -> Result<Vec<Due>, StoreError> {
        let shard = rows::shard_name(crawl.as_str(), shard);
        let (mut found, mut start) = (Vec::new(), None);
        loop {
            let (items, next) = self.db.indexed(Index::OVERDUE, &shard, due_by, limit, start).await?;
            let entries = items.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
            found.extend(self.without_held(entries).await?);
            start = next;
            if found.len() >= limit || start.is_none() {
                return Ok(found);
            }
        }
    }

    /// An origin that is ready or held is looked after by its lease: its inbox waits.
    async fn without_held(&self, entries: Vec<Due>) -> Result<Vec<Due>, StoreError> {
        let leases = entries.iter().filter_map(|(_, work)| match work {
            Overdue::Inbox(origin) => Some(keys::lease(origin)),
            Overdue::Lease(_) | Overdue::Segment(..) | Overdue::Token(..) => None,
        });
        let leases = self.db.get_all(leases.collect(), ReadKind::Eventual).await?;
        let is_kept = |(_, work): &Due| match work {
            Overdue::Inbox(origin) => leases.get(&keys::lease(origin)).is_some_and(lease::is_idle),
            Overdue::Lease(_) | Overdue::Segment(..) | Overdue::Token(..) => true,
        };
        Ok(entries.into_iter().filter(is_kept).collect())
    }

    /// Moves the time at which work that is still owed is due. Refused: nothing is owed any more, or not before then.
    pub(super) async fn postpone_to(&self, work: &Overdue, due: Timestamp) -> Result<(), StoreError> {
        let (key, index) = match work {
            Overdue::Lease(origin) => (keys::lease(origin), IndexWrites::Move),
            Overdue::Inbox(origin) => (keys::inbox(origin), IndexWrites::Move),
            Overdue::Segment(segment, _) => (keys::segment(segment), IndexWrites::Move),
            Overdue::Token(crawl, number) => (keys::iteration(crawl, *number), IndexWrites::None),
        };
        let update = Expression::new("SET #due = :due").with(":due", instant(due));
        let earlier = Expression::new("#due < :until").with(":until", instant(due));
        let write = Write::update(Role::Other, &key, update, &Item::new()).when(earlier).indexed(index);
        self.db.write(&write).await.map(|_| ())
    }
}

/// What an item of the index stands for.
fn entry(item: &Item) -> Result<Due, StoreError> {
    let fields = Fields(item);
    let origin: OriginKey = keys::origin_of(fields.text(PARTITION)?)?;
    let work = match keys::owed(fields.text(SORT)?)? {
        OwedRow::Lease => Overdue::Lease(origin),
        OwedRow::Inbox => Overdue::Inbox(origin),
        OwedRow::Segment { turn, n } => {
            Overdue::Segment(SegmentId { origin, turn, n }, rows::iteration_number(fields, ITERATION)?)
        }
    };
    Ok((fields.instant(DUE)?, work))
}
