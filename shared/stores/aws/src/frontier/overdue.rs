//! Work that looks overdue.

use std::collections::HashSet;

use dragline_domain::frontier::{OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Overdue, OverdueKinds, OverdueWork};
use futures_util::future::{try_join, try_join_all};
use jiff::Timestamp;

use super::DynamoFrontier;
use crate::dynamo::{Expression, Fields, IndexWrites, Item, Key, Role, Write, instant};
use crate::errors::{StoreError, at};
use crate::meter::capacity::ReadKind;
use crate::rows::keys::{self, OwedRow};
use crate::rows::{self, Owed, SHARDS, lease};
use crate::tables::{DUE, ITERATION, Index, PARTITION, SORT};

/// Work, and when it was due.
type Due = (Timestamp, Overdue);

impl OverdueWork for DynamoFrontier {
    /// Lists work that is due by `due_by`, the longest overdue first. Origins and segments have
    /// separate limits.
    async fn overdue(
        &self,
        crawl: &CrawlId,
        due_by: Timestamp,
        kinds: OverdueKinds,
        limit: usize,
    ) -> PortResult<Vec<Overdue>> {
        at("list overdue work", crawl, async {
            let of = |owed| self.load_due(crawl, owed, due_by, kinds, limit);
            let (origins, segments) = try_join(of(Owed::Turn), of(Owed::Parse)).await?;
            let mut found = [origins, segments].concat();
            if let Some(row) = self.latest(crawl).await?
                && let Some(due) = row.due.filter(|due| *due <= due_by)
            {
                found.push((due, Overdue::Token(crawl.clone(), row.number)));
            }
            found.sort_by_key(|(due, _)| *due);
            Ok(found.into_iter().map(|(_, overdue)| overdue).collect())
        })
        .await
    }

    /// Postpones work that is still owed. Refused: nothing is owed any more, or not before then.
    async fn postpone(&self, work: &Overdue, due: Timestamp) -> PortResult<()> {
        at("postpone overdue work", format!("{work:?}"), async {
            let indexed = |owed, origin, key| {
                let update = Expression::new(format!("SET {}", rows::SET_DUE));
                let update = rows::due_values(owed, origin, due)
                    .into_iter()
                    .fold(update, |u, (name, value)| u.with(name, value));
                Write::update(Role::Other, &key, update, &Item::new()).indexed(IndexWrites::Move)
            };
            let write = match work {
                Overdue::Lease(origin) => indexed(Owed::Turn, origin, keys::lease(origin)),
                Overdue::Inbox(origin) => indexed(Owed::Turn, origin, keys::inbox(origin)),
                Overdue::Segment(segment, _) => indexed(Owed::Parse, &segment.origin, keys::segment(segment)),
                Overdue::Token(crawl, number) => {
                    let update = Expression::new("SET #due = :due").with(":due", instant(due));
                    Write::update(Role::Other, &keys::iteration(crawl, *number), update, &Item::new())
                }
            };
            let earlier = Expression::new("#due < :until").with(":until", instant(due));
            self.db.write(&write.when(earlier)).await.map(|_| ())
        })
        .await
    }
}

impl DynamoFrontier {
    async fn load_due(
        &self,
        crawl: &CrawlId,
        owed: Owed,
        due_by: Timestamp,
        kinds: OverdueKinds,
        limit: usize,
    ) -> Result<Vec<Due>, StoreError> {
        let shards = (0..SHARDS).map(|shard| rows::shard_name(crawl.as_str(), owed, shard));
        let shards = shards.map(|shard| self.due_in_shard(shard, due_by, kinds, limit));
        let mut found: Vec<Due> = try_join_all(shards).await?.into_iter().flatten().collect();
        found.sort_by_key(|(due, _)| *due);
        found.truncate(limit);
        Ok(found)
    }

    async fn due_in_shard(
        &self,
        shard: String,
        due_by: Timestamp,
        kinds: OverdueKinds,
        limit: usize,
    ) -> Result<Vec<Due>, StoreError> {
        let (mut found, mut start) = (Vec::new(), None);
        loop {
            let (items, next) = self.db.indexed(Index::OVERDUE, &shard, due_by, limit, start).await?;
            let mut entries = items.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
            entries.retain(|entry| kinds == OverdueKinds::All || entry.row != OwedRow::Lease);
            found.extend(self.filter_due(entries, due_by).await?);
            start = next;
            if found.len() >= limit || start.is_none() {
                return Ok(found);
            }
        }
    }

    /// Filters the work that is really due: the index lists it up to five minutes early. A ready or
    /// held origin is covered by its lease, so its inbox waits.
    async fn filter_due(&self, entries: Vec<Entry>, due_by: Timestamp) -> Result<Vec<Due>, StoreError> {
        let leases = entries.iter().filter(|entry| entry.row == OwedRow::Inbox).map(|entry| keys::lease(&entry.origin));
        let wanted: HashSet<Key> = entries.iter().map(Entry::key).chain(leases).collect();
        let found = self.db.get_all(wanted.into_iter().collect(), ReadKind::Eventual).await?;
        let mut due = Vec::new();
        for entry in entries {
            let Some(row) = found.get(&entry.key()).map(Fields) else { continue };
            let Some(at) = row.maybe_instant(DUE)?.filter(|at| *at <= due_by) else { continue };
            let is_idle = || found.get(&keys::lease(&entry.origin)).is_some_and(lease::is_idle);
            if entry.row == OwedRow::Inbox && !is_idle() {
                continue;
            }
            due.push((at, entry.work(rows::iteration_number(row, ITERATION)?)));
        }
        Ok(due)
    }
}

/// An entry of the index.
struct Entry {
    origin: OriginKey,
    row: OwedRow,
}

impl Entry {
    /// Returns the key of the row that it refers to.
    fn key(&self) -> Key {
        match self.row {
            OwedRow::Lease => keys::lease(&self.origin),
            OwedRow::Inbox => keys::inbox(&self.origin),
            OwedRow::Segment { turn, n } => keys::segment(&SegmentId { origin: self.origin.clone(), turn, n }),
        }
    }

    fn work(self, iteration: Iteration) -> Overdue {
        match self.row {
            OwedRow::Lease => Overdue::Lease(self.origin),
            OwedRow::Inbox => Overdue::Inbox(self.origin),
            OwedRow::Segment { turn, n } => Overdue::Segment(SegmentId { origin: self.origin, turn, n }, iteration),
        }
    }
}

fn entry(item: &Item) -> Result<Entry, StoreError> {
    let fields = Fields(item);
    Ok(Entry { origin: keys::parse_origin(fields.text(PARTITION)?)?, row: keys::owed(fields.text(SORT)?)? })
}
