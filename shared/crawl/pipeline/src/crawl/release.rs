//! The end of a turn: the origin gets what it needs next.

use dragline_domain::frontier::{DomainRow, Lease, OriginKey, Release, ReleaseRefused, decide_release};
use dragline_domain::ids::LeaseToken;
use dragline_domain::url::HostKey;
use jiff::Timestamp;

use crate::World;
use crate::tell::tell_once;
use crate::wake::send_ticket;
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{Hosts, Origins, ReleaseLease, Turns};
use dragline_ports::notifier::Notice;

/// The times from which others may make requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FreeTimes {
    /// The start of the origin's next turn.
    pub not_before: Timestamp,
    /// The next request to its host.
    pub free_from: Timestamp,
    /// The arrival of the next turn's ticket, if something else sends one before.
    pub called_by: Timestamp,
}

/// Releases a lease and its host. Effects in order: the rows; the next turn's ticket; tickets to
/// those waiting for the host, and for its place in the domain. `None` if another worker holds it.
pub(super) async fn release(
    world: &impl World,
    origin: &OriginKey,
    token: &LeaseToken,
    lease: &Lease,
    FreeTimes { not_before, free_from, called_by }: FreeTimes,
) -> PortResult<Option<Release>> {
    let mut lease = lease.clone();
    loop {
        let now = world.clock().now();
        lease.wait_until(not_before, now);
        let Some(rows) = world.frontier().load_origin(origin).await? else {
            return Err(PortError::new(PortErrorKind::Corrupt, "release", origin, "the origin's rows are missing"));
        };
        let how = decide_release(&lease, &rows.inbox, not_before, now);
        let left = rows.inbox.added.saturating_sub(lease.taken) + lease.retries.len() as u64;
        let request = ReleaseLease {
            origin: origin.clone(),
            token: token.clone(),
            lease: lease.clone(),
            seen: rows.inbox,
            how,
            free_from,
            now,
        };
        match world.frontier().release(&request).await? {
            Err(ReleaseRefused::Fenced) => return Ok(None),
            Err(ReleaseRefused::Changed) => continue,
            Ok(()) => {}
        }
        match how {
            Release::Wake { not_before } => {
                send_ticket(world, origin, lease.iteration, lease.turn.next(), not_before.max(called_by)).await?;
            }
            Release::CloseWithLeftovers => {
                if let Some(reason) = lease.ending {
                    let ended = Notice::OriginEnded { origin: origin.clone(), reason, count: left };
                    tell_once(world, lease.iteration, vec![ended]).await;
                }
            }
            Release::Idle | Release::Close => {}
        }
        call_next(world, &HostKey::from_origin(&origin.origin)).await?;
        return Ok(Some(how));
    }
}

/// Sends a ticket to the next in line for a released host, and to the next in line for a place in
/// its domain. If one is lost, another arrives at the latest when the host or the place would have
/// been free anyway.
pub(super) async fn call_next(world: &impl World, host: &HostKey) -> PortResult<()> {
    let row = world.frontier().load_host(host).await?;
    if let Some((row, next)) = row.as_ref().and_then(|row| Some((row, row.next()?))) {
        send_ticket(world, &next.origin, next.iteration, next.turn, row.earliest(next.delay)).await?;
    }
    let Some(domain) = host.domain() else { return Ok(()) };
    let row = world.frontier().load_domain(&domain).await?;
    if let Some(next) = row.as_ref().and_then(DomainRow::next) {
        send_ticket(world, &next.origin, next.iteration, next.turn, world.clock().now()).await?;
    }
    Ok(())
}
