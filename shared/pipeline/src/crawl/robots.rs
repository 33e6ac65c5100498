//! Getting an origin's robots.txt, and what it means when that fails.

use std::time::Duration;

use dragline_domain::frontier::OriginKey;
use dragline_domain::politeness::{RobotsUse, is_robots_good};
use dragline_domain::time::{after, between};
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::robots::{BODY_BYTES_MAX, REDIRECTS_MAX, RobotsFetch, RobotsPolicy, RobotsRecord};

use super::pacer::Pacer;
use super::visit::pace_by;
use crate::World;
use crate::context::CrawlContext;
use crate::ports::clock::Clock;
use crate::ports::error::PortResult;
use crate::ports::fetcher::{
    FetchFailureKind, FetchLimits, FetchRequest, Fetched, FetchedResponse, Fetcher, Truncation,
};
use crate::ports::frontier::{Frontier, RobotsRow};

/// What a turn goes by.
#[derive(Debug)]
pub(super) enum Robots {
    /// The rules, or that there are none.
    Known(RobotsPolicy),
    /// It could not be read, for now: nothing may be asked.
    Unreadable(String),
    /// The origin's address is one that Dragline never talks to.
    PrivateAddress(String),
}

/// The origin's robots.txt: as kept, if that is good for this turn, or else fetched, by requests none of which starts after `latest_start`.
/// And whether it was used since it was fetched, which `robots_use` says of the kept one.
pub(super) async fn robots(
    world: &impl World,
    fetcher: &impl Fetcher,
    context: &CrawlContext,
    pacer: &Pacer,
    latest_start: Duration,
    origin: &OriginKey,
    robots_use: RobotsUse,
) -> PortResult<(Robots, RobotsUse)> {
    let token = context.definition.user_agent.product_token();
    let (kept, now) = (world.frontier().load_robots(origin).await?, world.clock().now());
    let is_good = |row: &&RobotsRow| is_robots_good(robots_use, row.fetched_at, row.expires_at, now);
    if let Some(row) = kept.as_ref().filter(is_good) {
        return Ok((Robots::Known(row.record.policy(token)), robots_use));
    }
    // As old as its oldest byte may be, however long it takes until it is kept.
    let asked_at = world.clock().now();
    let paced = Paced { fetcher, clock: world.clock(), pacer, latest_start, origin: &origin.origin };
    let fetched = match fetch_robots(&paced, context.limits(), &origin.origin).await {
        Ok(record) => record,
        Err(RefusedAddress(why)) => return Ok((Robots::PrivateAddress(why), RobotsUse::Used)),
    };
    if let Some(row) = kept.filter(|row| row.record.outlives(between(row.fetched_at, asked_at), &fetched)) {
        return Ok((Robots::Known(row.record.policy(token)), RobotsUse::Unused));
    }
    let policy = fetched.policy(token);
    if let RobotsPolicy::DisallowAll(why) = &policy {
        return Ok((Robots::Unreadable(why.to_string()), RobotsUse::Used));
    }
    let expires_at = after(asked_at, context.definition.politeness.robots_max_age);
    world.frontier().put_robots(origin, &RobotsRow { record: fetched, fetched_at: asked_at, expires_at }).await?;
    Ok((Robots::Known(policy), RobotsUse::Unused))
}

/// robots.txt is only got from an address that Dragline never talks to, as this says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedAddress(pub String);

/// Fetches an origin's robots.txt, following redirects wherever they lead (RFC 9309 section 2.3.1.2).
///
/// # Errors
/// [`RefusedAddress`] if a private address would have to be asked. Every other failure is a record that forbids everything.
pub async fn fetch_robots(
    fetcher: &impl Fetcher,
    limits: FetchLimits,
    origin: &Origin,
) -> Result<RobotsRecord, RefusedAddress> {
    let Ok(mut url) = origin.url_at("/robots.txt") else {
        return Ok(RobotsRecord::of(&RobotsFetch::Failed { detail: "the origin has no URL" }));
    };
    let limits = FetchLimits { body_bytes_max: BODY_BYTES_MAX, decoded_bytes_max: BODY_BYTES_MAX as u64, ..limits };
    for _ in 0..=REDIRECTS_MAX {
        let request = FetchRequest { url: url.clone(), if_none_match: None, if_modified_since: None, limits };
        let response = match fetcher.fetch(request).await.result {
            Err(failure) if failure.kind == FetchFailureKind::PrivateAddress => {
                return Err(RefusedAddress(failure.detail));
            }
            Err(failure) => return Ok(RobotsRecord::of(&RobotsFetch::Failed { detail: &failure.detail })),
            Ok(response) => response,
        };
        match redirect_target(&url, &response) {
            Some(target) => url = target,
            None => return Ok(record_of(&response)),
        }
    }
    Ok(RobotsRecord::of(&RobotsFetch::TooManyRedirects))
}

/// Keeps the pace of one origin. Another host's pace is its own; asking it once for a file is within anybody's.
struct Paced<'a, H, C> {
    fetcher: &'a H,
    clock: &'a C,
    pacer: &'a Pacer,
    /// By the monotonic clock: the lease is too old afterwards.
    latest_start: Duration,
    origin: &'a Origin,
}

impl<H: Fetcher, C: Clock> Fetcher for Paced<'_, H, C> {
    async fn fetch(&self, request: FetchRequest) -> Fetched {
        if request.url.origin() != *self.origin {
            return self.fetcher.fetch(request).await;
        }
        let start = self.pacer.reserve(self.clock);
        self.clock.sleep(start.saturating_sub(self.clock.monotonic())).await;
        let started = self.clock.monotonic();
        if started > self.latest_start {
            let why = "the lease would have run out before the answer";
            return Fetched::failed(FetchFailureKind::Timeout, why, Duration::ZERO);
        }
        let fetched = self.fetcher.fetch(request).await;
        pace_by(self.pacer, self.clock, started, &fetched);
        fetched
    }
}

fn redirect_target(url: &CrawlUrl, response: &FetchedResponse) -> Option<CrawlUrl> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = super::outcome::field(response, "location")?;
    url.join(location, &dragline_domain::url::UrlRules::keep_all()).ok()
}

fn record_of(response: &FetchedResponse) -> RobotsRecord {
    if matches!(response.truncated, Some(Truncation::Disconnect | Truncation::Time)) {
        return RobotsRecord::of(&RobotsFetch::Failed { detail: "its body broke off" });
    }
    let codings = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-encoding"));
    let Ok(codings) = ContentCodings::parse(codings.map(|(_, value)| value.as_slice())) else {
        return RobotsRecord::of(&RobotsFetch::Failed { detail: "its content coding is unknown" });
    };
    let body = decode_all(&codings, &response.body, BODY_BYTES_MAX as u64);
    RobotsRecord::of(&RobotsFetch::Answered { status: response.status, body: &body.bytes })
}

/// What the turn's delay is: the definition's, or the Crawl-delay if that is longer.
pub(super) fn base_delay(context: &CrawlContext, policy: &RobotsPolicy) -> Duration {
    context.definition.politeness.delay.max(policy.crawl_delay().unwrap_or_default())
}
