//! When the next request to an origin may start.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dragline_domain::outcome::Outcome;
use dragline_domain::politeness::Pace;
use dragline_domain::time::after;
use jiff::Timestamp;

use crate::ports::clock::Clock;

/// Keeps the delay between the starts of requests to one origin, over however many are under way at once.
///
/// The server's clock counts, and a request on a new connection reaches the server a handshake later than it started here. So where that
/// can make a difference, the delay counts from the response header instead of from the start: see [`Pacer::answered`].
#[derive(Debug)]
pub(super) struct Pacer {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    pace: Pace,
    /// The monotonic reading before which no request starts.
    next_start: Duration,
    /// The monotonic reading that the delay counts from; absent before the turn's first request.
    counted_from: Option<Duration>,
    /// Whether the next request may have to open a connection.
    may_connect: bool,
    /// When a refusal was counted last, by the monotonic clock. Those of requests whose start was set before say the same once more.
    refused_at: Option<Duration>,
}

/// How a request went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answered {
    /// When its start was set, by the monotonic clock.
    pub reserved: Duration,
    /// When it started, likewise.
    pub started: Duration,
    /// Absent without a response.
    pub status: Option<u16>,
    /// From its start to its response header; absent without one.
    pub first_byte: Option<Duration>,
    /// From its start to its end.
    pub elapsed: Duration,
}

