//! The memory for bodies being received, for all requests together.
//!
//! Most bodies are small, so each takes a small share before its first byte is read. One that
//! outgrows it takes more as its bytes arrive, from a lane for large bodies, and reads on only
//! then; meanwhile TCP holds the server back. The possible size of a body is not reserved: a server
//! that sends a large one slowly would keep everybody else waiting for room that it does not use.
//!
//! There is no deadlock although all of them grow: the oldest in the lane never waits. If nothing
//! is left it exceeds the budget, by one body at most. The others wait in line.
//!
//! The shortage is ours, so waiting does not count against the request's time: see [`Patience`].
//! The request itself is sent without waiting, since politeness decides when it starts.
//!
//! The room is freed when the body is complete. From then on the body's owner counts it: if a body
//! held its room until it is stored, a segment that waits for its next page could starve that very
//! page.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::time::{Instant, timeout, timeout_at};

use crate::timing;

/// The bytes that a body may use before it has to ask for more.
pub(crate) const SHARE_BYTES: usize = 256 << 10;

/// The large lane is counted in these units, as a semaphore has at most `u32::MAX` permits.
const UNIT_BYTES: usize = 1 << 10;

/// The room for bodies being received.
#[derive(Debug)]
pub(crate) struct ByteBudget {
    shares: Semaphore,
    lane: Semaphore,
    elders: Mutex<LargeLane>,
    /// The number of the oldest body in the lane.
    eldest: watch::Sender<u64>,
}

/// The bodies in the lane, in order of arrival.
#[derive(Debug, Default)]
struct LargeLane {
    came: u64,
    there: BTreeSet<u64>,
}

impl ByteBudget {
    /// Returns a budget: a quarter for small shares, at least one; the rest for large bodies.
    pub(crate) fn new(bytes_max: usize) -> Self {
        let shares = (bytes_max / 4 / SHARE_BYTES).max(1);
        let rest = bytes_max.saturating_sub(shares * SHARE_BYTES);
        let lane_units = (rest / UNIT_BYTES).clamp(1, Semaphore::MAX_PERMITS);
        let (shares, lane) = (Semaphore::new(shares), Semaphore::new(lane_units));
        Self { shares, lane, elders: Mutex::default(), eldest: watch::Sender::new(u64::MAX) }
    }

    /// Waits for a small share.
    pub(crate) async fn share(&self) -> Room<'_> {
        let share = self.shares.acquire().await.expect("the semaphore is never closed");
        Room { budget: self, _share: share, lane: None }
    }

    fn enter(&self) -> LanePlace<'_> {
        let mut elders = self.elders.lock().unwrap_or_else(PoisonError::into_inner);
        let number = elders.came;
        elders.came += 1;
        elders.there.insert(number);
        self.tell(&elders);
        LanePlace { budget: self, number, units: 0, held: None }
    }

    fn leave(&self, number: u64) {
        let mut elders = self.elders.lock().unwrap_or_else(PoisonError::into_inner);
        elders.there.remove(&number);
        self.tell(&elders);
    }

    fn tell(&self, elders: &LargeLane) {
        self.eldest.send_replace(elders.there.first().copied().unwrap_or(u64::MAX));
    }
}

/// The room of one body, freed on drop.
#[derive(Debug)]
pub(crate) struct Room<'a> {
    budget: &'a ByteBudget,
    _share: SemaphorePermit<'a>,
    lane: Option<LanePlace<'a>>,
}

impl Room<'_> {
    /// Waits until there is room for `bytes` in total.
    pub(crate) async fn hold(&mut self, bytes: usize) {
        if bytes > SHARE_BYTES {
            let lane = self.lane.get_or_insert_with(|| self.budget.enter());
            lane.grow(bytes - SHARE_BYTES).await;
        }
    }
}

/// A place in the lane.
#[derive(Debug)]
struct LanePlace<'a> {
    budget: &'a ByteBudget,
    number: u64,
    /// Its size. It holds less if it is, or was, the oldest.
    units: usize,
    held: Option<SemaphorePermit<'a>>,
}

impl LanePlace<'_> {
    async fn grow(&mut self, bytes: usize) {
        let more = bytes.div_ceil(UNIT_BYTES).saturating_sub(self.units);
        let Some(units) = u32::try_from(more).ok().filter(|units| *units > 0) else { return };
        let mut eldest = self.budget.eldest.subscribe();
        tokio::select! {
            biased;
            permit = self.budget.lane.acquire_many(units) => {
                let permit = permit.expect("the semaphore is never closed");
                match &mut self.held {
                    Some(held) => held.merge(permit),
                    none => *none = Some(permit),
                }
            }
            // The budget holds the sender, so this never fails.
            _ = eldest.wait_for(|eldest| *eldest == self.number) => {}
        }
        self.units += more;
    }
}

impl Drop for LanePlace<'_> {
    fn drop(&mut self) {
        self.budget.leave(self.number);
    }
}

/// The time limit of one request, which does not run while it waits for room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    deadline: Instant,
    /// How much longer it may wait for room.
    left: Duration,
    /// How much longer it may rest.
    rest_left: Duration,
    /// How long it waited for room, or rested.
    pub(crate) waited: Duration,
}

