//! Backoff, exponential with full jitter: before postponed parts of a request are sent again, and
//! before an operation is decided again because others changed its rows.
//!
//! The SDK does the same for whole requests that failed. It does not handle postponed parts of a
//! batch, conflicting transactions, or writes whose condition no longer holds.

use std::sync::Arc;
use std::time::Duration;

use dragline_ports::clock::Rng;

use crate::errors::StoreError;

/// The most retries.
const RETRIES_MAX: u32 = 8;

/// The upper limit of the first wait; each further one is at most twice as long.
const FIRST_WAIT_MAX: Duration = Duration::from_millis(50);

/// The upper limit of every wait.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// The state of one operation's waits.
pub(crate) struct Backoff {
    rng: Arc<dyn Rng>,
    retries: u32,
    retries_max: u32,
}

/// All retries are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Backoff {
    pub(crate) fn new(rng: &Arc<dyn Rng>) -> Self {
        Self::with_retries(rng, RETRIES_MAX)
    }

    fn with_retries(rng: &Arc<dyn Rng>, retries_max: u32) -> Self {
        Self { rng: Arc::clone(rng), retries: 0, retries_max }
    }

    /// Waits before another try.
    pub(crate) async fn wait(&mut self) -> Result<(), Exhausted> {
        if self.retries == self.retries_max {
            return Err(Exhausted);
        }
        tokio::time::sleep(jitter(self.retries, self.rng.bits())).await;
        self.retries += 1;
        Ok(())
    }
}

/// How often an operation reads and decides before it gives up.
const ROUNDS_MAX: u32 = 16;

/// The rounds of an operation that reads, decides, and writes under the condition that what it read
/// is unchanged.
///
/// Of several concurrent writers one always succeeds, and the others decide again. If they did so
/// at once, a slow one would lose to each of the quick ones; so each waits for a random time.
pub(crate) struct Rounds {
    backoff: Backoff,
    is_first: bool,
}

impl Rounds {
    pub(crate) fn new(rng: &Arc<dyn Rng>) -> Self {
        Self { backoff: Backoff::with_retries(rng, ROUNDS_MAX - 1), is_first: true }
    }

    /// Begins a round: the first at once, each further one after a wait, as another writer was
    /// faster.
    ///
    /// # Errors
    /// Returns [`StoreError::Contended`] if another writer was faster each time.
    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        if std::mem::take(&mut self.is_first) {
            return Ok(());
        }
        self.backoff.wait().await.map_err(|Exhausted| StoreError::Contended(ROUNDS_MAX))
    }
}

/// Returns the wait before a retry, anywhere between zero and its upper limit.
fn jitter(retries: u32, bits: u128) -> Duration {
    let longest = FIRST_WAIT_MAX.saturating_mul(2_u32.saturating_pow(retries)).min(WAIT_MAX);
    let share = u32::try_from(bits & 0xffff).unwrap_or(0);
    longest * share / 0xffff
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    struct Fixed(u128);

    impl Rng for Fixed {
        fn bits(&self) -> u128 {
            self.0
        }
    }

    #[test]
    fn wait_limits_double_up_to_a_cap() {
        for (retries, bits, millis, why) in [
            (0, u128::MAX, 50, "the longest first wait"),
            (0, 0, 0, "the shortest"),
            (3, u128::MAX, 400, "doubled three times"),
            (30, u128::MAX, 2_000, "never beyond the cap"),
            (3, 0x8000, 200, "about half"),
        ] {
            assert_eq!(jitter(retries, bits).as_millis(), millis, "{why}");
        }
    }

    #[tokio::test]
    async fn retries_end() {
        let rng: Arc<dyn Rng> = Arc::new(Fixed(0));
        let mut backoff = Backoff::new(&rng);
        for retry in 0..RETRIES_MAX {
            assert_eq!(backoff.wait().await, Ok(()), "retry {retry}");
        }
        assert_eq!(backoff.wait().await, Err(Exhausted));
    }

    #[tokio::test(start_paused = true)]
    async fn each_round_but_the_first_begins_after_a_wait_and_rounds_end() {
        let rng: Arc<dyn Rng> = Arc::new(Fixed(u128::MAX));
        let mut rounds = Rounds::new(&rng);
        assert!(rounds.begin().now_or_never().is_some(), "nobody was faster yet");
        for _ in 1..ROUNDS_MAX {
            assert!(rounds.begin().now_or_never().is_none(), "others were");
            rounds.begin().await.unwrap();
        }
        assert!(matches!(rounds.begin().await, Err(StoreError::Contended(ROUNDS_MAX))));
    }
}
