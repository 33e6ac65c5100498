//! What a turn takes before it asks anything: its lease, the host, a place in the host's domain. All of them, or none.

use jiff::Timestamp;

use super::{
    DomainBusy, DomainRow, HostAsk, HostBusy, HostRow, HostWaiter, IterationRow, Lease, OriginKey, Take, TakeRefused,
};
use crate::ids::LeaseToken;
use crate::url::HostKey;

/// The rows that say whether a host may be asked, as they were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostRows<'r> {
    /// The host's; absent if nobody asked it yet.
    pub host: Option<&'r HostRow>,
    /// Its domain's; absent if nobody asked a host of it yet, or if it has none.
    pub domain: Option<&'r DomainRow>,
}

/// The rows after a host was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostTaken {
    /// The host's.
    pub host: HostRow,
    /// Its domain's; absent if no place was asked for.
    pub domain: Option<DomainRow>,
}

/// Why a host was not taken: who asked stands in line, in one of two places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostRefused {
    /// Somebody else has it. The host's row is written.
    Host(Box<HostBusy>),
    /// Its domain has no place left. The domain's row is written.
    Domain(Box<DomainBusy>),
}

/// The rows after a lease was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnTaken {
    /// The lease, at the host's pace.
    pub lease: Lease,
    /// The iteration's row.
    pub iteration: IterationRow,
    /// Those of its host.
    pub host: HostTaken,
}

/// Why a lease was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnRefused {
    /// The lease cannot be had. Nothing is written.
    Lease(TakeRefused),
    /// Its host cannot.
    Host(HostRefused),
}

impl HostRefused {
    /// When to try again, unless called before.
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
    ask: &HostAsk,
    predecessor: Option<&LeaseToken>,
) -> Result<HostTaken, HostRefused> {
    let host = HostRow::take(rows.host, ask, predecessor).map_err(HostRefused::Host)?;
    let domain = ask.hosts_per_domain.map(|places| DomainRow::take(rows.domain, places, ask, predecessor));
    Ok(HostTaken { host, domain: domain.transpose().map_err(HostRefused::Domain)? })
}

/// Takes an origin's lease with its host. The lease starts nothing before the host is free, and keeps its back-off.
///
/// A lease that is taken over brings along what its dead holder still has of the host and the domain.
///
/// # Errors
/// [`TurnRefused`].
pub fn take_turn(
    origin: &OriginKey,
    lease: &Lease,
    iteration: &IterationRow,
    rows: HostRows<'_>,
    take: &Take,
) -> Result<TurnTaken, TurnRefused> {
    let predecessor = lease.holder().map(|holder| &holder.token);
    let (mut taken, iteration) = lease.take(iteration, take).map_err(TurnRefused::Lease)?;
    let is_inherited = predecessor.is_some_and(|token| rows.host.is_some_and(|host| host.is_held_by(token)));
    let waiter =
        HostWaiter { origin: origin.clone(), iteration: taken.iteration, turn: taken.turn, delay: lease.pace.delay() };
    let has_domain = HostKey::of(&origin.origin).domain().is_some();
    let ask = HostAsk {
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
        // Its commits told how fast the host may be asked, and this row not.
        host.host.pace = lease.pace;
    }
    taken.wait_until(taken.not_before.max(host.host.free_from), take.now);
    taken.pace = host.host.pace;
    Ok(TurnTaken { lease: taken, iteration, host })
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
