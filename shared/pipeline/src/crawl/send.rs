//! Sending a request when its time comes, and again where a server did nothing with it.

use std::time::Duration;

use jiff::Timestamp;

use super::outcome::{connection_after, load_of, status_outcome};
use super::pacer::{Answered, Pacer};
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{ConnectionChoice, FetchFailureKind, FetchRequest, Fetched, Fetcher, Unprocessed};
use dragline_ports::observer::Wait;

/// A request that was made.
#[derive(Debug)]
pub(super) struct Sent {
    /// When it last started.
    pub at: Timestamp,
    /// The same by the monotonic clock.
    pub started: Duration,
    /// How it went.
    pub fetched: Fetched,
    /// How often it had been sent before, to a server that did nothing with it.
    pub resends: u8,
}

/// The lease is too old for another request: before it would be over, another worker may hold the lease and make requests too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeaseTooOld;

/// Whether a URL was requested before in this iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    First,
    Again,
}

/// How soon to try a request again for which this machine had no room.
const NO_ROOM_PAUSE: Duration = Duration::from_secs(1);

/// Makes a request whose start the pacer allowed, and tells the pacer how it went. It is made again,
/// at the host's pace and no later than the latest start by the monotonic clock:
/// - while this machine has no room for it;
/// - once on a connection of its own for each reason why the server did nothing with it.
pub(super) async fn send(
    clock: &impl Clock,
    fetcher: &impl Fetcher,
    pacer: &Pacer,
    (mut started, latest_start): (Duration, Duration),
    mut request: FetchRequest,
    asked: Asked,
) -> Result<Sent, LeaseTooOld> {
    let mut reasons: Vec<Unprocessed> = Vec::new();
    loop {
        // This process may have been held up since the start was allowed.
        if clock.monotonic() > latest_start {
            return Err(LeaseTooOld);
        }
        let at = clock.now();
        let fetched = fetcher.fetch(request.clone()).await;
        if has_no_room(&fetched) {
            clock.sleep(NO_ROOM_PAUSE).await;
            started = pacer.start_in_time(clock, latest_start).await.ok_or(LeaseTooOld)?;
            continue;
        }
        pace_by(pacer, clock, started, &fetched, asked);
        let resends = u8::try_from(reasons.len()).unwrap_or(u8::MAX);
        let sent = Sent { at, started, fetched, resends };
        let Some(reason) = sent.fetched.unprocessed.filter(|reason| !reasons.contains(reason)) else { return Ok(sent) };
        // If its next turn does not come in time, this was a try like others.
        let Some(next) = pacer.start_in_time(clock, latest_start).await else { return Ok(sent) };
        reasons.push(reason);
        request.connection = ConnectionChoice::New;
        started = next;
    }
}

/// Whether nothing was sent for lack of room on this machine, so that the server is not to blame.
fn has_no_room(fetched: &Fetched) -> bool {
    fetched.result.as_ref().is_err_and(|failure| failure.kind == FetchFailureKind::NoRoom)
}

/// Tells the pacer how a request went, and obeys a Retry-After.
fn pace_by(pacer: &Pacer, clock: &impl Clock, started: Duration, fetched: &Fetched, asked: Asked) {
    let (load, connection) = (load_of(fetched, asked), connection_after(fetched));
    let Fetched { first_byte, elapsed, .. } = *fetched;
    pacer.answered(clock, &Answered { started, load, connection, first_byte, elapsed });
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

    /// A clock that each sleep advances: by the time asked for, and by what the sleeper overslept.
    struct Oversleeping {
        now: Mutex<Duration>,
        overslept: Duration,
    }

    impl Clock for Oversleeping {
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

    /// Counts the requests. The first ones find no room.
    #[derive(Default)]
    struct Counting(Mutex<u32>, u32);

    impl Fetcher for Counting {
        async fn fetch(&self, _request: FetchRequest) -> Fetched {
            let mut count = self.0.lock().unwrap();
            *count += 1;
            let kind = if *count <= self.1 { FetchFailureKind::NoRoom } else { FetchFailureKind::Connect };
            Fetched::failed(kind, "", Duration::ZERO)
        }
    }

    fn work(path: &str) -> Work {
        let entry = TodoEntry::new(path);
        let after = Position { chunk: None, depth: 0, cursor: RecrawlCursor::End, taken: 1 };
        Work { entry, depth: 0, crawl_type: CrawlType::Queued, tries: 0, after, exhausts: None }
    }

    /// One visit, which may start when `earliest` has come.
    async fn visited_at(
        earliest: Duration,
        latest: Duration,
        clock: &Oversleeping,
        fetcher: &Counting,
    ) -> Result<Visited, LeaseTooOld> {
        let limits = FetchLimits {
            connect_timeout: seconds(10),
            first_byte_timeout: seconds(20),
            total_timeout: seconds(60),
            header_bytes_max: 1 << 10,
            body_bytes_max: 1 << 10,
            decoded_bytes_max: 1 << 10,
        };
        let url = CrawlUrl::try_from("https://a.example/p".to_owned()).unwrap();
        let pacer = Pacer::new(Pace::default(), after(Timestamp::UNIX_EPOCH, earliest), clock);
        let started = pacer.start_in_time(clock, latest).await.ok_or(LeaseTooOld)?;
        visit(clock, fetcher, &pacer, (started, latest), None, limits, (0, work("/p"), url)).await
    }

    #[tokio::test]
    async fn no_request_starts_when_the_lease_is_too_old_for_it() {
        for (overslept, requests, why) in [
            (seconds(0), 1, "woken when it wanted"),
            (seconds(30), 1, "late, and still in time"),
            (seconds(31), 0, "another worker may hold the lease before the answer arrives"),
        ] {
            let clock = Oversleeping { now: Mutex::default(), overslept };
            let fetcher = Counting::default();
            let visited = visited_at(seconds(10), seconds(40), &clock, &fetcher).await;
            assert_eq!((*fetcher.0.lock().unwrap(), visited.is_ok()), (requests, requests == 1), "{why}");
        }
    }

    #[tokio::test]
    async fn a_request_that_finds_no_room_waits_for_some_while_the_lease_lasts() {
        for (no_room, requests, kind, why) in [
            (1, 2, Some(FetchFailureKind::Connect), "tried again"),
            (30, 31, Some(FetchFailureKind::Connect), "in the last second, too"),
            (31, 31, None, "another worker may hold the lease by then"),
        ] {
            let clock = Oversleeping { now: Mutex::default(), overslept: Duration::ZERO };
            let fetcher = Counting(Mutex::default(), no_room);
            let visited = visited_at(seconds(10), seconds(40), &clock, &fetcher).await;
            let ended = visited.ok().map(|visited| visited.fetched.result.unwrap_err().kind);
            assert_eq!((*fetcher.0.lock().unwrap(), ended), (requests, kind), "{why}");
        }
    }
}