/// There was no room for longer than a request may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl Patience {
    /// Starts with the time until the deadline, which waiting for room extends, but by no more than
    /// `room_wait_max`.
    pub(crate) fn new(deadline: Instant, room_wait_max: Duration) -> Self {
        Self { deadline, left: room_wait_max, rest_left: room_wait_max / 2, waited: Duration::ZERO }
    }

    /// Waits for the server, within the time left for it; `None` when that is over.
    pub(crate) async fn server<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        timeout_at(self.deadline, work).await.ok()
    }

    /// Waits for room while the server's time is suspended.
    pub(crate) async fn room<T>(&mut self, room: impl Future<Output = T>) -> Result<T, NoRoom> {
        let began = timing::now();
        let found = timeout(self.left, room).await;
        let waited = began.elapsed();
        self.deadline += waited;
        self.left = self.left.saturating_sub(waited);
        self.waited += waited;
        found.map_err(|_| NoRoom)
    }

    /// Reads nothing for this long, while the server's time is suspended. All rests together take
    /// no longer than half of what may be waited for room, so that a request that began in time
    /// ends in time.
    pub(crate) async fn rest(&mut self, rest: Duration) {
        let rest = rest.min(self.rest_left);
        if rest.is_zero() {
            // A timer takes a millisecond at least, and there may be thousands of chunks.
            return;
        }
        tokio::time::sleep(rest).await;
        self.deadline += rest;
        self.rest_left -= rest;
        self.waited += rest;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use futures_util::future::join_all;

    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn the_parts_add_up_to_the_budget() {
        let cases = [
            (64 * MIB, 64, 48 * 1024, "the default"),
            (MIB, 1, 768, "the smallest that works as intended"),
            (0, 1, 1, "nothing: still one body at a time"),
        ];
        for (bytes_max, shares, units, why) in cases {
            let budget = ByteBudget::new(bytes_max);
            assert_eq!((budget.shares.available_permits(), budget.lane.available_permits()), (shares, units), "{why}");
        }
    }

    #[test]
    fn a_body_does_not_block_room_that_it_does_not_use() {
        let budget = ByteBudget::new(8 * MIB);
        let share = || budget.share().now_or_never().expect("a share is free");
        let (mut drips, mut quick, mut third) = (share(), share(), share());
        assert!(drips.hold(SHARE_BYTES).now_or_never().is_some(), "within its share");
        assert!(drips.hold(2 * MIB).now_or_never().is_some(), "there is room");
        assert!(quick.hold(4 * MIB).now_or_never().is_some(), "the rest is anybody's");
        assert!(third.hold(2 * MIB).now_or_never().is_none(), "until it is used up");
        assert!(share().hold(1000).now_or_never().is_some(), "a small body goes on");
        assert!(drips.hold(20 * MIB).now_or_never().is_some(), "and so does the oldest, beyond the budget");
        drop(drips);
        assert!(quick.hold(20 * MIB).now_or_never().is_some(), "another one is the oldest now");
        assert!(third.hold(2 * MIB).now_or_never().is_some(), "what the first one had came back");
        drop((quick, third));
        assert_eq!(budget.lane.available_permits(), 6 * 1024, "nothing is lost");
    }

    #[tokio::test]
    async fn many_large_bodies_in_little_room_all_get_through() {
        let budget = ByteBudget::new(2 * MIB);
        let one = |n: usize| {
            let budget = &budget;
            async move {
                let mut room = budget.share().await;
                for bytes in (0..MIB + n * SHARE_BYTES).step_by(SHARE_BYTES / 2) {
                    room.hold(bytes).await;
                    tokio::task::yield_now().await;
                }
                n
            }
        };
        let done = join_all((0..50).map(one)).await;
        assert_eq!(done, (0..50).collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_room_does_not_count_against_the_server() {
        let second = Duration::from_secs(1);
        let mut patience = Patience::new(timing::now() + 2 * second, 10 * second);
        assert_eq!(patience.room(tokio::time::sleep(7 * second)).await, Ok(()));
        assert_eq!(patience.server(tokio::time::sleep(second)).await, Some(()), "its two seconds are all there");
        assert_eq!(patience.server(tokio::time::sleep(2 * second)).await, None, "of which one was left");
        assert_eq!(patience.room(tokio::time::sleep(7 * second)).await, Err(NoRoom), "three were left to wait");
        assert_eq!(patience.waited, 10 * second);
    }

    #[tokio::test(start_paused = true)]
    async fn resting_does_not_count_against_the_server_and_ends_in_time() {
        let second = Duration::from_secs(1);
        let began = timing::now();
        let mut patience = Patience::new(began + 2 * second, 10 * second);
        patience.rest(3 * second).await;
        assert_eq!(patience.server(tokio::time::sleep(second)).await, Some(()), "its two seconds are all there");
        patience.rest(7 * second).await;
        assert_eq!((began.elapsed(), patience.waited), (6 * second, 5 * second), "half of ten, of which two were left");
        assert_eq!(patience.room(tokio::time::sleep(9 * second)).await, Ok(()), "room is waited for all the same");
    }
}
