//! How a turn ends: what its origin needs next.

use dragline_domain::frontier::{Barrier, Inbox, Lease, OriginKey, RecrawlCursor, Release, ReleaseRefused};
use dragline_domain::ids::LeaseToken;
use jiff::Timestamp;

use crate::World;
use crate::nudge::send_ticket;
use crate::ports::error::{PortError, PortErrorKind, PortResult};
use crate::ports::frontier::{Frontier, ReleaseLease};
use crate::ports::notifier::{Notice, Notifier};

/// How to let go of a lease, by the holder's copy and the inbox of now. A pure decision; the release checks that the inbox is still so.
pub(super) fn decide(lease: &Lease, inbox: &Inbox, not_before: Timestamp) -> Release {
    let all_parsed = lease.segments == inbox.parsed;
    if lease.ending.is_some() {
        return if all_parsed { Release::CloseWithLeftovers } else { Release::Idle };
    }
    let has_todo = inbox.added > lease.taken || lease.cursor != RecrawlCursor::End;
    let first_retry = lease.retries.iter().map(|retry| retry.not_before).min();
    match (has_todo, first_retry) {
        (true, _) if lease.barrier == Barrier::Waiting && !all_parsed => Release::Idle,
        // Retries at the barrier are what it waits for: the origin has nothing else to do until the first is due.
        (true, Some(first)) if lease.barrier == Barrier::Waiting => Release::Wake { not_before: first.max(not_before) },
        (true, _) => Release::Wake { not_before },
        (false, Some(first)) => Release::Wake { not_before: first.max(not_before) },
        (false, None) if all_parsed => Release::Close,
        (false, None) => Release::Idle,
    }
}

/// Lets go of a lease. Effects in order: the rows; the next turn's ticket. `None` if another worker holds it.
pub(super) async fn release(
    world: &impl World,
    origin: &OriginKey,
    token: &LeaseToken,
    lease: &Lease,
    not_before: Timestamp,
) -> PortResult<Option<Release>> {
    let mut lease = lease.clone();
    lease.not_before = not_before;
    loop {
        let Some(rows) = world.frontier().load_origin(origin).await? else {
            return Err(PortError::new(PortErrorKind::Corrupt, "release", origin, "the origin's rows are gone"));
        };
        let how = decide(&lease, &rows.inbox, not_before);
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
