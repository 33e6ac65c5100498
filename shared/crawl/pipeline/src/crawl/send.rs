//! Sending a request when its time comes, and again if the server did nothing with it.

use std::time::Duration;

use jiff::Timestamp;

use super::outcome::{connection_after, find_wall, host_load, status_outcome};
use super::pacer::{Pacer, RequestResult, Start};
use dragline_extract::wall::Wall;
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{
    ConnectionChoice, FetchFailureKind, FetchOutcome, FetchRequest, Fetcher, UnprocessedReason,
};
use dragline_ports::observer::Wait;

/// A request that was made.
#[derive(Debug)]
pub(super) struct SentRequest {
    /// When it last started.
    pub at: Timestamp,
    /// Its last start by the monotonic clock.
    pub started: Duration,
    /// Its result.
    pub fetched: FetchOutcome,
    /// The wall in the answer, as far as the crawler can tell; `None` if there is none.
    pub wall: Option<Wall>,
    /// How often it had been sent before without the server doing anything with it.
    pub resends: u8,
}

/// The lease is too old for another request: before it ended, another worker might take the lease
/// and make requests too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeaseTooOld;

/// Whether a URL was requested before in this iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    First,
    Again,
}

/// The pause before the next try of a request for which this machine had no room.
const NO_ROOM_PAUSE: Duration = Duration::from_secs(1);

/// Makes a request whose start the pacer allowed, and reports the result to the pacer. It repeats
/// the request, at the host's pace and no later than `latest_start` by the monotonic clock:
/// - while this machine has no room for it;
/// - once on a new connection for each reason why the server did nothing with it.
pub(super) async fn send(
    clock: &impl Clock,
    fetcher: &impl Fetcher,
    pacer: &Pacer,
    (mut start, latest_start): (Start, Duration),
    mut request: FetchRequest,
    asked: Attempt,
) -> Result<SentRequest, LeaseTooOld> {
    let mut reasons: Vec<UnprocessedReason> = Vec::new();
    loop {
        // This process may have been suspended since the start was allowed.
        if clock.monotonic() > latest_start {
            return Err(LeaseTooOld);
        }
        let at = clock.now();
        let fetched = fetcher.fetch(request.clone()).await;
        if has_no_room(&fetched) {
            drop(start);
            clock.sleep(NO_ROOM_PAUSE).await;
            start = pacer.start_in_time(clock, latest_start).await.ok_or(LeaseTooOld)?;
            continue;
        }
        let wall = find_wall(&request.url, &fetched);
        let started = start.at;
        pace_by(pacer, clock, started, (&fetched, wall.as_ref()), asked);
        drop(start);
        let resends = u8::try_from(reasons.len()).unwrap_or(u8::MAX);
        let sent = SentRequest { at, started, fetched, wall, resends };
        let Some(reason) = sent.fetched.unprocessed.filter(|reason| !reasons.contains(reason)) else { return Ok(sent) };
        // If the next start is too late, this counts as a try like any other.
        let Some(next) = pacer.start_in_time(clock, latest_start).await else { return Ok(sent) };
        reasons.push(reason);
        request.connection = ConnectionChoice::New;
        start = next;
    }
}

/// Whether nothing was sent for lack of room on this machine, so that the server is not to blame.
fn has_no_room(fetched: &FetchOutcome) -> bool {
    fetched.result.as_ref().is_err_and(|failure| failure.kind == FetchFailureKind::NoRoom)
}

