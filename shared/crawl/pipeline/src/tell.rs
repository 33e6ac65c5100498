//! Notices to people. No step fails because of them: a notice that cannot be sent is logged, kept,
//! and sent later.

use std::time::Duration;

use dragline_domain::frontier::ParserCounters;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::time::{after, between};

use crate::World;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Crawls, Fact, Iterations, NoticeKept, NoticeState, OwedNotice, OwedNotices};
use dragline_ports::notifier::{ClosedIteration, Notice, Notifier};

/// The most owed notices tried at once.
const OWED_MAX: usize = 100;

/// How many notices in a row may fail before the others are not tried: each try may take as long as
/// a time-out.
const FAILURES_MAX: usize = 3;

/// The shortest pause before a notice is tried again.
const PAUSE_MIN: Duration = Duration::from_secs(5);

/// The longest pause before a notice is tried again.
const PAUSE_MAX: Duration = Duration::from_hours(1);

/// The age at which an owed notice is given up.
const OWED_FOR_MAX: Duration = Duration::from_hours(14 * 24);

/// Sends a notice, or makes sure that it is sent later.
pub(crate) async fn tell(world: &impl World, notice: Notice) {
    tell_all(world, vec![notice]).await;
}

/// Sends those notices of an iteration whose kind and reason are new in it. A page may link to
/// thousands of origins that all end alike: the notice that the iteration closed counts them.
pub(crate) async fn tell_once(world: &impl World, iteration: Iteration, notices: Vec<Notice>) {
    let mut news = Vec::new();
    for notice in notices {
        if is_news(world, iteration, &notice).await {
            news.push(notice);
        }
    }
    tell_all(world, news).await;
}

/// Whether a notice's kind and reason are new in this iteration. Also `true` if that is unknown:
/// sending it twice is better than never.
async fn is_news(world: &impl World, iteration: Iteration, notice: &Notice) -> bool {
    let Some(reason) = notice.reason() else { return true };
    let told = mark_told(world, notice.crawl(), iteration, &format!("{} {reason}", notice.kind())).await;
    told.map_or_else(
        |error| {
            tracing::warn!(%error, ?notice, "whether people were told of this before is not known");
            true
        },
        |told| told == NoticeState::Now,
    )
}

/// Marks a fact as told in this iteration, and returns whether it was before.
pub(crate) async fn mark_told(
    world: &impl World,
    crawl: &CrawlId,
    iteration: Iteration,
    what: &str,
) -> PortResult<NoticeState> {
    let fact = Fact::from_text(&format!("iteration {iteration} {what}"));
    world.frontier().mark_told(crawl, &fact, world.clock().now()).await
}

/// Sends several notices. After one that cannot be sent the others are kept without a try.
pub(crate) async fn tell_all(world: &impl World, notices: Vec<Notice>) {
    let (mut is_away, since) = (false, world.clock().now());
    for notice in notices {
        if !is_away {
            let Err(error) = world.notifier().notify(notice.clone(), since).await else { continue };
            tracing::error!(%error, ?notice, "a notice cannot be sent; it is tried again later");
            is_away = true;
        }
        keep(world, notice, since).await;
    }
}

/// Sends a notice that came to be owed at `since`, and keeps it first, as its caller then forgets
/// the reason. A caller that died in between makes the same notice again.
///
/// # Errors
/// It cannot be kept.
pub(crate) async fn tell_surely(world: &impl World, notice: Notice, since: jiff::Timestamp) -> PortResult<()> {
    let owed = OwedNotice::new(notice, since, after(world.clock().now(), world.timing().grace));
    match world.frontier().owe_notice(&owed).await? {
        NoticeKept::Kept => {
            send_kept(world, &owed).await;
        }
        NoticeKept::Crowded => {
            tracing::warn!(notice = ?owed.notice, "a notice like this one, or too many, are owed already");
        }
    }
    Ok(())
}

