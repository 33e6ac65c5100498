//! Time and random bits.

use std::collections::HashSet;
use std::time::Duration;

use dragline_ports::clock::{Clock, Rng};

/// Runs every behaviour of a clock and an rng on `((clock, rng), guard)`, which the future given
/// makes; the guard is dropped after the test.
#[macro_export]
macro_rules! time_suite {
    ($make:expr) => {
        $crate::behaviours! { time, $make;
            readings_never_go_back
            a_sleep_takes_its_time
            bits_are_not_repeated
        }
    };
}

/// Each reading of the monotonic clock is at least the last one.
pub async fn readings_never_go_back((clock, _): &(impl Clock, impl Rng)) {
    let mut last = clock.monotonic();
    for number in 0..100_000 {
        let reading = clock.monotonic();
        assert!(reading >= last, "reading {number}: {reading:?} after {last:?}");
        last = reading;
    }
}

/// A sleep lasts at least as long as requested, by the same clock.
pub async fn a_sleep_takes_its_time((clock, _): &(impl Clock, impl Rng)) {
    for wait in [0, 1, 20].map(Duration::from_millis) {
        let before = clock.monotonic();
        clock.sleep(wait).await;
        let slept = clock.monotonic() - before;
        assert!(slept >= wait, "{slept:?} of {wait:?}");
    }
}

/// No draw repeats, nor does either half of one, so that both ends of a token are usable.
pub async fn bits_are_not_repeated((_, rng): &(impl Clock, impl Rng)) {
    let draws: Vec<u128> = (0..10_000).map(|_| rng.bits()).collect();
    let halves: [fn(u128) -> u128; 3] = [|bits| bits, |bits| bits >> 64, |bits| bits & u128::from(u64::MAX)];
    for half in halves {
        let distinct: HashSet<u128> = draws.iter().map(|&bits| half(bits)).collect();
        assert_eq!(distinct.len(), draws.len());
    }
}
