//! Schedules: sending a start command to each crawl that is due.

use std::time::Duration;

use dragline_domain::frontier::due_iteration;

use crate::World;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Crawls, MoveSchedule};
use dragline_ports::queue::{Message, Queue, StartCommand};

/// The most crawls that one tick begins; the next one continues.
const CRAWLS_MAX: usize = 1_000;

/// Sends a start command to each crawl whose schedule calls for it, and moves its schedule on.
/// Returns their number.
///
/// In this order, so that a crash in between sends the same command again: its trigger is the
/// schedule's time, and is handled once. Whether the last iteration is still running is checked
/// when the command is handled.
///
///
/// # Errors
/// Returns the ports' errors; the next tick goes on.
pub async fn tick(world: &impl World) -> PortResult<usize> {
    let (frontier, now) = (world.frontier(), world.clock().now());
    let mut sent = 0;
    for crawl in frontier.due_crawls(now, CRAWLS_MAX).await? {
        let Some(row) = frontier.load_crawl(&crawl).await? else { continue };
        let Some(due) = due_iteration(row.switch, row.definition.schedule.as_ref(), now) else { continue };
        let command = StartCommand { crawl: crawl.clone(), trigger: due.trigger };
        world.queue().send(Message::Start(command), Duration::ZERO).await?;
        frontier.move_schedule(&MoveSchedule { crawl, seen: due.at, next: due.next }).await?;
        sent += 1;
    }
    Ok(sent)
}
