//! When the next request to an origin may start.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragline_domain::politeness::{Load, Pace, transfer_time};
use dragline_domain::time::after;
use jiff::Timestamp;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::World;
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::ConnectionWatch;
use dragline_ports::observer::Wait;

/// Keeps the delay between the starts of requests to one origin, however many are under way at
/// once.
///
/// The delay is kept as the server sees it, and a request on a new connection reaches the server a
/// handshake after it started here. So nothing starts while a connection is being opened, and the
/// delay counts from when it is open. If nobody reported that and it can make a difference, the
/// delay counts from the response header instead: see [`Pacer::answered`].
#[derive(Debug)]
pub(super) struct Pacer {
    state: Mutex<State>,
    connected: Arc<Notify>,
    /// One for each request that may be under way at the same time.
    places: Arc<Semaphore>,
    /// How many there are.
    places_max: u16,
    /// Requests that wait start in the order in which they came.
    line: tokio::sync::Mutex<()>,
}

/// A request that may be made now. Dropping it gives its place to others.
#[derive(Debug)]
pub(super) struct Start {
    /// When it started, by the monotonic clock.
    pub at: Duration,
    _place: Places,
}

/// One place of a request, or all of them. Dropping it lets others go on.
#[derive(Debug)]
pub(super) struct Places {
    /// `None` once it is given back.
    held: Option<OwnedSemaphorePermit>,
    connected: Arc<Notify>,
}

impl Drop for Places {
    fn drop(&mut self) {
        self.held = None;
        self.connected.notify_one();
    }
}

#[derive(Debug)]
struct State {
    pace: Pace,
    /// The monotonic reading before which no request starts.
    next_start: Duration,
    /// The monotonic reading from which the delay counts; `None` before the turn's first request.
    counted_from: Option<Duration>,
    /// Whether the next request may have to open a connection.
    may_connect: bool,
    /// The number of requests whose connection is being opened. Until it is open, the start of the
    /// delay is unknown.
    connecting: usize,
    /// When a refusal last slowed the host down, by the monotonic clock. Refusals of requests that
    /// started before then do not slow it down again.
    refused_at: Option<Duration>,
    /// The most bytes of bodies a second, on average.
    bytes_per_second: Option<u64>,
    /// The monotonic reading from which more of them may come.
    paid_until: Duration,
    /// The monotonic reading until which something other than the delay holds the next request
    /// back, and the reason.
    held: Option<(Duration, Wait)>,
}

/// The result of a request, as the pacer needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestResult {
    /// When it started, by the monotonic clock.
    pub started: Duration,
    /// What it says about the host's load.
    pub load: Load,
    /// The state of its connection, as far as the answer tells.
    pub connection: Connection,
    /// From its start to its response header; `None` without one.
    pub first_byte: Option<Duration>,
    /// From its start to its end.
    pub elapsed: Duration,
    /// The bytes of its body.
    pub body_bytes: u64,
}

/// The state of a connection after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connection {
    /// It stays open for the next request.
    Kept,
    /// It is closed, or its state is unknown.
    Closed,
}

/// How often to check whether a connection is open, in case nobody reports it.
const CONNECTING: Duration = Duration::from_secs(1);

impl State {
    fn wait(&self, now: Duration) -> Duration {
        let wait = self.next_start.saturating_sub(now);
        if self.connecting > 0 && !self.pace.delay().is_zero() { wait.max(CONNECTING) } else { wait }
    }
}

/// Reports to the pacer on the connection that a request has to open. Dropping it ends the request.
pub(super) struct Connecting<W> {
    pacer: Arc<Pacer>,
    world: Arc<W>,
    is_connecting: AtomicBool,
}

impl<W> Connecting<W> {
    pub(super) const fn new(pacer: Arc<Pacer>, world: Arc<W>) -> Self {
        Self { pacer, world, is_connecting: AtomicBool::new(false) }
    }

