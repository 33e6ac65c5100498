//! Seeing to it that an origin which may need a turn gets one, and one that needs nothing more is closed.

use dragline_domain::frontier::{Need, OriginKey, need};
use dragline_domain::ids::{Iteration, Turn};
use dragline_domain::time::between;
use jiff::Timestamp;

use crate::World;
use crate::ports::clock::Clock;
use crate::ports::error::PortResult;
use crate::ports::frontier::{Frontier, Settled};
use crate::ports::notifier::{Notice, Notifier};
use crate::ports::queue::{Message, Queue, Ticket};

/// Reads an origin's rows and does what they call for: a ticket if it is ready, settling if it is idle, nothing if it is held or closed.
///
/// Called after everything that may have given an origin work, or taken the last of it. Doing it once too often changes nothing.
///
/// # Errors
/// Those of the frontier and the queue.
pub async fn nudge(world: &impl World, origin: &OriginKey, iteration: Iteration) -> PortResult<()> {
    loop {
        let now = world.clock().now();
        let Some(rows) = world.frontier().load_origin(origin).await? else { return Ok(()) };
        if rows.lease.iteration != iteration {
            return Ok(());
        }
        match need(&rows) {
            Need::Ticket(turn) => return send_ticket(world, origin, iteration, turn, rows.lease.free_from(now)).await,
            Need::Nothing => return Ok(()),
            Need::Settling => {}
        }
        match world.frontier().settle(origin, &rows).await? {
            Settled::Woken(turn) => {
                return send_ticket(world, origin, iteration, turn, rows.lease.free_from(now)).await;
            }
            Settled::Closed => return Ok(()),
            Settled::ClosedWithLeftovers(leftover) => {
                let (reason, count) = (leftover.reason, leftover.count);
                return world.notifier().notify(Notice::OriginEnded { origin: origin.clone(), reason, count }).await;
            }
            Settled::Changed => {}
        }
    }
}

/// Sends a turn's ticket, to come when the origin may be asked.
///
/// # Errors
/// Those of the queue.
pub async fn send_ticket(
    world: &impl World,
    origin: &OriginKey,
    iteration: Iteration,
    turn: Turn,
    not_before: Timestamp,
) -> PortResult<()> {
    let wait = between(world.clock().now(), not_before);
    world.queue().send(Message::Ticket(Ticket { origin: origin.clone(), iteration, turn }), wait).await
}
