//! The last step: sends lost work again, and closes finished work.
//!
//! It never scans URLs. The sweeper reads rows that say when they are due, reads each again, and
//! acts conditionally. Otherwise it only sends messages, and a superfluous message changes nothing.

use std::time::Duration;

use dragline_domain::frontier::{
    IterationRow, IterationStatus, Lease, LeaseState, Leftover, LeftoverReason, OriginCursor, OriginKey, SegmentState,
    StatusChange, Walk,
};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::time::{after, between};
use dragline_domain::url::HostKey;
use jiff::Timestamp;

use crate::World;
use crate::tell::{send_kept, tell_once};
use crate::wake::{Convoy, wake_into};
use crate::walk::{Until, Walker};
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{
    CursorMoved, Endings, GiveUp, IterationClosed, Iterations, Origins, Overdue, OverdueKinds, OverdueWork, OwedNotice,
    Parses, SettleResult,
};
use dragline_ports::notifier::Notice;
use dragline_ports::queue::{Message, ParseMessage, Queue, StartCommand, Ticket};
use futures_util::future::join_all;

/// The most origins that one sweep looks at, and the most segments.
const OVERDUE_MAX: usize = 500;

/// How many turns of an origin may fail in a row before the sweeper gives it up. A turn itself
/// gives it up long before, if it can.
const ATTEMPTS_MAX: u32 = 10;

/// The state of a crawl after a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepResult {
    /// It has no iteration yet.
    NoIteration,
    /// Its latest iteration is closed: by this sweep, or before.
    Closed(Box<IterationRow>),
    /// It continues.
    GoesOn {
        /// The number of messages sent again and origins settled or closed.
        acts: usize,
    },
}

/// Sweeps one crawl. The next sweep continues with the rest if time runs out.
/// [`crate::tell::tell_owed`] sends owed notices, for all crawls at once. `due_by` is now, or later
/// if nothing is known to be under way.
///
/// # Errors
/// Returns the ports' errors; the next sweep continues.
pub async fn sweep(world: &impl World, crawl: &CrawlId, due_by: Timestamp) -> PortResult<SweepResult> {
    let (frontier, until) = (world.frontier(), Until::end_of_walk(world));
    let Some(mut iteration) = frontier.latest_iteration(crawl).await? else { return Ok(SweepResult::NoIteration) };
    if iteration.status == IterationStatus::Closed {
        return Ok(SweepResult::Closed(Box::new(iteration)));
    }
    let now = world.clock().now();
    if iteration.ends_at.is_some_and(|end| end <= now)
        && let Some(stopping) = frontier.change_status(crawl, iteration.number, StatusChange::Stop).await?
    {
        iteration = stopping;
    }
    let mut acts = 0;
    // Otherwise no ticket would get a lease, and the leases would stay overdue.
    let kinds = if iteration.status.is_open() { OverdueKinds::All } else { OverdueKinds::AllButLeases };
    let (mut convoy, mut swept) = (Convoy::default(), Ok(()));
    for work in frontier.overdue(crawl, due_by, kinds, OVERDUE_MAX).await? {
        match resend(world, &iteration, &work, &mut convoy).await {
            Ok(sent) => acts += sent,
            // It must not keep the sweeper from the rest.
            Err(error) if error.kind.is_lasting() => {
                tracing::error!(%error, ?work, "overdue work cannot be sent again");
                swept = Err(error);
            }
            Err(error) => {
                swept = Err(error);
                break;
            }
        }
    }
    // Postponed tickets are sent, whatever happened to the rest.
    convoy.send(world).await?;
    swept?;
    if let Some(reason) = iteration.gives_up() {
        acts += give_up_all(world, &iteration, reason, until).await?;
    }
    match frontier.close_iteration(crawl, iteration.number, now).await? {
        IterationClosed::Now(row) => {
            send_kept(world, &OwedNotice::iteration_closed(&row, row.closed_at.unwrap_or(now))).await;
            Ok(SweepResult::Closed(Box::new(row)))
        }
        IterationClosed::Before(row) => Ok(SweepResult::Closed(Box::new(row))),
        IterationClosed::NotYet(_) => Ok(SweepResult::GoesOn { acts }),
    }
}

/// Sends one message again, and postpones the next look at its work by a pause that grows with the
/// time waited.
async fn resend(
    world: &impl World,
    iteration: &IterationRow,
    work: &Overdue,
    convoy: &mut Convoy,
) -> PortResult<usize> {
    let frontier = world.frontier();
    let since = match work {
        Overdue::Lease(origin) => {
            let Some(rows) = frontier.load_origin(origin).await? else { return Ok(0) };
            let (lease, now) = (&rows.lease, world.clock().now());
            let free_since = match &lease.state {
                LeaseState::Ready => lease.free_from(now),
                LeaseState::Leased(holder) => after(holder.until, lease.pace.delay()),
                LeaseState::Idle | LeaseState::Closed => return Ok(0),
            };
            let is_held = lease.holder().is_some() && free_since >= now;
            if is_held || lease.iteration != iteration.number || !iteration.status.is_open() {
                return Ok(0);
            }
            if lease.attempts > ATTEMPTS_MAX
                && let Some(left) = give_up(world, iteration.number, origin.clone(), LeftoverReason::Stuck).await?
            {
                let Leftover { reason, count, .. } = left;
                tell_once(world, iteration.number, vec![Notice::OriginEnded { origin: origin.clone(), reason, count }])
                    .await;
                return Ok(1);
            }
            let ticket = Ticket { origin: origin.clone(), iteration: iteration.number, turn: lease.turn };
            convoy.add(ticket, lease.free_from(now));
            free_since
        }
        Overdue::Inbox(origin) => {
            wake_into(world, origin, iteration.number, convoy).await?;
            world.clock().now()
        }
        Overdue::Segment(id, number) => {
            let Some(segment) = frontier.load_segment(id).await? else { return Ok(0) };
            if segment.state == SegmentState::Processed {
                return Ok(0);
            }
            let message = ParseMessage { segment: id.clone(), iteration: *number };
            world.queue().send(Message::Parse(message), Duration::ZERO).await?;
            segment.committed_at
        }
        Overdue::Token(crawl, _) => {
            let command = StartCommand { crawl: crawl.clone(), trigger: iteration.trigger.clone() };
            world.queue().send(Message::Start(command), Duration::ZERO).await?;
            iteration.started_at
        }
    };
    let now = world.clock().now();
    let pause = next_pause(between(since, now), world.timing().grace);
    frontier.postpone(work, after(now, pause)).await?;
    Ok(1)
}

