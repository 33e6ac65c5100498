//! Waiting before what AWS put off is asked again: exponential, with full jitter.
//!
//! The SDK does the same for requests that failed whole. What it does not know are parts of a batch that were put off, and
//! transactions that met another.

use std::sync::Arc;
use std::time::Duration;

use dragline_pipeline::ports::clock::Chance;

/// How often something is asked again.
const RETRIES_MAX: u32 = 8;

/// The longest first wait; each further one is twice as long at most.
const FIRST_WAIT_MAX: Duration = Duration::from_millis(50);

/// The longest wait of all.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// The waits of one operation.
pub(crate) struct Backoff {
    chance: Arc<dyn Chance>,
    retries: u32,
}

/// It was asked often enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Backoff {
    pub(crate) fn new(chance: &Arc<dyn Chance>) -> Self {
        Self { chance: Arc::clone(chance), retries: 0 }
    }

    /// Waits before another try.
    pub(crate) async fn wait(&mut self) -> Result<(), Exhausted> {
        if self.retries == RETRIES_MAX {
            return Err(Exhausted);
        }
        tokio::time::sleep(jittered(self.retries, self.chance.bits())).await;
        self.retries += 1;
        Ok(())
    }
}

/// The wait before a retry, anywhere between nothing and its longest.
fn jittered(retries: u32, bits: u128) -> Duration {
    let longest = FIRST_WAIT_MAX.saturating_mul(2_u32.saturating_pow(retries)).min(WAIT_MAX);
    let share = u32::try_from(bits & 0xffff).unwrap_or(0);
    longest * share / 0xffff
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(u128);

    impl Chance for Fixed {
        fn bits(&self) -> u128 {
            self.0
        }
    }

    #[test]
    fn waits_double_up_to_a_cap_and_lie_anywhere_below() {
        for (retries, bits, millis, why) in [
            (0, u128::MAX, 50, "the longest first wait"),
            (0, 0, 0, "the shortest"),
            (3, u128::MAX, 400, "doubled three times"),
            (30, u128::MAX, 2_000, "never beyond the cap"),
            (3, 0x8000, 200, "about half"),
        ] {
            assert_eq!(jittered(retries, bits).as_millis(), millis, "{why}");
        }
    }

    #[tokio::test]
    async fn retries_end() {
        let chance: Arc<dyn Chance> = Arc::new(Fixed(0));
        let mut backoff = Backoff::new(&chance);
        for retry in 0..RETRIES_MAX {
            assert_eq!(backoff.wait().await, Ok(()), "retry {retry}");
        }
        assert_eq!(backoff.wait().await, Err(Exhausted));
    }
}
