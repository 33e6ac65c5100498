//! One visit: making the request, and reporting how it went.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use dragline_domain::capture::{CrawlType, Exchange, Finality, Visit};
use dragline_domain::outcome::Outcome;
use dragline_domain::policy::Decision;
use dragline_domain::shown::one_line;
use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;

use super::pacer::{Answered, Pacer};
use super::planner::Work;
use super::robots::Robots;
use crate::context::CrawlContext;
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{ConnectionWatch, FetchFailureKind, FetchLimits, FetchRequest, Fetched, Fetcher};
use dragline_ports::observer::Wait;

/// The most characters of a detail that are stored.
const DETAIL_CHARS_MAX: usize = 300;

/// A visit that is over.
#[derive(Debug)]
pub(super) struct Visited {
    /// The segment of the turn that it belongs to.
    pub segment: u64,
    /// What was to be visited.
    pub work: Work,
    /// Its URL.
    pub url: CrawlUrl,
    /// When the request started.
    pub at: Timestamp,
    /// The same by the monotonic clock.
    pub started: Duration,
    /// How it went.
    pub fetched: Fetched,
}

/// Returns how a URL ends that must not be requested, and why.
pub(super) fn refused(
    context: &CrawlContext,
    robots: &Robots,
    work: &Work,
    url: &CrawlUrl,
) -> Option<(Outcome, String)> {
    // Links were decided on when they were found; what is known from an earlier iteration was decided by the definition of that time.
    if work.crawl_type == CrawlType::Recrawl {
        let rule = match context.decide(url, work.depth, work.entry.requisite_steps, work.entry.read_as) {
            Decision::Crawl => None,
            Decision::OutOfScope(rule) => Some(rule.to_string()),
            Decision::Blocked(rule) => Some(rule.to_string()),
        };
        if let Some(rule) = rule {
            return Some((Outcome::BlockedUrlByLocalPolicy, rule));
        }
    }
    match robots {
        Robots::Known(policy) => {
            let verdict = policy.verdict(&work.entry.path_and_query);
            (!verdict.is_allowed()).then(|| (Outcome::BlockedByRobotsTxt, verdict.to_string()))
        }
        Robots::NotAsked => Some((Outcome::BlockedUrlByLocalPolicy, "its origin is not in scope".to_owned())),
        Robots::PrivateAddress(why) => Some((Outcome::BlockedPrivateAddress, why.clone())),
        Robots::Unreadable(why) | Robots::OutOfReach(why) => Some((Outcome::BlockedByRobotsTxt, why.clone())),
        Robots::HostBusy(_) => Some((Outcome::BlockedByRobotsTxt, "it was not read".to_owned())),
    }
}

/// The lease is too old for another request: before it would be over, another worker may hold the lease and make requests too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeaseTooOld;

/// Makes the request, and again at the origin's pace while this machine has no room for it; no later than the latest start, by the monotonic clock.
pub(super) async fn visit(
    clock: &impl Clock,
    fetcher: &impl Fetcher,
    pacer: &Pacer,
    (mut started, latest_start): (Duration, Duration),
    watch: Option<Arc<dyn ConnectionWatch>>,
    limits: FetchLimits,
    (segment, work, url): (u64, Work, CrawlUrl),
) -> Result<Visited, LeaseTooOld> {
    let last = work.entry.known.comparable();
    let request = FetchRequest {
        url: url.clone(),
        if_none_match: last.and_then(|last| last.etag.clone()),
        if_modified_since: last.and_then(|last| last.last_modified.clone()),
        limits,
        watch,
    };
    loop {
        // This process may have been held up since the start was allowed.
        if clock.monotonic() > latest_start {
            return Err(LeaseTooOld);
        }
        let at = clock.now();
        let fetched = fetcher.fetch(request.clone()).await;
        if !has_no_room(&fetched) {
            return Ok(Visited { segment, work, url, at, started, fetched });
        }
        clock.sleep(NO_ROOM_PAUSE).await;
        started = pacer.start_in_time(clock, latest_start).await.ok_or(LeaseTooOld)?;
    }
}

/// How soon to try a request again for which this machine had no room.
pub(super) const NO_ROOM_PAUSE: Duration = Duration::from_secs(1);

/// Whether nothing was sent for lack of room on this machine, so that the server is not to blame.
pub(super) fn has_no_room(fetched: &Fetched) -> bool {
    fetched.result.as_ref().is_err_and(|failure| failure.kind == FetchFailureKind::NoRoom)
}

/// Tells the pacer how a request went, and obeys a Retry-After.
pub(super) fn pace_by(pacer: &Pacer, clock: &impl Clock, started: Duration, fetched: &Fetched) {
    let response = fetched.result.as_ref().ok();
    let status = response.map(|response| response.status);
    let keeps = response.is_some_and(super::outcome::keeps_connection);
    let answer = Answered { started, status, first_byte: fetched.first_byte, elapsed: fetched.elapsed };
    pacer.answered(clock, &answer, keeps);
    if let Some(response) = response.filter(|response| Outcome::of_status(response.status).is_refusal()) {
        let asked = response.headers.text("retry-after");
        if let Some(wait) = asked.and_then(|value| dragline_formats::http_fields::retry_after(&value, clock.now())) {
            pacer.hold_off(clock, wait, Wait::RetryAfter);
        }
    }
}

/// Returns the visit as stored.
pub(super) fn visit_of(
    work: &Work,
    outcome: Outcome,
    detail: Option<String>,
    exchange: Option<Exchange>,
    tries: u8,
) -> Visit {
    Visit {
        sighting: work.entry.sighting(work.depth),
        redirects: work.entry.redirects,
        crawl_type: work.crawl_type,
        tries,
        outcome,
        finality: Finality::Final,
        detail: detail.map(|detail| one_line(&detail, DETAIL_CHARS_MAX)),
        exchange,
        known: work.entry.known.clone(),
        demand: work.entry.demand.clone(),
    }
}

/// Returns the exchange as stored.
pub(super) fn exchange_of(fetched: &Fetched) -> Exchange {
    let response = fetched.result.as_ref().ok();
    Exchange {
        // As precise as it is stored, so that a parser knows the same whether or not it reads it back.
        elapsed: Duration::from_millis(u64::try_from(fetched.elapsed.as_millis()).unwrap_or(u64::MAX)),
        first_byte_ms: fetched.first_byte.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        remote: fetched.remote,
        body_bytes: response.map_or(0, |response| response.body.len() as u64),
        decoded_sha1: response.map(|response| HEXLOWER.encode(&response.decoded_sha1)),
        decoded_bytes: response.map_or(0, |response| response.decoded_bytes),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use dragline_domain::frontier::{Position, RecrawlCursor, TodoEntry};
    use dragline_domain::politeness::Pace;
    use dragline_domain::time::after;

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