    fn is_over(&self) {
        if self.is_connecting.swap(false, Ordering::Relaxed) {
            self.pacer.state().connecting -= 1;
            self.pacer.connected.notify_one();
        }
    }
}

impl<W: World> ConnectionWatch for Connecting<W> {
    fn connecting(&self) {
        if !self.is_connecting.swap(true, Ordering::Relaxed) {
            self.pacer.state().connecting += 1;
        }
    }

    fn connected(&self) {
        self.pacer.sets_out(self.world.clock());
        self.is_over();
    }
}

impl<W> Drop for Connecting<W> {
    fn drop(&mut self) {
        self.is_over();
    }
}

impl<W> fmt::Debug for Connecting<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connecting").field("is_connecting", &self.is_connecting).finish_non_exhaustive()
    }
}

impl Pacer {
    /// Returns a pacer that starts nothing before `not_before`.
    pub(super) fn new(pace: Pace, not_before: Timestamp, clock: &impl Clock) -> Self {
        let wait = dragline_domain::time::between(clock.now(), not_before);
        let next_start = clock.monotonic() + wait;
        let state = State {
            pace,
            next_start,
            counted_from: None,
            may_connect: true,
            connecting: 0,
            refused_at: None,
            bytes_per_second: None,
            paid_until: Duration::ZERO,
            held: None,
        };
        Self {
            state: Mutex::new(state),
            connected: Arc::default(),
            places: Arc::new(Semaphore::new(1)),
            places_max: 1,
            line: tokio::sync::Mutex::default(),
        }
    }

    /// Returns the same pacer for this many requests at the same time.
    pub(super) fn with_places(self, places_max: u16) -> Self {
        Self { places: Arc::new(Semaphore::new(places_max.into())), places_max, ..self }
    }

