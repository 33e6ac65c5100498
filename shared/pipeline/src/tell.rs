//! Telling people what happens. No step fails for it: what cannot be said is logged, kept, and said later.

use std::time::Duration;

use dragline_domain::time::{after, between};

use crate::World;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{NoticeKept, OwedNotice, OwedNotices};
use dragline_ports::notifier::{Notice, Notifier};

/// Owed notices that are tried at once.
const OWED_MAX: usize = 100;

/// Notices in a row that cannot be said before the others are not tried: each try may take as long as a time-out.
const FAILURES_MAX: usize = 3;

/// The longest pause before a notice is tried again.
const PAUSE_MAX: Duration = Duration::from_hours(1);

/// A notice that is owed for so long is given up.
const OWED_FOR_MAX: Duration = Duration::from_hours(14 * 24);

/// Tells people, or sees to it that they are told later.
pub(crate) async fn tell(world: &impl World, notice: Notice) {
    tell_all(world, vec![notice]).await;
}

/// Tells people several things. After one that cannot be said the others are kept without a try.
pub(crate) async fn tell_all(world: &impl World, notices: Vec<Notice>) {
    let mut is_away = false;
    for notice in notices {
        if !is_away {
            let Err(error) = world.notifier().notify(notice.clone()).await else { continue };
            tracing::error!(%error, ?notice, "a notice cannot be sent; it is tried again later");
            is_away = true;
        }
        keep(world, notice).await;
    }
}

async fn keep(world: &impl World, notice: Notice) {
    let since = world.clock().now();
    let owed = OwedNotice::new(notice, since, after(since, world.timing().grace));
    match world.frontier().owe_notice(&owed).await {
        Ok(NoticeKept::Kept) => {}
        Ok(NoticeKept::Crowded) => {
            tracing::error!(notice = ?owed.notice, "too many notices are owed; this one is lost");
        }
        Err(error) => tracing::error!(%error, notice = ?owed.notice, "a notice cannot be kept; it is lost"),
    }
}

/// Tells people what is kept already. Whether they were told.
pub(crate) async fn tell_kept(world: &impl World, owed: &OwedNotice) -> bool {
    match world.notifier().notify(owed.notice.clone()).await {
        Ok(()) => {
            if let Err(error) = world.frontier().forget_notice(owed).await {
                tracing::warn!(%error, "a notice was sent, and will be once more");
            }
            true
        }
        Err(error) => {
            tracing::error!(%error, notice = ?owed.notice, "a notice cannot be sent; it is tried again later");
            let now = world.clock().now();
            let due = after(now, pause(between(owed.since, now), world.timing().grace));
            if let Err(error) = world.frontier().postpone_notice(owed, due).await {
                tracing::warn!(%error, "a notice cannot be postponed");
            }
            false
        }
    }
}

/// Tells people what is owed to them. How much of what was due is owed still.
///
/// # Errors
/// Those of the frontier, when it is asked what is owed.
pub async fn tell_owed(world: &impl World, due_by: jiff::Timestamp) -> PortResult<usize> {
    let owed = world.frontier().owed_notices(due_by, OWED_MAX).await?;
    let (mut left, mut failures) = (owed.len(), 0);
    for owed in owed {
        if failures == FAILURES_MAX {
            break;
        }
        if tell_kept(world, &owed).await {
            failures = 0;
            left -= 1;
        } else if between(owed.since, world.clock().now()) > OWED_FOR_MAX {
            tracing::error!(notice = ?owed.notice, "a notice that nobody could be told is given up");
            world.frontier().forget_notice(&owed).await?;
            left -= 1;
        } else {
            failures += 1;
        }
    }
    Ok(left)
}

/// How long to wait before something is said again that has been owed for so long already.
fn pause(owed_for: Duration, grace: Duration) -> Duration {
    owed_for.clamp(grace, PAUSE_MAX.max(grace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_what_was_waited() {
        let grace = Duration::from_secs(60);
        for (owed_s, pause_s, why) in
            [(0, 60, "at least the grace"), (600, 600, "as long again"), (86_400, 3_600, "an hour at most")]
        {
            assert_eq!(pause(Duration::from_secs(owed_s), grace).as_secs(), pause_s, "{why}");
        }
    }
}
