//! One visit: wait for the origin's pace, make the request, tell how it went.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use dragline_domain::capture::{CrawlType, Exchange, Finality, Visit};
use dragline_domain::frontier::Sighting;
use dragline_domain::outcome::Outcome;
use dragline_domain::policy::Decision;
use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;

use super::pacer::Pacer;
use super::planner::Work;
use super::robots::Robots;
use crate::World;
use crate::context::CrawlContext;
use crate::ports::clock::Clock;
use crate::ports::fetcher::{FetchLimits, FetchRequest, Fetched, Fetcher};

/// A visit that is over.
#[derive(Debug)]
pub(super) struct Visited {
    /// Which segment of the turn it belongs to.
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

/// How a URL ends that must not be asked for, and why.
pub(super) fn refused(
    context: &CrawlContext,
    robots: &Robots,
    work: &Work,
    url: &CrawlUrl,
) -> Option<(Outcome, String)> {
    // Links were decided on when they were found; what an earlier iteration knew was so by the definition of then.
    if work.crawl_type == CrawlType::Recrawl {
        let rule = match context.policy.decide(url, work.depth, &context.allowed) {
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
        Robots::PrivateAddress(why) => Some((Outcome::BlockedPrivateAddress, why.clone())),
        Robots::Unreadable(why) => Some((Outcome::BlockedByRobotsTxt, why.clone())),
    }
}

/// Waits until the reserved start, then asks.
pub(super) async fn visit<W: World, H: Fetcher>(
    world: Arc<W>,
    fetcher: Arc<H>,
    start: Duration,
    limits: FetchLimits,
    (segment, work, url): (u64, Work, CrawlUrl),
) -> Visited {
    let clock = world.clock();
    clock.sleep(start.saturating_sub(clock.monotonic())).await;
    let last = work.entry.last.as_ref();
    let request = FetchRequest {
        url: url.clone(),
        if_none_match: last.and_then(|last| last.etag.clone()),
        if_modified_since: last.and_then(|last| last.last_modified.clone()),
        limits,
    };
    let (at, started) = (clock.now(), clock.monotonic());
    let fetched = fetcher.fetch(request).await;
    Visited { segment, work, url, at, started, fetched }
}

/// Tells the pacer how a request went, and obeys a Retry-After.
pub(super) fn pace_by(pacer: &Pacer, clock: &impl Clock, started: Duration, fetched: &Fetched) {
    let response = fetched.result.as_ref().ok();
    let status = response.map(|response| response.status);
    let keeps = response.is_some_and(super::outcome::keeps_connection);
    pacer.answered(clock, started, status, fetched.first_byte, fetched.elapsed, keeps);
    if let Some(response) = response.filter(|response| matches!(response.status, 429 | 503)) {
        let wait = super::outcome::field(response, "retry-after")
            .and_then(|value| dragline_formats::http_fields::retry_after(value, clock.now()));
        if let Some(wait) = wait {
            pacer.hold_off(clock, wait);
        }
    }
}

/// The visit as it is stored.
pub(super) fn visit_of(
    work: &Work,
    outcome: Outcome,
    detail: Option<String>,
    exchange: Option<Exchange>,
    tries: u8,
) -> Visit {
    Visit {
        sighting: Sighting { depth: work.depth, via: work.entry.via.clone() },
        redirects: work.entry.redirects,
        crawl_type: work.crawl_type,
        tries,
        outcome,
        finality: Finality::Final,
        detail: detail.map(|detail| one_line(&detail)),
        exchange,
        last: work.entry.last.clone(),
    }
}

/// A detail as it is stored: short, without control characters.
fn one_line(detail: &str) -> String {
    const CHARS_MAX: usize = 300;
    detail.chars().take(CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The exchange as it is stored.
pub(super) fn exchange_of(fetched: &Fetched) -> Exchange {
    let response = fetched.result.as_ref().ok();
    Exchange {
        elapsed: fetched.elapsed,
        first_byte_ms: fetched.first_byte.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        remote: fetched.remote,
        decoded_sha1: response.map(|response| HEXLOWER.encode(&response.decoded_sha1)),
        decoded_bytes: response.map_or(0, |response| response.decoded_bytes),
    }
}
