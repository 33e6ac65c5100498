//! The machine's own clock and random bits: the adapters of the `Clock` and `Rng` ports; also the
//! CPU time of a process.

#![expect(clippy::disallowed_methods, reason = "these are the ports that everything else asks")]

use std::time::{Duration, Instant};

use crate::clock::{Clock, Rng};
use jiff::Timestamp;
use uuid::Uuid;

/// The largest delay of the runtime's timer, provided that there is a thread to run on.
const TIMER_LATENESS_MAX: Duration = Duration::from_micros(1_500);

/// The longest sleep for which that matters. A thread waits for the end of each shorter one, and
/// thousands of origins sleep at the same time.
const EXACT_SLEEP_MAX: Duration = Duration::from_millis(250);

/// The machine's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Creates a clock whose monotonic readings start now.
    #[must_use]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    /// Wakes a quarter of a millisecond late on an idle machine, or one and a half after a long
    /// sleep: for a delay of 50 ms, that would be three percent.
    async fn sleep(&self, wait: Duration) {
        if wait > EXACT_SLEEP_MAX {
            return tokio::time::sleep(wait).await;
        }
        let until = Instant::now() + wait;
        // The runtime's timer counts whole milliseconds, and rounds up.
        if let Some(most) = wait.checked_sub(TIMER_LATENESS_MAX) {
            tokio::time::sleep(most).await;
        }
        // The rest includes the time that it takes to wake another thread.
        let rest = move || until.saturating_duration_since(Instant::now());
        if !rest().is_zero() && tokio::task::spawn_blocking(move || std::thread::sleep(rest())).await.is_err() {
            tokio::time::sleep(rest()).await;
        }
    }
}

/// Returns the CPU time of this process, over all its threads.
#[must_use]
pub fn cpu_time() -> Duration {
    let taken = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    // The system never gives less than zero; if it did, zero would be right.
    Duration::try_from(taken).unwrap_or_default()
}

/// Raises the process's limit on open files as far as allowed, and returns the new limit.
#[must_use]
pub fn raise_open_files() -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let soft = limit.current;
    limit.current = limit.maximum;
    // Some systems refuse their own maximum. The earlier limit will do, too.
    let allowed = if setrlimit(Resource::Nofile, limit).is_ok() { limit.maximum } else { soft };
    allowed.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX))
}

/// The operating system's random bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRng;

impl Rng for SystemRng {
    /// Returns a UUID of version 4: 122 random bits and six fixed ones.
    fn bits(&self) -> u128 {
        Uuid::new_v4().as_u128()
    }
}