async fn keep(world: &impl World, notice: Notice, since: jiff::Timestamp) {
    let owed = OwedNotice::new(notice, since, after(since, world.timing().grace));
    match world.frontier().owe_notice(&owed).await {
        Ok(NoticeKept::Kept) => {}
        Ok(NoticeKept::Crowded) => {
            tracing::error!(notice = ?owed.notice, "too many notices are owed; this one is lost");
        }
        Err(error) => tracing::error!(%error, notice = ?owed.notice, "a notice cannot be kept; it is lost"),
    }
}

/// Sends a kept notice. Returns whether it was sent.
pub(crate) async fn send_kept(world: &impl World, owed: &OwedNotice) -> bool {
    match world.notifier().notify(with_figures(world, &owed.notice).await, owed.since).await {
        Ok(()) => {
            if let Err(error) = world.frontier().forget_notice(owed).await {
                tracing::warn!(%error, "a notice was sent, and will be sent once more");
            }
            true
        }
        Err(error) => {
            tracing::error!(%error, notice = ?owed.notice, "a notice cannot be sent; it is tried again later");
            let now = world.clock().now();
            let due = after(now, pause(between(owed.since, now)));
            if let Err(error) = world.frontier().postpone_notice(owed, due).await {
                tracing::warn!(%error, "a notice cannot be postponed");
            }
            false
        }
    }
}

/// Returns a kept notice, completed with an iteration's totals: changes, leftovers and cuts. It
/// goes without them if they cannot be read.
async fn with_figures(world: &impl World, notice: &Notice) -> Notice {
    let Notice::IterationClosed(closed) = notice else { return notice.clone() };
    let closed = add_up(world, closed).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "a notice does not say what changed, is left over and was cut");
        closed.clone()
    });
    Notice::IterationClosed(closed)
}

/// Returns the end of an iteration with its origins' totals. Changes are left out if another
/// iteration has begun, as the counts belong to that one.
async fn add_up(world: &impl World, closed: &ClosedIteration) -> PortResult<ClosedIteration> {
    let (frontier, row) = (world.frontier(), &closed.row);
    let is_latest = frontier.latest_iteration(&row.crawl).await?.is_some_and(|latest| latest.number == row.number);
    let progress = frontier.progress(&row.crawl, row.number).await?;
    let leftovers = progress.leftovers.into_iter().collect();
    if !is_latest {
        return Ok(ClosedIteration { leftovers, ..row.clone().into() });
    }
    let joined = frontier.load_stamp(&row.crawl).await?.map(|stamp| stamp.joined);
    let origins_joined = joined.zip(row.joined_before).map_or(0, |(joined, before)| joined.saturating_sub(before));
    let ParserCounters { changes, links_beyond_budget, stuck, .. } = progress.parser;
    let (row, bodies_cut) = (row.clone(), progress.crawler.bodies_cut);
    Ok(ClosedIteration { row, changes, leftovers, links_beyond_budget, origins_joined, bodies_cut, stuck })
}

/// Sends the owed notices. Returns how many of those due are still owed.
///
/// # Errors
/// Returns the frontier's errors on reading owed notices.
pub async fn tell_owed(world: &impl World, due_by: jiff::Timestamp) -> PortResult<usize> {
    let owed = world.frontier().owed_notices(due_by, OWED_MAX).await?;
    let (mut left, mut failures) = (owed.len(), 0);
    for owed in owed {
        if failures == FAILURES_MAX {
            break;
        }
        if send_kept(world, &owed).await {
            failures = 0;
            left -= 1;
        } else if between(owed.since, world.clock().now()) > OWED_FOR_MAX {
            tracing::error!(notice = ?owed.notice, "a notice could not be sent and is given up");
            world.frontier().forget_notice(&owed).await?;
            left -= 1;
        } else {
            failures += 1;
        }
    }
    Ok(left)
}

/// Returns the pause before the next try of a notice that has been owed for this long.
fn pause(owed_for: Duration) -> Duration {
    owed_for.clamp(PAUSE_MIN, PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_the_time_waited() {
        for (owed_s, pause_s, why) in
            [(0, 5, "a moment"), (600, 600, "as long again"), (86_400, 3_600, "an hour at most")]
        {
            assert_eq!(pause(Duration::from_secs(owed_s)).as_secs(), pause_s, "{why}");
        }
    }
}
