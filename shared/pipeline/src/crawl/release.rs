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

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::{LeftoverReason, Retry, TodoEntry};
    use dragline_domain::ids::Iteration;
    use dragline_domain::politeness::Pace;

    use super::*;

    #[test]
    fn an_origin_gets_what_it_needs_next() {
        let second = |s| Timestamp::from_second(s).unwrap();
        let rows = |added, taken, segments, parsed| {
            let lease = Lease::opened(None, Iteration::FIRST, Pace::default(), second(0));
            let inbox = Inbox { added, parsed, ..Inbox::new(Iteration::FIRST) };
            (Lease { taken, segments, ..lease }, inbox)
        };
        let wake = |s| Release::Wake { not_before: second(s) };
        let entry = TodoEntry { path_and_query: "/".into(), via: None, redirects: 0, last: None };
        let retry = |s| Retry { entry: entry.clone(), depth: 0, tries: 1, not_before: second(s) };
        type Change = fn(&mut Lease);
        let nothing: Change = |_| {};
        let at_barrier: Change = |lease| lease.barrier = Barrier::Waiting;
        let given_up: Change = |lease| lease.ending = Some(LeftoverReason::OriginGivenUp);
        for (numbers, retry_at, change, expected, why) in [
            ((9, 4, 2, 2), None, nothing, wake(10), "todo is left"),
            ((9, 4, 2, 1), None, nothing, wake(10), "todo is left, parsed or not"),
            ((4, 4, 2, 1), None, nothing, Release::Idle, "a segment may bring todo yet"),
            ((4, 4, 2, 2), None, nothing, Release::Close, "nothing left, nothing to come"),
            ((4, 4, 2, 2), Some(20), nothing, wake(20), "a retry, not due yet"),
            ((4, 4, 2, 2), Some(5), nothing, wake(10), "a retry that is due, at the origin's pace"),
            ((9, 4, 2, 1), None, at_barrier, Release::Idle, "what is left is deeper than what is unparsed"),
            ((9, 4, 2, 2), None, at_barrier, wake(10), "all is parsed: the barrier is gone"),
            ((9, 4, 2, 2), Some(20), at_barrier, wake(20), "a retry of less depth keeps the barrier up"),
            ((9, 4, 2, 1), None, given_up, Release::Idle, "given up, but a segment is unparsed"),
            ((9, 4, 2, 2), None, given_up, Release::CloseWithLeftovers, "given up"),
            ((4, 4, 2, 2), None, given_up, Release::CloseWithLeftovers, "given up with nothing left"),
        ] {
            let (added, taken, segments, parsed) = numbers;
            let (mut lease, inbox) = rows(added, taken, segments, parsed);
            lease.retries.extend(retry_at.map(retry));
            change(&mut lease);
            assert_eq!(decide(&lease, &inbox, second(10)), expected, "{why}");
        }
    }
}
