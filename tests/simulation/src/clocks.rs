//! Clocks that show the wrong time: they are set while the crawl runs, and differ between workers.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::ports::START;
use crate::worker::Worker;

/// The largest difference between well-kept clocks. Leases and hosts are taken over this much later
/// than they end to allow for it.
const APART_MS: i64 = 200;

/// The most that a clock is set back by: lost work is sent again when a clock says so.
const BACK_MAX_S: i64 = 3_600;

/// What the clocks show, drawn from the seed.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    /// When, in the run's time, a clock is set, and by how much.
    steps: Vec<(Duration, SignedDuration)>,
    drifts: [SignedDuration; 8],
    /// What a good clock shows at the beginning of the run.
    began: Timestamp,
}

impl Clocks {
    pub(crate) fn of_seed(seed: u64) -> Self {
        let mut dice = StdRng::seed_from_u64(seed.rotate_left(16));
        let mut clocks = Self { steps: Vec::new(), drifts: [SignedDuration::ZERO; 8], began: START };
        match dice.random_range(0..10) {
            0 | 1 => {
                for _ in 0..dice.random_range(1..4) {
                    let at = Duration::from_millis(dice.random_range(0..60_000));
                    let ahead = dice.random_bool(0.7);
                    let by_s = if ahead { dice.random_range(60..200_000) } else { -dice.random_range(1..BACK_MAX_S) };
                    clocks.steps.push((at, SignedDuration::from_secs(by_s)));
                }
            }
            2 | 3 => clocks.drift(&mut dice),
            _ => {}
        }
        clocks
    }

    /// Clocks that nobody sets, from this time on.
    pub(crate) fn well_kept(seed: u64, began: Timestamp) -> Self {
        let mut dice = StdRng::seed_from_u64(seed.rotate_left(16));
        let mut clocks = Self { steps: Vec::new(), drifts: [SignedDuration::ZERO; 8], began };
        if dice.random_bool(0.3) {
            clocks.drift(&mut dice);
        }
        clocks
    }

    fn drift(&mut self, dice: &mut StdRng) {
        for drift in &mut self.drifts {
            *drift = SignedDuration::from_millis(dice.random_range(-APART_MS / 2..=APART_MS / 2));
        }
    }

    /// Whether a clock is set during the run.
    pub(crate) fn are_set(&self) -> bool {
        !self.steps.is_empty()
    }

    /// The largest difference between the clocks of two workers.
    pub(crate) fn apart(&self) -> Duration {
        2 * self.drifts.iter().map(|drift| drift.unsigned_abs()).max().unwrap_or_default()
    }

    /// The largest difference between a clock and any clock that was never set.
    pub(crate) fn wrong_by(&self) -> Duration {
        self.apart() + self.steps.iter().map(|(_, by)| by.unsigned_abs()).sum::<Duration>()
    }

    /// The time that the machine's clock shows.
    pub(crate) fn machine(&self, now: Duration) -> Timestamp {
        self.show(now, SignedDuration::ZERO)
    }

    /// The time that a worker's clock shows.
    pub(crate) fn of(&self, worker: Worker, now: Duration) -> Timestamp {
        self.show(now, self.drifts[worker.number() % self.drifts.len()])
    }

    fn show(&self, now: Duration, drift: SignedDuration) -> Timestamp {
        let set = self.steps.iter().filter(|(at, _)| *at <= now).map(|(_, by)| *by);
        let passed = SignedDuration::try_from(now).unwrap_or(SignedDuration::MAX);
        self.began.saturating_add(set.fold(passed + drift, |sum, by| sum + by)).unwrap_or(Timestamp::MAX)
    }
}
