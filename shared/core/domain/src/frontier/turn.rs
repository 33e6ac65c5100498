//! The rows that a turn takes before its first request: its lease, the host, and a place in the
//! host's domain; all of them, or none.

use jiff::Timestamp;

use super::{
    DomainBusy, DomainRow, HostBusy, HostRequest, HostRow, HostWaiter, IterationRow, Lease, OriginKey, TakeRefused,
    TakeRequest,
};
use crate::ids::LeaseToken;
use crate::url::HostKey;

/// The rows that decide whether requests may be sent to a host, as read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostRows<'r> {
    /// The host's row; `None` if it has had no request yet.
    pub host: Option<&'r HostRow>,
    /// Its domain's row; `None` if it has no domain, or none of the domain's hosts has had a
    /// request yet.
    pub domain: Option<&'r DomainRow>,
}

/// The rows after taking a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostTaken {
    /// The host's row.
    pub host: HostRow,
    /// Its domain's row; `None` if no place was requested.
    pub domain: Option<DomainRow>,
}

/// The reason why a host was not taken; the turn now waits in one of two queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostRefused {
    /// Another turn has it, or is next. The host's row must be written.
    Host(Box<HostBusy>),
    /// Its domain has no free place. The domain's row must be written.
    Domain(Box<DomainBusy>),
}

/// The rows after taking a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnTaken {
    /// The lease, at the host's pace.
    pub lease: Lease,
    /// The iteration's row.
    pub iteration: IterationRow,
    /// The rows of its host.
    pub host: HostTaken,
}

/// The reason why a lease was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnRefused {
    /// The lease cannot be taken. Nothing is written.
    Lease(TakeRefused),
    /// Its host cannot be taken. The row with the queue must be written.
    Host(HostRefused),
}

impl HostRefused {
    /// Returns when to try again, unless a ticket comes before.
    #[must_use]
    pub const fn until(&self) -> Timestamp {
        match self {
            Self::Host(busy) => busy.until,
            Self::Domain(busy) => busy.until,
        }
    }
}

/// Takes a host with a place in its domain, or neither.
///
/// # Errors
/// [`HostRefused`].
pub fn take_host(
    rows: HostRows<'_>,
    ask: &HostRequest,
    predecessor: Option<&LeaseToken>,
) -> Result<HostTaken, HostRefused> {
    let host = HostRow::take(rows.host, ask, predecessor).map_err(HostRefused::Host)?;
    let domain = ask.hosts_per_domain.map(|places| DomainRow::take(rows.domain, places, ask, predecessor));
    Ok(HostTaken { host, domain: domain.transpose().map_err(HostRefused::Domain)? })
}

/// Takes an origin's lease with its host. The lease starts no request before the host is free, and
/// keeps its back-off.
///
/// A takeover also takes over the host and the place in the domain that the dead holder still has.
///
/// # Errors
/// [`TurnRefused`].
pub fn take_turn(
    origin: &OriginKey,
    lease: &Lease,
    iteration: &IterationRow,
    rows: HostRows<'_>,
    take: &TakeRequest,
) -> Result<TurnTaken, TurnRefused> {
    let predecessor = lease.holder().map(|holder| &holder.token);
    let (mut taken, iteration) = lease.take(iteration, take).map_err(TurnRefused::Lease)?;
    let is_inherited = predecessor.is_some_and(|token| rows.host.is_some_and(|host| host.is_held_by(token)));
    let waiter =
        HostWaiter { origin: origin.clone(), iteration: taken.iteration, turn: taken.turn, delay: lease.pace.delay() };
    let has_domain = HostKey::from_origin(&origin.origin).domain().is_some();
    let ask = HostRequest {
        waiter,
        token: take.token.clone(),
        until: take.host_until,
        alive: take.alive.clone(),
        hosts_per_domain: has_domain.then_some(take.hosts_per_domain),
        pace: lease.pace,
        now: take.now,
    };
    let mut host = take_host(rows, &ask, predecessor).map_err(TurnRefused::Host)?;
    if is_inherited {
        // Its commits updated the pace in the lease, but not in the host's row.
        host.host.pace = lease.pace;
    }
    taken.wait_until(taken.not_before.max(host.host.free_from), take.now);
    taken.pace = host.host.pace;
    Ok(TurnTaken { lease: taken, iteration, host })
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
