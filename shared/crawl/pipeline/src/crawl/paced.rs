//! Requests that are no visits, and may lead to other hosts: each at its host's pace.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragline_domain::frontier::{HostRequest, HostWaiter};
use dragline_domain::ids::LeaseToken;
use dragline_domain::politeness::Pace;
use dragline_domain::time::{after, between};
use dragline_domain::url::{CrawlUrl, HostKey};
use jiff::Timestamp;

use super::pacer::{Connecting, Pacer};
use super::release::call_next;
use super::send::{Attempt, LeaseTooOld, SentRequest, send};
use crate::World;
use dragline_ports::clock::{Clock, Rng};
use dragline_ports::error::{PortError, PortResult};
use dragline_ports::fetcher::{FetchFailureKind, FetchOutcome, FetchRequest, Fetcher};
use dragline_ports::frontier::{GiveBackHost, Hosts};

/// How often a turn checks whether a host has become free that others use for a single request.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// An answer to a request that was not a visit, for the archive.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub url: CrawlUrl,
    /// When the request started.
    pub at: Timestamp,
    pub fetched: FetchOutcome,
}

/// Keeps the pace of each host that gets a request: the turn's own, or one that a redirect leads
/// to.
pub(super) struct PacedRequests<'a, W, H> {
    pub(super) world: &'a Arc<W>,
    fetcher: &'a H,
    pacer: &'a Arc<Pacer>,
    /// The monotonic reading after which the lease is too old.
    latest_start: Duration,
    pub(super) waiter: &'a HostWaiter,
    hosts_per_domain: u16,
    /// The delay to keep at the host; `None` for the turn's own.
    delay: Option<Duration>,
    reached: Mutex<FetchEnd>,
    answers: Mutex<Vec<Answer>>,
    sent: AtomicU64,
}

/// Where the redirects ended.
#[derive(Default)]
pub(super) enum FetchEnd {
    /// A server that got a request, whatever it answered.
    #[default]
    Server,
    /// A host that could not be reached.
    Nobody,
    /// A host that others are using, until this time at the latest.
    Busy(Timestamp),
    /// The redirects were not followed to the end, for a reason on our side.
    Failed(PortError),
}

impl<W: World, H: Fetcher> Fetcher for PacedRequests<'_, W, H> {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let host = HostKey::from_origin(&request.url.origin());
        let fetched = if host == HostKey::from_origin(&self.waiter.origin.origin) {
            // Others may be under way at the same time.
            let watch = Arc::new(Connecting::new(Arc::clone(self.pacer), Arc::clone(self.world)));
            let request = FetchRequest { watch: Some(watch), ..request };
            let delay = self.delay.unwrap_or_default();
            self.pacer.slow_down_to(delay.max(self.pacer.pace().base_delay), self.world.clock());
            Ok(Ok(self.fetch_at_pace(self.pacer, request).await))
        } else {
            self.fetch_elsewhere(&host, request).await
        };
        let (fetched, reached) = match fetched {
            Ok(Ok(fetched)) if fetched.is_out_of_reach() => (fetched, FetchEnd::Nobody),
            Ok(Ok(fetched)) => (fetched, FetchEnd::Server),
            Ok(Err(until)) => (unasked(), FetchEnd::Busy(until)),
            Err(error) => (unasked(), FetchEnd::Failed(error)),
        };
        *self.reached.lock().unwrap_or_else(PoisonError::into_inner) = reached;
        fetched
    }
}

fn unasked() -> FetchOutcome {
    FetchOutcome::failed(FetchFailureKind::Timeout, "no request was made", Duration::ZERO)
}

impl<'a, W: World, H: Fetcher> PacedRequests<'a, W, H> {
    /// Returns requests of a turn by this pacer. None starts after `latest_start`. Where another
    /// host is busy, the waiter stands in line there.
    pub(super) fn new(
        world: &'a Arc<W>,
        fetcher: &'a H,
        pacer: &'a Arc<Pacer>,
        latest_start: Duration,
        waiter: &'a HostWaiter,
        hosts_per_domain: u16,
    ) -> Self {
        let (reached, answers, sent) = Default::default();
        Self { world, fetcher, pacer, latest_start, waiter, hosts_per_domain, delay: None, reached, answers, sent }
    }

