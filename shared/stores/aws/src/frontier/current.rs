//! Current rows for decisions: read consistently, and checked again by every write that is based on
//! them.

use std::collections::BTreeSet;

use dragline_domain::frontier::{IterationRow, LeaseState, OriginKey, OriginRows, RowsByOrigin};
use dragline_domain::ids::Iteration;

use super::DynamoFrontier;
use crate::dynamo::{Item, Key, Role, Write};
use crate::errors::StoreError;
use crate::meter::capacity::ReadKind;
use crate::rows::{self, inbox, iteration, keys, lease};

/// The rows of an origin and its iteration.
pub(super) struct Current {
    pub(super) rows: Option<OriginRows>,
    pub(super) iteration: Option<IterationRow>,
}

impl DynamoFrontier {
    /// Reads the rows of one origin and an iteration in one request. `None` if another operation
    /// came between their reads: read again.
    pub(super) async fn current(&self, origin: &OriginKey, number: Iteration) -> Result<Option<Current>, StoreError> {
        let [lease, inbox, row] = [keys::lease(origin), keys::inbox(origin), keys::iteration(&origin.crawl, number)];
        let wanted = vec![lease.clone(), inbox.clone(), row.clone()];
        let found = self.db.get_all(wanted, ReadKind::Consistent).await?;
        let PairedRows::AtRest(rows) = pair(found.get(&lease), found.get(&inbox))? else { return Ok(None) };
        let iteration = found.get(&row).map(iteration::read).transpose()?;
        Ok(Some(Current { rows, iteration }))
    }

    /// Reads the existing rows of several origins, together with another item. `None` as above.
    pub(super) async fn read_current(
        &self,
        origins: BTreeSet<&OriginKey>,
        beside: [&Key; 2],
    ) -> Result<Option<(RowsByOrigin, [Option<Item>; 2])>, StoreError> {
        let of_origins = origins.iter().flat_map(|origin| [keys::lease(origin), keys::inbox(origin)]);
        let wanted = of_origins.chain(beside.into_iter().cloned()).collect();
        let mut found = self.db.get_all(wanted, ReadKind::Consistent).await?;
        let mut by_origin = RowsByOrigin::new();
        for origin in origins {
            match pair(found.get(&keys::lease(origin)), found.get(&keys::inbox(origin)))? {
                PairedRows::AtRest(Some(rows)) => drop(by_origin.insert(origin.clone(), rows)),
                PairedRows::AtRest(None) => {}
                PairedRows::Moving => return Ok(None),
            }
        }
        Ok(Some((by_origin, beside.map(|key| found.remove(key)))))
    }

    /// Adds an origin that is about to open to the crawl's list.
    pub(super) async fn list(&self, origin: &OriginKey) -> Result<(), StoreError> {
        let key = keys::listed(origin);
        self.db.write(&Write::put(Role::Other, &key, rows::row(&key, []))).await.map(|_| ())
    }
}

/// Two rows that are written together when an origin opens or closes.
#[expect(clippy::large_enum_variant, reason = "none is kept: each is taken apart where it was made")]
pub(super) enum PairedRows {
    /// Both are from one moment, or neither exists.
    AtRest(Option<OriginRows>),
    /// It opened or closed between their reads.
    Moving,
}

pub(super) fn pair(lease: Option<&Item>, inbox: Option<&Item>) -> Result<PairedRows, StoreError> {
    let (Some(lease), Some(inbox)) = (lease, inbox) else {
        let is_at_rest = lease.is_none() && inbox.is_none();
        return Ok(if is_at_rest { PairedRows::AtRest(None) } else { PairedRows::Moving });
    };
    let rows = OriginRows { lease: lease::read(lease)?, inbox: inbox::read(inbox)? };
    let agree =
        rows.inbox.open == (rows.lease.state != LeaseState::Closed) && rows.inbox.iteration == rows.lease.iteration;
    Ok(if agree { PairedRows::AtRest(Some(rows)) } else { PairedRows::Moving })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dragline_domain::frontier::{Inbox, Lease};
    use dragline_domain::politeness::Pace;
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn rows_read_while_an_origin_opens_or_closes_are_read_again() {
        let origin = OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() };
        let pace = Pace::new(Duration::from_secs(1));
        let lease = |number| Lease::opened(None, number, pace, Timestamp::UNIX_EPOCH);
        let closed = Lease { state: LeaseState::Closed, ..lease(Iteration::FIRST) };
        let lease_item = |lease: &Lease| lease::item(&origin, lease, Duration::ZERO).unwrap();
        let inbox_item = |number, open| inbox::item(&origin, &Inbox { open, ..Inbox::new(number) });
        let (first, next) = (Iteration::FIRST, Iteration::FIRST.next());
        for (lease, inbox, at_rest, why) in [
            (None, None, Some(false), "never opened"),
            (Some(lease_item(&lease(first))), Some(inbox_item(first, true)), Some(true), "open"),
            (Some(lease_item(&closed)), Some(inbox_item(first, false)), Some(true), "closed"),
            (Some(lease_item(&lease(first))), None, None, "it opened for the first time after the inbox was read"),
            (Some(lease_item(&lease(first))), Some(inbox_item(first, false)), None, "it closed between the reads"),
            (Some(lease_item(&closed)), Some(inbox_item(first, true)), None, "it opened between the reads"),
            (Some(lease_item(&lease(next))), Some(inbox_item(first, true)), None, "it opened for another iteration"),
        ] {
            let found = match pair(lease.as_ref(), inbox.as_ref()).unwrap() {
                PairedRows::AtRest(rows) => Some(rows.is_some()),
                PairedRows::Moving => None,
            };
            assert_eq!(found, at_rest, "{why}");
        }
    }
}
