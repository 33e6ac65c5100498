//! How fast bodies are read.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragline_domain::politeness::transfer_time;
use tokio::time::Instant;

use crate::timing;

/// How far the bytes may be ahead of a rate before nothing more is requested.
const AHEAD_MAX: Duration = Duration::from_secs(1);

/// A number of bytes a second that is not exceeded on average. Clones share their count.
#[derive(Clone, Debug)]
pub struct ByteRate {
    bytes_per_second: u64,
    /// When all bytes that have come would have come at the rate.
    paid_at: Arc<Mutex<Instant>>,
}

impl ByteRate {
    /// Returns a rate, of which nothing is used.
    #[must_use]
    pub fn new(bytes_per_second: u64) -> Self {
        Self { bytes_per_second, paid_at: Arc::new(Mutex::new(timing::now())) }
    }

    /// Counts bytes that have come, and returns how long to read nothing.
    pub(crate) fn count(&self, bytes: usize) -> Duration {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let now = timing::now();
        let mut paid_at = self.paid_at.lock().unwrap_or_else(PoisonError::into_inner);
        *paid_at = timing::deadline((*paid_at).max(now), transfer_time(bytes, self.bytes_per_second));
        paid_at.saturating_duration_since(now)
    }

    /// Whether so much has come that nothing more should be requested for now.
    pub(crate) fn is_far_ahead(&self) -> bool {
        let paid_at = *self.paid_at.lock().unwrap_or_else(PoisonError::into_inner);
        paid_at.saturating_duration_since(timing::now()) > AHEAD_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn bytes_come_at_the_rate_on_average() {
        let rate = ByteRate::new(1_000);
        for (advance_ms, bytes, rest_ms, why) in [
            (0, 500, 500, "half a second's worth"),
            (0, 500, 1_000, "and as much again at once"),
            (1_000, 100, 100, "after a rest"),
            (10_000, 100, 100, "time that passed unused is not saved up"),
        ] {
            tokio::time::advance(Duration::from_millis(advance_ms)).await;
            assert_eq!(rate.clone().count(bytes), Duration::from_millis(rest_ms), "{why}");
        }
        assert!(!rate.is_far_ahead(), "a tenth of a second");
        rate.count(2_000);
        assert!(rate.is_far_ahead());
        tokio::time::advance(Duration::from_millis(1_100)).await;
        assert!(!rate.is_far_ahead(), "what was too much is over");
    }
}