    /// Keeps this delay at the host that is asked, as its robots.txt may want. At the turn's own
    /// host, where another origin has other rules, a longer one is kept from then on.
    pub(super) fn keeping(self, delay: Duration) -> Self {
        Self { delay: Some(delay), ..self }
    }

    /// Returns where the last request ended.
    pub(super) fn take_end(&self) -> FetchEnd {
        std::mem::take(&mut *self.reached.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the answers so far, for the archive.
    pub(super) fn into_answers(self) -> Vec<Answer> {
        self.answers.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many requests were sent so far: none for a host that was busy, or without time.
    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Makes a request at a host's pace.
    async fn fetch_at_pace(&self, pacer: &Pacer, request: FetchRequest) -> FetchOutcome {
        let (clock, latest_start) = (self.world.clock(), self.latest_start);
        let url = request.url.clone();
        let sent = match pacer.start_in_time(clock, latest_start).await {
            Some(start) => send(clock, self.fetcher, pacer, (start, latest_start), request, Attempt::First).await,
            None => Err(LeaseTooOld),
        };
        let Ok(SentRequest { at, fetched, resends, .. }) = sent else {
            let why = "the lease would have expired before the answer";
            return FetchOutcome::failed(FetchFailureKind::Timeout, why, Duration::ZERO);
        };
        self.sent.fetch_add(1 + u64::from(resends), Ordering::Relaxed);
        if fetched.result.is_ok() {
            let answer = Answer { url, at, fetched: fetched.clone() };
            self.answers.lock().unwrap_or_else(PoisonError::into_inner).push(answer);
        }
        fetched
    }

    /// Makes a request to another host, which is taken for this request only. Returns when to try
    /// again if it cannot be taken in this turn.
    async fn fetch_elsewhere(
        &self,
        host: &HostKey,
        request: FetchRequest,
    ) -> PortResult<Result<FetchOutcome, Timestamp>> {
        let (clock, timing) = (self.world.clock(), self.world.timing());
        let token = LeaseToken::from_bits(self.world.rng().bits());
        // If the other host belongs to the same domain, the turn has a place there already, for one
        // host at a time.
        let own = HostKey::from_origin(&self.waiter.origin.origin).domain();
        let (domain, is_near) = (host.domain(), own.is_some() && host.domain() == own);
        let delay = self.delay.unwrap_or_else(|| self.pacer.pace().base_delay);
        let live = self.world.live().begin(host.clone(), token.clone());
        let give_up_at = self.latest_start.min(clock.monotonic() + timing.wait_in_turn);
        let (row, _places) = loop {
            let places = tokio::select! {
                biased;
                places = self.pacer.take_all_places(), if is_near => Some(places),
                () = clock.sleep(give_up_at.saturating_sub(clock.monotonic())), if is_near => {
                    return Ok(Err(after(clock.now(), LOOK_AGAIN)));
                }
                else => None,
            };
            let now = clock.now();
            let ask = HostRequest {
                waiter: self.waiter.clone(),
                token: token.clone(),
                until: after(now, request.limits.total_timeout + timing.commit_reserve),
                alive: live.others(),
                hosts_per_domain: domain.as_ref().filter(|_| !is_near).map(|_| self.hosts_per_domain),
                pace: Pace::new(delay),
                now,
            };
            let until = match self.world.frontier().take_host(host, &ask).await? {
                Ok(row) => break (row, places),
                Err(until) => until,
            };
            drop(places);
            if clock.monotonic() + LOOK_AGAIN > give_up_at {
                return Ok(Err(until));
            }
            clock.sleep(LOOK_AGAIN.min(between(now, until))).await;
        };
        let pacer = Pacer::new(row.pace, row.free_from, clock);
        pacer.rest_until(live.rests_until());
        let fetched = self.fetch_at_pace(&pacer, request).await;
        live.rest_until(pacer.rests_until(), clock.monotonic());
        let (free_from, pace, now) = (pacer.not_before(clock), pacer.pace(), clock.now());
        let back = GiveBackHost { host: host.clone(), token, free_from, pace, now };
        self.world.frontier().give_back_host(&back).await?;
        drop(live);
        call_next(&**self.world, host).await?;
        Ok(Ok(fetched))
    }
}
