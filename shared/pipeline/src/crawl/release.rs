//! How a turn ends: its origin gets what it needs next.

use dragline_domain::frontier::{Lease, OriginKey, Release, ReleaseRefused, decide_release};
use dragline_domain::ids::LeaseToken;
use jiff::Timestamp;

use crate::World;
use crate::nudge::send_ticket;
use crate::ports::clock::Clock;
use crate::ports::error::{PortError, PortErrorKind, PortResult};
use crate::ports::frontier::{Frontier, ReleaseLease};
use crate::ports::notifier::{Notice, Notifier};

/// Lets go of a lease. Effects in order: the rows; the next turn's ticket. `None` if another worker holds it.
pub(super) async fn release(
    world: &impl World,
    origin: &OriginKey,
    token: &LeaseToken,
    lease: &Lease,
    not_before: Timestamp,
) -> PortResult<Option<Release>> {
    let mut lease = lease.clone();
    loop {
        let now = world.clock().now();
        lease.wait_until(not_before, now);
        let Some(rows) = world.frontier().load_origin(origin).await? else {
            return Err(PortError::new(PortErrorKind::Corrupt, "release", origin, "the origin's rows are gone"));
        };
        let how = decide_release(&lease, &rows.inbox, not_before, now);
        let left = rows.inbox.added.saturating_sub(lease.taken) + lease.retries.len() as u64;
        let request =
            ReleaseLease { origin: origin.clone(), token: token.clone(), lease: lease.clone(), seen: rows.inbox, how };
        match world.frontier().release(&request).await? {
            Err(ReleaseRefused::Fenced) => return Ok(None),
            Err(ReleaseRefused::Changed) => continue,
            Ok(()) => {}
        }
        match how {
            Release::Wake { not_before } => {
                send_ticket(world, origin, lease.iteration, lease.turn.next(), not_before).await?;
            }
            Release::CloseWithLeftovers => {
                if let Some(reason) = lease.ending {
                    let notice = Notice::OriginEnded { origin: origin.clone(), reason, count: left };
                    world.notifier().notify(notice).await?;
                }
            }
            Release::Idle | Release::Close => {}
        }
        return Ok(Some(how));
    }
}
