//! Sweeps crawls on a schedule's tick.

use std::time::Duration;

use dragline_domain::retention::Retention;
use dragline_lambda::{Deadline, Event, Reply};
use dragline_pipeline::World;
use dragline_pipeline::sweep::{SweepResult, sweep};
use dragline_pipeline::tell::tell_owed;
use dragline_ports::clock::Clock as _;
use dragline_ports::error::{PortError, PortResult};
use dragline_ports::frontier::Crawls;
use dragline_ports::queue::{Message, PruneCommand, Queue as _};
use tracing::Instrument as _;

/// The maximum number of crawls per invocation. The oldest come first, so that they end and make
/// room.
const CRAWLS_MAX: usize = 1_000;

/// Sweeps every running crawl, and sends overdue notices. A crawl that cannot be swept or has many
/// origins does not keep others from their turn: each gets the ports `in_time`, and an equal share
/// of the remaining time.
///
/// A crawl whose iteration is over is pruned of iterations that ended longer ago than
/// `archive_kept`; `None` keeps all.
///
/// # Errors
/// Returns the first of the ports' errors, once every crawl had its turn; the next sweep continues.
pub(crate) async fn handle<W: World>(
    world: &W,
    in_time: impl Fn(Duration) -> W,
    event: Event,
    deadline: Deadline,
    archive_kept: Option<Duration>,
) -> PortResult<Reply> {
    if event != Event::Tick {
        tracing::error!("the sweeper has no queue");
        return Ok(Reply::default());
    }
    let mut failed: Option<PortError> = None;
    let crawls = world.frontier().running_crawls(CRAWLS_MAX).await?;
    for (crawl, left) in crawls.iter().zip((1..=crawls.len()).rev()) {
        let now = world.clock().now();
        let world = in_time(deadline.walk(now, left));
        let span = tracing::info_span!("sweep", %crawl);
        match Box::pin(sweep(&world, crawl, now)).instrument(span).await {
            Ok(swept) => {
                tracing::info!(%crawl, ?swept, "swept");
                if let (SweepResult::Closed(row), Some(kept)) = (swept, archive_kept) {
                    let command = PruneCommand::new(row.crawl, Retention::Within(kept), None);
                    let sent = world.queue().send(Message::Prune(command), Duration::ZERO).await;
                    // The end of the next iteration sends it again.
                    sent.unwrap_or_else(|error| tracing::error!(%error, "a crawl is not pruned"));
                }
            }
            Err(error) => {
                tracing::error!(%crawl, %error, "a crawl cannot be swept");
                failed.get_or_insert(error);
            }
        }
    }
    let left = tell_owed(world, world.clock().now()).await?;
    tracing::info!(left, "owed notices sent");
    failed.map_or(Ok(Reply::default()), Err)
}

#[cfg(test)]
mod tests {
    use crate::testing::{event, world};

    use super::*;

    #[tokio::test]
    async fn a_tick_sweeps_what_runs_and_messages_are_left_alone() {
        let (world, _directory) = world();
        for text in [include_str!("../../events/sweep.json"), include_str!("../../events/segments.json")] {
            let reply =
                handle(&world, |_| unreachable!("nothing runs"), event(text), Deadline::from_millis(u64::MAX), None);
            assert_eq!(reply.await.unwrap(), Reply::default());
        }
    }
}