impl Pacer {
    /// A pacer that starts nothing before `not_before`.
    pub(super) fn new(pace: Pace, not_before: Timestamp, clock: &impl Clock) -> Self {
        let wait = dragline_domain::time::between(clock.now(), not_before);
        let next_start = clock.monotonic() + wait;
        Self { state: Mutex::new(State { pace, next_start, counted_from: None, may_connect: true, refused_at: None }) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pace of now.
    pub(super) fn pace(&self) -> Pace {
        self.state().pace
    }

    /// Keeps this delay from now on, the request for the robots.txt that says so included.
    ///
    /// If it is longer than the lease knew, a holder that died may have known and asked until just now: it is kept before the turn's
    /// first request, too.
    pub(super) fn slow_down_to(&self, base_delay: Duration, clock: &impl Clock) {
        let mut state = self.state();
        let is_news = base_delay > state.pace.base_delay;
        state.pace.base_delay = base_delay;
        if let Some(counted_from) = state.counted_from.or_else(|| is_news.then(|| clock.monotonic())) {
            state.next_start = state.next_start.max(counted_from + state.pace.delay());
        }
    }

    /// How long it is until the next request may start.
    pub(super) fn wait(&self, clock: &impl Clock) -> Duration {
        self.state().next_start.saturating_sub(clock.monotonic())
    }

    /// The monotonic reading at which the next request may start; the one after it, a delay later.
    pub(super) fn reserve(&self, clock: &impl Clock) -> Duration {
        let mut state = self.state();
        let start = state.next_start.max(clock.monotonic());
        state.next_start = start + state.pace.delay();
        state.counted_from = Some(start);
        start
    }

    /// Takes note of how a request went.
    pub(super) fn answered(&self, clock: &impl Clock, answer: &Answered, keeps_connection: bool) {
        let Answered { reserved, started, status, first_byte, elapsed } = *answer;
        let mut state = self.state();
        let is_refusal = status.is_some_and(|status| Outcome::of_status(status).is_refusal());
        let is_counted = !is_refusal || state.refused_at.is_none_or(|at| reserved >= at);
        let back_off_exponent = state.pace.back_off_exponent;
        state.pace = state.pace.after_response(status, elapsed);
        if !is_counted {
            state.pace.back_off_exponent = back_off_exponent;
        } else if is_refusal {
            state.refused_at = Some(clock.monotonic());
        }
        let delay = state.pace.delay();
        let header_at = first_byte.map_or_else(|| clock.monotonic(), |first_byte| started + first_byte);
        let is_cheap = first_byte.is_some_and(|first_byte| first_byte.saturating_mul(20) <= delay);
        let counted_from = if state.may_connect || is_cheap { header_at } else { started };
        state.may_connect = status.is_none() || !keeps_connection;
        state.counted_from = state.counted_from.max(Some(counted_from));
        if !delay.is_zero() {
            state.next_start = state.next_start.max(counted_from + delay);
        }
    }

    /// Starts nothing for so long from now: the server asked for it.
    pub(super) fn hold_off(&self, clock: &impl Clock, wait: Duration) {
        let mut state = self.state();
        state.next_start = state.next_start.max(clock.monotonic() + wait);
    }

    /// Starts nothing before this monotonic reading.
    pub(super) fn rest_until(&self, reading: Duration) {
        let mut state = self.state();
        state.next_start = state.next_start.max(reading);
    }

    /// The monotonic reading before which nothing starts.
    pub(super) fn rests_until(&self) -> Duration {
        self.state().next_start
    }

    /// When the next request may start, by the clock that is stored.
    pub(super) fn not_before(&self, clock: &impl Clock) -> Timestamp {
        after(clock.now(), self.wait(clock))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    thread_local! {
        static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    /// A clock that stands still until it is set.
    struct Hand;

    impl Clock for Hand {
        fn now(&self) -> Timestamp {
            after(Timestamp::UNIX_EPOCH, NOW.get())
        }

        fn monotonic(&self) -> Duration {
            NOW.get()
        }

        async fn sleep(&self, _wait: Duration) {}
    }

    /// One request at a time, each answered with 200: when each starts, and when it reaches the server, which is `connects` later.
    fn starts(delay: Duration, answers: &[(Duration, Duration, bool)]) -> Vec<(Duration, Duration)> {
        NOW.set(Duration::ZERO);
        let pacer = Pacer::new(Pace::new(delay), Timestamp::UNIX_EPOCH, &Hand);
        let mut seen = Vec::new();
        for &(connect, answer, keeps) in answers {
            let start = pacer.reserve(&Hand);
            NOW.set(start + connect + answer);
            seen.push((start, start + connect));
            let took = connect + answer;
            let answer =
                Answered { reserved: start, started: start, status: Some(200), first_byte: Some(took), elapsed: took };
            pacer.answered(&Hand, &answer, keeps);
        }
        seen
    }

    #[test]
    fn the_delay_is_kept_by_the_servers_clock() {
        let second = ms(1000);
        let kept = |connect, answer| (ms(connect), ms(answer), true);
        let closed = |connect, answer| (ms(connect), ms(answer), false);
        for (answers, why) in [
            (vec![kept(80, 200), kept(0, 200), kept(0, 200)], "a handshake before the first request only"),
            (
                vec![closed(80, 200), closed(10, 200), closed(90, 200), closed(0, 200)],
                "a handshake each time, of any length",
            ),
            (vec![kept(80, 1500), kept(0, 1500), kept(0, 20)], "answers slower than the delay"),
        ] {
            let seen = starts(second, &answers);
            for pair in seen.windows(2) {
                assert!(pair[1].1 - pair[0].1 >= second, "{why}: {seen:?}");
            }
        }
    }

    #[test]
    fn slow_answers_on_an_open_connection_cost_no_time() {
        let seen = starts(ms(1000), &[(ms(80), ms(200), true), (ms(0), ms(600), true), (ms(0), ms(600), true)]);
        assert_eq!(seen[2].0 - seen[1].0, ms(1000), "counted from the start of the request before");
    }

    #[test]
    fn requests_at_once_start_a_delay_apart() {
        NOW.set(Duration::ZERO);
        let pacer = Pacer::new(Pace::new(ms(100)), Timestamp::UNIX_EPOCH, &Hand);
        assert_eq!([0; 3].map(|_: i32| pacer.reserve(&Hand)), [0, 100, 200].map(ms));
        pacer.hold_off(&Hand, ms(5000));
        assert_eq!(pacer.reserve(&Hand), ms(5000), "a Retry-After holds for those not yet reserved");
    }

    #[test]
    fn refusals_of_requests_that_were_under_way_together_count_once() {
        NOW.set(Duration::ZERO);
        let pacer = Pacer::new(Pace::default(), Timestamp::UNIX_EPOCH, &Hand);
        let refuse = |reserved, started, at| {
            NOW.set(at);
            let took = at - started;
            let answer = Answered { reserved, started, status: Some(429), first_byte: Some(took), elapsed: took };
            pacer.answered(&Hand, &answer, true);
        };
        for started in 0..8 {
            refuse(ms(0), ms(started * 10), ms(started * 10 + 5));
        }
        assert_eq!(pacer.pace().back_off_exponent, 1, "two seconds, not four minutes");
        refuse(ms(80), ms(2050), ms(2060));
        assert_eq!(pacer.pace().back_off_exponent, 2, "asked again, and refused");
        assert!(pacer.wait(&Hand) > ms(3900), "{:?}", pacer.wait(&Hand));
    }

    #[test]
    fn a_delay_that_the_lease_did_not_know_of_is_kept_before_the_first_request() {
        for (known, wait, why) in [
            (ms(1_000), ms(10_000), "whoever read it may have died after a request"),
            (ms(10_000), ms(0), "the lease was let go with it, and waited"),
        ] {
            NOW.set(ms(500));
            let pacer = Pacer::new(Pace::new(known), Timestamp::UNIX_EPOCH, &Hand);
            pacer.slow_down_to(ms(10_000), &Hand);
            assert_eq!(pacer.wait(&Hand), wait, "{why}");
        }
    }

    #[test]
    fn nothing_starts_before_the_lease_allows() {
        NOW.set(ms(500));
        let not_before = after(Timestamp::UNIX_EPOCH, ms(2000));
        let pacer = Pacer::new(Pace::default(), not_before, &Hand);
        assert_eq!((pacer.wait(&Hand), pacer.not_before(&Hand)), (ms(1500), not_before));
    }
}