/// Reports a request's result to the pacer, and obeys a Retry-After.
fn pace_by(
    pacer: &Pacer,
    clock: &impl Clock,
    started: Duration,
    (fetched, wall): (&FetchOutcome, Option<&Wall>),
    asked: Attempt,
) {
    let (load, connection) = (host_load(fetched, wall, asked), connection_after(fetched));
    let FetchOutcome { first_byte, elapsed, .. } = *fetched;
    let body_bytes = fetched.result.as_ref().map_or(0, |response| response.body.len_bytes());
    pacer.record_result(clock, &RequestResult { started, load, connection, first_byte, elapsed, body_bytes });
    if let Some(response) = fetched.result.as_ref().ok().filter(|response| status_outcome(response).is_refusal())
        && let Some(wait) = dragline_formats::http_fields::retry_after(&response.headers, clock.now())
    {
        pacer.hold_off(clock, wait, Wait::RetryAfter);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use dragline_domain::politeness::Pace;
    use dragline_domain::time::after;
    use dragline_domain::url::CrawlUrl;
    use dragline_ports::fetcher::FetchLimits;

    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A clock that each sleep advances by the requested time and by how long the sleeper
    /// overslept.
    struct OversleepingClock {
        now: Mutex<Duration>,
        overslept: Duration,
    }

    impl Clock for OversleepingClock {
        fn now(&self) -> Timestamp {
            after(Timestamp::UNIX_EPOCH, self.monotonic())
        }

        fn monotonic(&self) -> Duration {
            *self.now.lock().unwrap()
        }

        async fn sleep(&self, wait: Duration) {
            *self.now.lock().unwrap() += wait + self.overslept;
        }
    }

    /// Ends each request as the script says, repeating its last entry, and records which
    /// connections were requested.
    struct ScriptedFetcher {
        ends: Vec<End>,
        asked: Mutex<Vec<ConnectionChoice>>,
    }

    #[derive(Clone, Copy)]
    enum End {
        NoRoom,
        Unprocessed(UnprocessedReason),
        Failed,
    }

    impl Fetcher for ScriptedFetcher {
        async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
            let mut asked = self.asked.lock().unwrap();
            let end = self.ends[asked.len().min(self.ends.len() - 1)];
            asked.push(request.connection);
            let kind = if matches!(end, End::NoRoom) { FetchFailureKind::NoRoom } else { FetchFailureKind::Connect };
            let unprocessed = if let End::Unprocessed(reason) = end { Some(reason) } else { None };
            FetchOutcome { unprocessed, ..FetchOutcome::failed(kind, "", Duration::ZERO) }
        }
    }

    /// Sends a request that may start at 10 s and no later than at 40 s, at a pace. Returns the
    /// result, and the connections requested.
    async fn sent(
        delay: Duration,
        overslept: Duration,
        ends: &[End],
    ) -> (Result<SentRequest, LeaseTooOld>, Vec<ConnectionChoice>) {
        let (earliest, latest) = (seconds(10), seconds(40));
        let limits = FetchLimits {
            connect_timeout: seconds(10),
            first_byte_timeout: seconds(20),
            total_timeout: seconds(60),
            header_bytes_max: 1 << 10,
            body_bytes_max: 1 << 10,
            file_bytes_max: None,
            decoded_bytes_max: 1 << 10,
        };
        let url = CrawlUrl::try_from("https://a.example/p".to_owned()).unwrap();
        let clock = OversleepingClock { now: Mutex::default(), overslept };
        let fetcher = ScriptedFetcher { ends: ends.to_vec(), asked: Mutex::default() };
        let pacer = Pacer::new(Pace::new(delay), after(Timestamp::UNIX_EPOCH, earliest), &clock);
        let sent = match pacer.start_in_time(&clock, latest).await {
            Some(started) => {
                let request = FetchRequest::new(url, limits);
                send(&clock, &fetcher, &pacer, (started, latest), request, Attempt::First).await
            }
            None => Err(LeaseTooOld),
        };
        (sent, fetcher.asked.into_inner().unwrap())
    }

    #[tokio::test]
    async fn no_request_starts_when_the_lease_is_too_old_for_it() {
        for (overslept, requests, why) in [
            (seconds(0), 1, "woken when it wanted"),
            (seconds(30), 1, "late, and still in time"),
            (seconds(31), 0, "another worker may hold the lease before the answer arrives"),
        ] {
            let (sent, asked) = sent(Duration::ZERO, overslept, &[End::Failed]).await;
            assert_eq!((asked.len(), sent.is_ok()), (requests, requests == 1), "{why}");
        }
    }

    #[tokio::test]
    async fn a_request_without_room_waits_while_the_lease_lasts() {
        for (no_room, requests, is_sent, why) in [
            (1, 2, true, "tried again"),
            (30, 31, true, "in the last second, too"),
            (31, 31, false, "another worker may hold the lease by then"),
        ] {
            let ends = [vec![End::NoRoom; no_room], vec![End::Failed]].concat();
            let (sent, asked) = sent(Duration::ZERO, Duration::ZERO, &ends).await;
            assert_eq!((asked.len(), sent.is_ok()), (requests, is_sent), "{why}");
        }
    }

    #[tokio::test]
    async fn an_unprocessed_request_is_sent_again_once_for_each_reason() {
        use UnprocessedReason::{ConnectionEnded, Http11Required, StreamRefused};
        let reasons = |reasons: &[UnprocessedReason]| reasons.iter().copied().map(End::Unprocessed).collect::<Vec<_>>();
        for (delay, ends, resends, last_start, why) in [
            (seconds(1), vec![End::Failed], 0, 10, "it may have been processed"),
            (seconds(1), vec![End::Unprocessed(StreamRefused), End::Failed], 1, 11, "once more, a delay later"),
            (seconds(1), reasons(&[StreamRefused]), 1, 11, "not for ever"),
            (seconds(1), reasons(&[ConnectionEnded, Http11Required, StreamRefused]), 3, 13, "once for each reason"),
            (seconds(31), reasons(&[StreamRefused]), 0, 10, "not after the lease: this was a try"),
        ] {
            let (sent, asked) = sent(delay, Duration::ZERO, &ends).await;
            let sent = sent.unwrap();
            assert_eq!((sent.resends, sent.started), (resends, seconds(last_start)), "{why}");
            let new = asked.iter().skip(1).all(|connection| *connection == ConnectionChoice::New);
            assert!(new && asked[0] == ConnectionChoice::Any, "{why}: on connections of their own");
        }
    }
}
