//! A clock that tests set by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dragline_ports::clock::Clock;
use jiff::Timestamp;

/// A clock that stands still until it is moved. Its clones move with it. A sleeper checks it at
/// each poll.
#[derive(Clone, Debug, Default)]
pub struct HandClock {
    millis: Arc<AtomicU64>,
}

impl HandClock {
    /// Moves the clock forward.
    pub fn pass(&self, time: Duration) {
        self.millis.fetch_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH.saturating_add(self.monotonic()).unwrap_or(Timestamp::MAX)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.millis.load(Ordering::Relaxed))
    }

    async fn sleep(&self, wait: Duration) {
        let end = self.monotonic() + wait;
        while self.monotonic() < end {
            tokio::task::yield_now().await;
        }
    }
}