    /// Returns the same pacer, which starts nothing while more bytes have come than this, on
    /// average; `None` for no limit.
    pub(super) fn limited_to(self, bytes_per_second: Option<u64>) -> Self {
        self.state().bytes_per_second = bytes_per_second;
        self
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current pace.
    pub(super) fn pace(&self) -> Pace {
        self.state().pace
    }

    /// Keeps this delay from now on, counting from the request for the robots.txt that states it.
    ///
    /// If it is longer than the one in the lease, a holder that died may have known it and made a
    /// request just now, so it is kept before the turn's first request too.
    pub(super) fn slow_down_to(&self, base_delay: Duration, clock: &impl Clock) {
        let mut state = self.state();
        let is_news = base_delay > state.pace.base_delay;
        state.pace.base_delay = base_delay;
        if let Some(counted_from) = state.counted_from.or_else(|| is_news.then(|| clock.monotonic())) {
            state.next_start = state.next_start.max(counted_from + state.pace.delay());
        }
    }

    /// Returns how long to wait until the next request may start. While a connection is being
    /// opened, or no place is free, [`Self::connected`] tells when that is known.
    pub(super) fn wait(&self, clock: &impl Clock) -> Duration {
        self.wait_by(&self.state(), clock.monotonic())
    }

    fn wait_by(&self, state: &State, now: Duration) -> Duration {
        let wait = state.wait(now);
        if self.places.available_permits() > 0 { wait } else { wait.max(CONNECTING) }
    }

    /// Waits until no request is under way, and takes all places: another host of the domain is
    /// asked instead.
    pub(super) async fn take_all_places(&self) -> Places {
        let held = Arc::clone(&self.places).acquire_many_owned(self.places_max.into()).await;
        Places { held: held.ok(), connected: Arc::clone(&self.connected) }
    }

    /// Waits until a connection is open, or cannot be opened, or a place is free.
    pub(super) async fn connected(&self) {
        self.connected.notified().await;
    }

    /// Starts a request if one may start now; otherwise returns how long to wait, as far as known.
    pub(super) fn start(&self, clock: &impl Clock) -> Result<Start, Duration> {
        let mut state = self.state();
        let at = clock.monotonic();
        let wait = self.wait_by(&state, at);
        if !wait.is_zero() {
            return Err(wait);
        }
        let held = Arc::clone(&self.places).try_acquire_owned().map_err(|_| CONNECTING)?;
        state.next_start = at + state.pace.delay();
        state.counted_from = Some(at);
        Ok(Start { at, _place: Places { held: Some(held), connected: Arc::clone(&self.connected) } })
    }

    /// Waits until a request may start, and starts it; `None` if that would be after the latest
    /// start.
    pub(super) async fn start_in_time(&self, clock: &impl Clock, latest_start: Duration) -> Option<Start> {
        let _first = tokio::select! {
            biased;
            first = self.line.lock() => first,
            () = clock.sleep(latest_start.saturating_sub(clock.monotonic())) => return None,
        };
        loop {
            let wait = match self.start(clock) {
                Ok(start) => return (start.at <= latest_start).then_some(start),
                Err(wait) => wait,
            };
            if clock.monotonic() + wait > latest_start {
                return None;
            }
            tokio::select! {
                () = clock.sleep(wait) => {}
                () = self.connected() => {}
            }
        }
    }

    /// Records that a request leaves only now, although it started earlier: the delay counts from
    /// here.
    fn sets_out(&self, clock: &impl Clock) {
        let mut state = self.state();
        let (now, delay) = (clock.monotonic(), state.pace.delay());
        state.counted_from = state.counted_from.max(Some(now));
        if !delay.is_zero() {
            state.next_start = state.next_start.max(now + delay);
        }
    }

    /// Records how a request went.
    pub(super) fn record_result(&self, clock: &impl Clock, answer: &RequestResult) {
        let RequestResult { started, load, connection, first_byte, elapsed, body_bytes } = *answer;
        let mut state = self.state();
        let back_off_exponent = state.pace.back_off_exponent;
        state.pace = state.pace.after_answer(load, elapsed);
        if state.pace.back_off_exponent > back_off_exponent {
            if state.refused_at.is_none_or(|at| started >= at) {
                state.refused_at = Some(clock.monotonic());
            } else {
                state.pace.back_off_exponent = back_off_exponent;
            }
        }
        let delay = state.pace.delay();
        let header_at = first_byte.map_or_else(|| clock.monotonic(), |first_byte| started + first_byte);
        let is_cheap = first_byte.is_some_and(|first_byte| first_byte.saturating_mul(200) <= delay);
        let counted_from = if state.may_connect || is_cheap { header_at } else { started };
        state.may_connect = connection == Connection::Closed;
        state.counted_from = state.counted_from.max(Some(counted_from));
        if !delay.is_zero() {
            state.next_start = state.next_start.max(counted_from + delay);
        }
        if let Some(bytes_per_second) = state.bytes_per_second {
            state.paid_until = state.paid_until.max(started) + transfer_time(body_bytes, bytes_per_second);
            state.next_start = state.next_start.max(state.paid_until);
        }
    }

    /// Starts nothing for this long from now, for the reason `why`.
    pub(super) fn hold_off(&self, clock: &impl Clock, wait: Duration, why: Wait) {
        let mut state = self.state();
        let reading = clock.monotonic() + wait;
        if reading > state.next_start {
            state.next_start = reading;
            state.held = Some((reading, why));
        }
    }

    /// Returns what keeps a request that may start at this monotonic reading from starting sooner.
    pub(super) fn why(&self, start: Duration) -> Wait {
        self.state().held.filter(|(reading, _)| *reading >= start).map_or(Wait::Delay, |(_, why)| why)
    }

    /// Starts nothing before this monotonic reading.
    pub(super) fn rest_until(&self, reading: Duration) {
        let mut state = self.state();
        state.next_start = state.next_start.max(reading);
    }

    /// Returns the monotonic reading before which nothing starts.
    pub(super) fn rests_until(&self) -> Duration {
        self.state().next_start
    }

    /// Returns when the next request may start, by the stored clock.
    pub(super) fn not_before(&self, clock: &impl Clock) -> Timestamp {
        after(clock.now(), self.rests_until().saturating_sub(clock.monotonic()))
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
    struct ManualClock;

    impl Clock for ManualClock {
        fn now(&self) -> Timestamp {
            after(Timestamp::UNIX_EPOCH, NOW.get())
        }

        fn monotonic(&self) -> Duration {
            NOW.get()
        }

        async fn sleep(&self, _wait: Duration) {}
    }

    /// Makes requests one at a time, each answered with 200. Returns when each starts, and when it
    /// reaches the server, `connects` later.
    fn starts(delay: Duration, answers: &[(Duration, Duration, Connection)]) -> Vec<(Duration, Duration)> {
        NOW.set(Duration::ZERO);
        let pacer = Pacer::new(Pace::new(delay), Timestamp::UNIX_EPOCH, &ManualClock);
        let mut seen = Vec::new();
        for &(connect, answer, connection) in answers {
            NOW.set(NOW.get() + pacer.wait(&ManualClock));
            let start = pacer.start(&ManualClock).unwrap().at;
            NOW.set(start + connect + answer);
            seen.push((start, start + connect));
            let took = connect + answer;
            let load = Load::Bearable;
            let answer = RequestResult {
                started: start,
                load,
                connection,
                first_byte: Some(took),
                elapsed: took,
                body_bytes: 0,
            };
            pacer.record_result(&ManualClock, &answer);
        }
        seen
    }

    #[test]
    fn the_next_request_waits_until_the_rate_is_kept() {
        for (rate, bodies, expected, why) in [
            (None, &[1_000_000, 0, 0][..], &[0, 100, 200][..], "there is no limit"),
            (Some(1_000), &[50, 2_000, 0], &[0, 100, 2_100], "a small body is within the delay, a large one is not"),
            (Some(1_000), &[2_000, 50, 0], &[0, 2_000, 2_100], "it is made up for once"),
        ] {
            NOW.set(Duration::ZERO);
            let pacer = Pacer::new(Pace::new(ms(100)), Timestamp::UNIX_EPOCH, &ManualClock).limited_to(rate);
            let mut starts = Vec::new();
            for body_bytes in bodies.iter().copied() {
                NOW.set(NOW.get() + pacer.wait(&ManualClock));
                let started = pacer.start(&ManualClock).unwrap().at;
                starts.push(started);
                let (load, connection, took) = (Load::Bearable, Connection::Kept, Duration::ZERO);
                let first_byte = Some(took);
                let result = RequestResult { started, load, connection, first_byte, elapsed: took, body_bytes };
                pacer.record_result(&ManualClock, &result);
            }
            assert_eq!(starts, expected.iter().map(|at| ms(*at)).collect::<Vec<_>>(), "{why}");
        }
    }

    #[test]
    fn the_delay_is_kept_by_the_servers_clock() {
        let second = ms(1000);
        let kept = |connect, answer| (ms(connect), ms(answer), Connection::Kept);
        let closed = |connect, answer| (ms(connect), ms(answer), Connection::Closed);
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
        let kept = |connect, answer| (ms(connect), ms(answer), Connection::Kept);
        let seen = starts(ms(1000), &[kept(80, 200), kept(0, 600), kept(0, 600)]);
        assert_eq!(seen[2].0 - seen[1].0, ms(1000), "counted from the start of the request before");
    }

    #[test]
    fn requests_at_once_start_a_delay_apart() {
        NOW.set(Duration::ZERO);
        let pacer = Pacer::new(Pace::new(ms(100)), Timestamp::UNIX_EPOCH, &ManualClock);
        let starts = [0, 40, 111, 205, 215].map(|now| {
            NOW.set(ms(now));
            pacer.start(&ManualClock).map(|start| start.at)
        });
        let why = "counted from when the previous one started, not from when it might have";
        assert_eq!(starts, [Ok(ms(0)), Err(ms(60)), Ok(ms(111)), Err(ms(6)), Ok(ms(215))], "{why}");
        pacer.hold_off(&ManualClock, ms(5000), Wait::RetryAfter);
        let held = pacer.start(&ManualClock).map(|start| start.at);
        assert_eq!(held, Err(ms(5000)), "a Retry-After holds for all that have not started");
    }

    #[tokio::test]
    async fn no_more_requests_are_under_way_than_there_are_places() {
        NOW.set(Duration::ZERO);
        let pacer = Pacer::new(Pace::new(Duration::ZERO), Timestamp::UNIX_EPOCH, &ManualClock).with_places(2);
        let (one, other) = (pacer.start(&ManualClock).unwrap(), pacer.start(&ManualClock).unwrap());
        assert_eq!(pacer.start(&ManualClock).map(|start| start.at), Err(CONNECTING), "both are taken");
        drop(one);
        let next = pacer.start(&ManualClock).unwrap();
        let mut all = Box::pin(pacer.take_all_places());
        assert!(futures_util::poll!(&mut all).is_pending(), "two are under way");
        drop(next);
        assert!(pacer.start(&ManualClock).is_err(), "others wait behind who wants all places");
        drop(other);
        let all = all.await;
        assert!(!pacer.wait(&ManualClock).is_zero(), "another host is asked");
        drop(all);
        assert!(pacer.start(&ManualClock).is_ok());
    }

    #[test]
    fn the_delay_counts_from_when_a_connection_is_open() {
        NOW.set(Duration::ZERO);
        let pacer = Pacer::new(Pace::new(ms(100)), Timestamp::UNIX_EPOCH, &ManualClock);
        let starts = |at: u64| {
            NOW.set(ms(at));
            pacer.start(&ManualClock).is_ok()
        };
        assert!(starts(0));
        pacer.state().connecting += 1;
        assert!(!starts(150), "the first request may not have set out yet");
        pacer.sets_out(&ManualClock);
        pacer.state().connecting -= 1;
        assert!(!starts(249), "it did at 150");
        assert!(starts(250));
    }

    #[test]
    fn refusals_of_requests_that_were_under_way_together_count_once() {
        NOW.set(Duration::ZERO);
        let pacer = Pacer::new(Pace::default(), Timestamp::UNIX_EPOCH, &ManualClock);
        let refuse = |started, at| {
            NOW.set(at);
            let (load, connection, took) = (Load::Refused, Connection::Kept, at - started);
            let answer =
                RequestResult { started, load, connection, first_byte: Some(took), elapsed: took, body_bytes: 0 };
            pacer.record_result(&ManualClock, &answer);
        };
        for started in 0..8 {
            refuse(ms(started * 10), ms(100 + started));
        }
        assert_eq!(pacer.pace().back_off_exponent, 1, "two seconds, not four minutes");
        refuse(ms(2100), ms(2110));
        assert_eq!(pacer.pace().back_off_exponent, 2, "asked again, and refused");
        assert!(pacer.wait(&ManualClock) > ms(3900), "{:?}", pacer.wait(&ManualClock));
    }

    #[test]
    fn a_delay_that_the_lease_did_not_know_of_is_kept_before_the_first_request() {
        for (known, wait, why) in [
            (ms(1_000), ms(10_000), "whoever read it may have died after a request"),
            (ms(10_000), ms(0), "the lease was released with it, and waited"),
        ] {
            NOW.set(ms(500));
            let pacer = Pacer::new(Pace::new(known), Timestamp::UNIX_EPOCH, &ManualClock);
            pacer.slow_down_to(ms(10_000), &ManualClock);
            assert_eq!(pacer.wait(&ManualClock), wait, "{why}");
        }
    }

    #[test]
    fn nothing_starts_before_the_lease_allows() {
        NOW.set(ms(500));
        let not_before = after(Timestamp::UNIX_EPOCH, ms(2000));
        let pacer = Pacer::new(Pace::default(), not_before, &ManualClock);
        assert_eq!((pacer.wait(&ManualClock), pacer.not_before(&ManualClock)), (ms(1500), not_before));
    }
}