/// Returns the pause before something is sent again, by how long it has been waiting: as long
/// again, at least the grace period, at most an hour.
fn next_pause(waited: Duration, grace: Duration) -> Duration {
    waited.saturating_mul(2).clamp(grace, Duration::from_secs(3600).max(grace))
}

/// Closes every idle origin, with what is left of it. Returns their number.
///
/// Those that cannot be closed yet are skipped. After a complete pass the next sweep starts from
/// the beginning, for as long as any origin is open. When the budget is spent, nothing is given up
/// while anybody holds a lease: the holder's unused share comes back.
async fn give_up_all(
    world: &impl World,
    iteration: &IterationRow,
    reason: LeftoverReason,
    until: Until,
) -> PortResult<usize> {
    if reason == LeftoverReason::BudgetExhausted && find_holders(world, iteration, until).await? != Holders::None {
        return Ok(0);
    }
    let mut walker = Walker::resume(world, iteration, Walk::Leftovers, until);
    let mut acts = 0;
    loop {
        let origins = walker.next_page().await?;
        if origins.is_empty() {
            walker.start_over();
            walker.store().await?;
            return Ok(acts);
        }
        for group in origins.chunks(walker.origins_at_once()) {
            let keys = group.iter().map(|origin| OriginKey { crawl: iteration.crawl.clone(), origin: origin.clone() });
            let left = join_all(keys.clone().map(|key| give_up(world, iteration.number, key, reason))).await;
            let (mut ended, mut given_up) = (Vec::new(), Ok(()));
            for (origin, left) in keys.zip(left) {
                match left {
                    Ok(None) => {}
                    Ok(Some(Leftover { reason, count, .. })) => {
                        acts += 1;
                        ended.extend((count > 0).then_some(Notice::OriginEnded { origin, reason, count }));
                    }
                    Err(error) => given_up = given_up.and(Err(error)),
                }
            }
            // People are told about the first that ended, whatever happened to the others.
            tell_once(world, iteration.number, ended).await;
            given_up?;
            if walker.pass_all(group) && walker.rest(&mut Convoy::default()).await?.is_some() {
                return Ok(acts);
            }
        }
    }
}

/// Whether any lease of an iteration is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holders {
    /// None is.
    None,
    /// Some are, or not all have been checked yet.
    Some,
}

/// Looks for held leases of an iteration whose budget is spent.
///
/// While the budget is empty nobody takes a lease, and a worker that takes one once something came
/// back resets the search to its beginning. So origins that were checked need not be checked again,
/// and the search waits at the origin where it finds a holder.
async fn find_holders(world: &impl World, iteration: &IterationRow, until: Until) -> PortResult<Holders> {
    let mut walker = Walker::resume(world, iteration, Walk::Holders, until);
    if *walker.reached() == OriginCursor::Done {
        return Ok(Holders::None);
    }
    loop {
        let origins = walker.next_page().await?;
        if origins.is_empty() {
            walker.finish();
            let is_searched = walker.store().await? == CursorMoved::Moved;
            return Ok(if is_searched { Holders::None } else { Holders::Some });
        }
        for origin in origins {
            let key = OriginKey { crawl: iteration.crawl.clone(), origin };
            let rows = world.frontier().load_origin(&key).await?;
            if rows.is_some_and(|rows| rows.lease.iteration == iteration.number && rows.lease.holder().is_some()) {
                walker.store().await?;
                return Ok(Holders::Some);
            }
            walker.pass(&key.origin);
            if walker.is_to_rest() && walker.rest(&mut Convoy::default()).await?.is_some() {
                return Ok(Holders::Some);
            }
        }
    }
}

/// Whether a turn of this process holds the lease, whatever the clock says.
fn is_alive(world: &impl World, origin: &OriginKey, lease: &Lease) -> bool {
    let alive = || world.live().at(&HostKey::from_origin(&origin.origin));
    lease.holder().is_some_and(|holder| alive().contains(&holder.token))
}

/// Gives up an origin and returns its leftovers; `None` if it is not given up.
async fn give_up(
    world: &impl World,
    iteration: Iteration,
    origin: OriginKey,
    reason: LeftoverReason,
) -> PortResult<Option<Leftover>> {
    let frontier = world.frontier();
    let Some(seen) = frontier.load_origin(&origin).await? else { return Ok(None) };
    if seen.lease.iteration != iteration || seen.lease.state == LeaseState::Closed {
        return Ok(None);
    }
    if seen.lease.segments != seen.inbox.parsed || is_alive(world, &origin, &seen.lease) {
        return Ok(None);
    }
    let now = world.clock().now();
    let give_up = GiveUp { origin, iteration, seen, reason, now };
    Ok(match frontier.give_up(&give_up).await? {
        SettleResult::ClosedWithLeftovers(leftover) => Some(leftover),
        SettleResult::Woken(_) | SettleResult::Closed | SettleResult::Changed => None,
    })
}
