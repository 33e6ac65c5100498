//! Schedules: beginning an iteration of each crawl that is due.

use std::time::Duration;

use dragline_domain::frontier::{IterationBegun, Task, due_iteration};
use dragline_domain::ids::CrawlId;
use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;

use super::begin::is_put_off;
use super::command::{CommandResult, start_once};
use crate::World;
use crate::context::Contexts;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Crawls, MoveSchedule};
use dragline_ports::queue::{Message, Queue, StartCommand};

/// The most crawls that are read at once.
const BATCH: usize = 1_000;

/// The most crawls that one tick begins; the next one continues.
const CRAWLS_MAX: usize = 10_000;

/// The crawls that are begun at the same time.
const AT_ONCE: usize = 16;

/// Sends a start command to each crawl whose schedule calls for it, and moves its schedule on.
/// Returns their number. For a queue that keeps what it has taken.
///
/// In this order, so that a crash in between sends the same command again: its trigger is the
/// schedule's time, and is handled once. Whether the last iteration is still running is checked
/// when the command is handled.
///
/// # Errors
/// Returns the ports' errors; the next tick goes on.
pub async fn tick(world: &impl World) -> PortResult<usize> {
    pass_all(world, Starts::Sent).await
}

/// Begins an iteration of each crawl whose schedule calls for it, and moves its schedule on.
/// Returns their number. For a queue that is lost with its process: with it a start would be lost
/// whose schedule has moved on.
///
/// # Errors
/// Returns the ports' errors; the next call goes on.
pub async fn begin_due(world: &impl World, contexts: &Contexts) -> PortResult<usize> {
    pass_all(world, Starts::Handled(contexts)).await
}

/// What is done with the start command of a crawl that is due.
#[derive(Clone, Copy)]
enum Starts<'c> {
    /// It is sent.
    Sent,
    /// It is handled at once.
    Handled(&'c Contexts),
}

async fn pass_all(world: &impl World, starts: Starts<'_>) -> PortResult<usize> {
    let (frontier, now) = (world.frontier(), world.clock().now());
    let mut sent = 0;
    while sent < CRAWLS_MAX {
        let due = frontier.due_crawls(now, BATCH).await?;
        let (count, before) = (due.len(), sent);
        let mut begun = stream::iter(due).map(|crawl| pass_due(world, crawl, now, starts)).buffer_unordered(AT_ONCE);
        while let Some(result) = begun.next().await {
            sent += usize::from(result? == DueCrawl::Begun);
        }
        // An index may lag behind: what was just moved may still be listed.
        if count < BATCH || sent == before {
            break;
        }
    }
    Ok(sent)
}

/// What became of a crawl that was listed as due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DueCrawl {
    /// Its start command was sent or handled.
    Begun,
    /// It is not due any more, or begins once what runs is over.
    Passed,
}

async fn pass_due(world: &impl World, crawl: CrawlId, now: Timestamp, starts: Starts<'_>) -> PortResult<DueCrawl> {
    let frontier = world.frontier();
    let Some(row) = frontier.load_crawl(&crawl).await? else { return Ok(DueCrawl::Passed) };
    let Some(due) = due_iteration(row.switch, row.definition.schedule.as_ref(), now) else {
        return Ok(DueCrawl::Passed);
    };
    let command = StartCommand { crawl: crawl.clone(), trigger: due.trigger };
    match starts {
        Starts::Sent => world.queue().send(Message::Start(command), Duration::ZERO).await?,
        Starts::Handled(contexts) => match start_once(world, contexts, &command).await? {
            CommandResult::Refused(refusal) => tracing::warn!(%refusal, "a schedule begins nothing"),
            // It stays due: the command that is sent again is lost with the process.
            CommandResult::Started(IterationBegun::Busy(running)) if is_put_off(&running, &Task::Crawl) => {
                return Ok(DueCrawl::Passed);
            }
            done => tracing::debug!(%crawl, ?done, "a schedule came due"),
        },
    }
    frontier.move_schedule(&MoveSchedule { crawl, seen: due.at, next: due.next }).await?;
    Ok(DueCrawl::Begun)
}
