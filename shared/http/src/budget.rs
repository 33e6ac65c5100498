//! How many bytes of bodies are being received at once, all requests together.
//!
//! Most bodies are small, so each takes a small share before its first byte is read. One that outgrows it takes all that
//! it may still need from a lane for large bodies, and reads on only then; meanwhile TCP holds the server back.
//!
//! There is no deadlock: who holds nothing waits for a share; who waits for the lane holds only a share; who has room in
//! the lane waits for nothing. Both wait in line, so a large body is not overtaken for ever.
//!
//! Waiting counts against the request's total time, as the connection is kept waiting too: a body cut so is flagged
//! `Truncation::Time`. The request itself is sent without waiting, since when it starts is politeness's decision.
//!
//! The room is given back when the body is complete. From then on whoever keeps the body counts it: if a body held its
//! room until it is stored, a segment that waits for its next page could starve that very page.

use tokio::sync::{Semaphore, SemaphorePermit};

/// What a body may use before it has to ask for more.
pub(crate) const SHARE_BYTES: usize = 256 << 10;

/// The large lane is counted in these, as a semaphore takes at most `u32::MAX` permits at once.
const UNIT_BYTES: usize = 1 << 10;

/// The room for bodies being received.
#[derive(Debug)]
pub(crate) struct ByteBudget {
    shares: Semaphore,
    lane: Semaphore,
    lane_units: u32,
}

impl ByteBudget {
    /// A quarter for small shares, at least one; the rest for large bodies.
    pub(crate) fn new(bytes_max: usize) -> Self {
        let shares = (bytes_max / 4 / SHARE_BYTES).max(1);
        let rest = bytes_max.saturating_sub(shares * SHARE_BYTES);
        let lane_units = u32::try_from(rest / UNIT_BYTES).unwrap_or(u32::MAX).max(1);
        Self { shares: Semaphore::new(shares), lane: Semaphore::new(lane_units as usize), lane_units }
    }

    /// Waits for a small share.
    pub(crate) async fn share(&self) -> Room<'_> {
        let share = self.shares.acquire().await.expect("the semaphore is never closed");
        Room { budget: self, _share: share, lane: None }
    }

    /// Waits for room for `bytes` in the lane. More than the whole lane is given the whole lane: a limit above the
    /// budget exceeds it, but by one body at a time.
    async fn lane(&self, bytes: usize) -> SemaphorePermit<'_> {
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX).min(self.lane_units);
        self.lane.acquire_many(units).await.expect("the semaphore is never closed")
    }
}

/// The room of one body, given back when dropped.
#[derive(Debug)]
pub(crate) struct Room<'a> {
    budget: &'a ByteBudget,
    _share: SemaphorePermit<'a>,
    lane: Option<SemaphorePermit<'a>>,
}

impl Room<'_> {
    /// Waits until there is room for `bytes`, of `bytes_max` at most. Once past the share, the whole rest is taken.
    pub(crate) async fn hold(&mut self, bytes: usize, bytes_max: usize) {
        if bytes > SHARE_BYTES && self.lane.is_none() {
            self.lane = Some(self.budget.lane(bytes_max.saturating_sub(SHARE_BYTES)).await);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use futures_util::future::join_all;

    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn the_parts_make_up_the_whole() {
        let cases = [
            (64 * MIB, 64, 48 * 1024, "the default"),
            (MIB, 1, 768, "the least that works as intended"),
            (0, 1, 1, "nothing: one body at a time all the same"),
        ];
        for (bytes_max, shares, units, why) in cases {
            let budget = ByteBudget::new(bytes_max);
            assert_eq!((budget.shares.available_permits(), budget.lane_units), (shares, units), "{why}");
        }
    }

    #[test]
    fn large_bodies_wait_for_one_another_and_small_ones_for_none_of_them() {
        let budget = ByteBudget::new(8 * MIB);
        let share = || budget.share().now_or_never().expect("a share is free");
        let mut first = share();
        assert!(first.hold(SHARE_BYTES, 10 * MIB).now_or_never().is_some(), "within its share");
        assert!(
            first.hold(SHARE_BYTES + 1, 10 * MIB).now_or_never().is_some(),
            "the lane is free; 10 MiB get all of it"
        );
        assert!(first.hold(9 * MIB, 10 * MIB).now_or_never().is_some(), "the whole rest was taken at once");
        let mut second = share();
        assert!(second.hold(SHARE_BYTES + 1, MIB).now_or_never().is_none(), "the lane is taken");
        assert!(share().hold(1000, MIB).now_or_never().is_some(), "a small body goes on");
        drop(first);
        assert!(second.hold(SHARE_BYTES + 1, MIB).now_or_never().is_some(), "given back");
        drop(second);
        assert_eq!(budget.lane.available_permits(), budget.lane_units as usize, "nothing is lost");
    }

    #[tokio::test]
    async fn many_large_bodies_in_little_room_all_get_through() {
        let budget = ByteBudget::new(2 * MIB);
        let one = |n: usize| {
            let budget = &budget;
            async move {
                let mut room = budget.share().await;
                for bytes in (0..2 * MIB).step_by(SHARE_BYTES / 2) {
                    room.hold(bytes, MIB + n * SHARE_BYTES).await;
                    tokio::task::yield_now().await;
                }
                n
            }
        };
        let done = join_all((0..50).map(one)).await;
        assert_eq!(done, (0..50).collect::<Vec<_>>());
    }
}
