//! Whether requests kept their distance, by the server's clock.

use std::time::{Duration, Instant};

/// The first two requests that came closer together than the delay allows, by their indices.
///
/// On a busy machine a request may be seen up to `lateness` late. That can bring two requests
/// closer together, but does not add up: any `n` intervals must last at least `n × delay −
/// lateness`. This detects simultaneous requests, and a rate that is slightly too high for a long
/// time.
#[must_use]
pub fn too_close(arrivals: &[Instant], delay: Duration, lateness: Duration) -> Option<(usize, usize)> {
    let first = arrivals.first()?;
    // How far each arrival is ahead of an evenly spaced one; a later one may fall behind an earlier
    // one's by `lateness` at most.
    let mut furthest = (0, 0.0_f64);
    for (place, arrival) in arrivals.iter().enumerate() {
        let intervals = f64::from(u32::try_from(place).unwrap_or(u32::MAX));
        let ahead = arrival.duration_since(*first).as_secs_f64() - intervals * delay.as_secs_f64();
        if ahead < furthest.1 - lateness.as_secs_f64() {
            return Some((furthest.0, place));
        }
        if ahead >= furthest.1 {
            furthest = (place, ahead);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_come_too_close_are_found() {
        #[expect(clippy::disallowed_methods, reason = "only a reference point")]
        let start = Instant::now();
        for (arrivals_ms, expected, why) in [
            (vec![], None, "no requests"),
            (vec![0], None, "one"),
            (vec![0, 100, 200, 300], None, "evenly spaced"),
            (vec![0, 100, 500, 600], None, "a pause does no harm"),
            (vec![0, 140, 205, 300], None, "the second was seen late"),
            (vec![0, 500, 500], Some((1, 2)), "two at once, after a pause"),
            (vec![0, 40], Some((0, 1)), "much too early"),
            (vec![0, 80, 160, 240], Some((0, 3)), "a little too early, each time"),
        ] {
            let arrivals: Vec<_> = arrivals_ms.iter().map(|&ms| start + Duration::from_millis(ms)).collect();
            let found = too_close(&arrivals, Duration::from_millis(100), Duration::from_millis(50));
            assert_eq!(found, expected, "{arrivals_ms:?}: {why}");
        }
    }
}
