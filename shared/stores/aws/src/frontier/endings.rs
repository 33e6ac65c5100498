//! Endings of origins that nobody holds: another turn, a close, or a close with leftovers.

use dragline_domain::frontier::{
    ClosedWithLeftovers, Counts, IterationRow, Leftover, OriginKey, OriginRows, SettledRows, give_up as give_up_rows,
    settle_origin as settle_rows,
};
use dragline_domain::ids::Iteration;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Endings, GiveUp, SettleResult};

use super::DynamoFrontier;
use crate::dynamo::{Key, Role, Write, number, text};
use crate::errors::{StoreError, at};
use crate::meter::capacity::item_bytes;
use crate::rows::{self, counts, inbox, iteration, keys, lease};
use crate::tables::SORT;

pub(super) const REASON: &str = "reason";
pub(super) const COUNT: &str = "count";

/// The rows of an origin and its iteration when the decision was made.
struct Before<'o> {
    origin: &'o OriginKey,
    rows: OriginRows,
    iteration: IterationRow,
}

impl Endings for DynamoFrontier {
    async fn settle(&self, origin: &OriginKey, seen: &OriginRows) -> PortResult<SettleResult> {
        at("settle", origin, async {
            let Some(before) = self.before(origin, seen.lease.iteration).await? else {
                return Ok(SettleResult::Changed);
            };
            let (rows, row, settled) = match settle_rows(&before.rows, seen, &before.iteration) {
                None => return Ok(SettleResult::Changed),
                Some(SettledRows::Woken(rows)) => {
                    let settled = SettleResult::Woken(rows.lease.turn);
                    (rows, before.iteration.clone(), settled)
                }
                Some(SettledRows::Closed(rows, row)) => (rows, row, SettleResult::Closed),
                Some(SettledRows::ClosedWithLeftovers(closed)) => return self.close_with(&before, closed).await,
            };
            let written = self.db.transact(&self.replaced(&before, (&rows, &row), None)?).await?;
            Ok(if written.is_ok() { settled } else { SettleResult::Changed })
        })
        .await
    }

    async fn give_up(&self, request: &GiveUp) -> PortResult<SettleResult> {
        at("give up origin", &request.origin, async {
            let Some(before) = self.before(&request.origin, request.iteration).await? else {
                return Ok(SettleResult::Changed);
            };
            match give_up_rows(&before.rows, &request.seen, &before.iteration, request.reason, request.now) {
                None => Ok(SettleResult::Changed),
                Some(closed) => self.close_with(&before, closed).await,
            }
        })
        .await
    }
}

impl DynamoFrontier {
    async fn before<'o>(&self, origin: &'o OriginKey, number: Iteration) -> Result<Option<Before<'o>>, StoreError> {
        let mut rounds = self.db.rounds();
        loop {
            rounds.begin().await?;
            let Some(current) = self.current(origin, number).await? else { continue };
            let Some(rows) = current.rows.filter(|rows| rows.lease.iteration == number) else { return Ok(None) };
            let missing = || StoreError::Damaged("there is no such iteration".to_owned());
            return Ok(Some(Before { origin, rows, iteration: current.iteration.ok_or_else(missing)? }));
        }
    }

    async fn close_with(&self, before: &Before<'_>, closed: ClosedWithLeftovers) -> Result<SettleResult, StoreError> {
        let ClosedWithLeftovers { rows, iteration, leftover, chunk: _ } = closed;
        let writes = self.replaced(before, (&rows, &iteration), Some(&leftover))?;
        if self.db.transact(&writes).await?.is_err() {
            return Ok(SettleResult::Changed);
        }
        self.drop_chunks(before.origin, leftover.iteration).await?;
        Ok(SettleResult::ClosedWithLeftovers(leftover))
    }

    fn replaced(
        &self,
        before: &Before<'_>,
        (rows, row): (&OriginRows, &IterationRow),
        leftover: Option<&Leftover>,
    ) -> Result<Vec<Write>, StoreError> {
        let Before { origin, rows: was @ OriginRows { lease, inbox }, iteration } = before;
        let mut writes = vec![
            lease::replace(origin, Some(lease), &rows.lease, self.lease_grace)?,
            inbox::decided(origin, inbox, &rows.inbox),
        ];
        writes.extend(iteration::released(iteration, row));
        writes.extend(ending_writes(origin, was, rows, leftover));
        Ok(writes)
    }

    /// Deletes the todo that an origin has left in an iteration. This is not part of the
    /// transaction that closed the origin, as its size is unlimited. Todo that a crash leaves
    /// behind is never taken, as the lease records why it ended.
    pub(super) async fn drop_chunks(&self, origin: &OriginKey, number: Iteration) -> Result<(), StoreError> {
        let chunks = self.db.all(keys::chunks(origin, number)).await?;
        let keys = chunks.iter().map(|item| {
            let Key { table, partition, .. } = keys::lease(origin);
            let sort = rows::fields(item)?.text(SORT)?.to_owned();
            Ok((Key { table, partition, sort }, item_bytes(item)))
        });
        self.db.delete_all(&keys.collect::<Result<Vec<_>, StoreError>>()?).await
    }
}

/// Returns the writes of an ending besides the rows of its origin: the leftovers, and the counts of
/// both rows.
pub(super) fn ending_writes(
    origin: &OriginKey,
    before: &OriginRows,
    after: &OriginRows,
    leftover: Option<&Leftover>,
) -> impl Iterator<Item = Write> {
    let mut more = Counts::from_change(Some(before), after);
    if let Some(leftover) = leftover {
        more.add(&Counts::from_leftover(leftover));
    }
    let counted = counts::add(origin, after.lease.iteration, &more);
    leftover.map(|leftover| put_leftover(origin, leftover)).into_iter().chain(counted)
}

fn put_leftover(origin: &OriginKey, leftover: &Leftover) -> Write {
    let key = keys::leftover(origin, leftover);
    let item = rows::row(&key, [(REASON, text(leftover.reason.name())), (COUNT, number(leftover.count))]);
    Write::put(Role::Leftover, &key, item).if_absent()
}
