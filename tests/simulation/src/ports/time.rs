//! Time that the conductor moves, and random bits that it draws.

use std::time::Duration;

use dragline_ports::clock::{Clock, Rng};
use jiff::Timestamp;

use super::Gate;

/// When every run begins.
pub(crate) const START: Timestamp = Timestamp::constant(1_795_000_000, 0);

/// The clock of one worker.
#[derive(Clone)]
pub(crate) struct SimulatedClock(pub(crate) Gate);

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        self.0.conductor.worker_clock(self.0.worker)
    }

    fn monotonic(&self) -> Duration {
        self.0.conductor.now()
    }

    async fn sleep(&self, wait: Duration) {
        self.0.conductor.sleep(self.0.worker, wait).await;
    }
}

/// Random bits from the seed.
#[derive(Clone)]
pub(crate) struct SimulatedRng(pub(crate) Gate);

impl Rng for SimulatedRng {
    fn bits(&self) -> u128 {
        self.0.conductor.bits()
    }
}
