//! Getting an origin's robots.txt, and what it means when that fails.

use std::time::Duration;

use dragline_domain::frontier::OriginKey;
use dragline_domain::time::{after, between};
use dragline_domain::url::CrawlUrl;
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::robots::{BODY_BYTES_MAX, REDIRECTS_MAX, RobotsFetch, RobotsPolicy, RobotsRecord};

use super::pacer::Pacer;
use super::visit::pace_by;
use crate::World;
use crate::context::CrawlContext;
use crate::ports::clock::Clock;
use crate::ports::error::PortResult;
use crate::ports::fetcher::{FetchFailureKind, FetchLimits, FetchRequest, FetchedResponse, Fetcher, Truncation};
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

/// The origin's robots.txt: as kept, if that is fresh enough, or else fetched.
pub(super) async fn robots(
    world: &impl World,
    fetcher: &impl Fetcher,
    context: &CrawlContext,
    pacer: &Pacer,
    origin: &OriginKey,
) -> PortResult<Robots> {
    let token = context.definition.user_agent.product_token();
    let kept = world.frontier().load_robots(origin).await?;
    if let Some(row) = kept.as_ref().filter(|row| row.expires_at > world.clock().now()) {
        return Ok(Robots::Known(row.record.policy(token)));
    }
    let fetched = match fetch(world, fetcher, context, pacer, origin).await {
        Ok(record) => record,
        Err(refused) => return Ok(Robots::PrivateAddress(refused)),
    };
    let now = world.clock().now();
    if let Some(row) = kept.filter(|row| row.record.outlives(between(row.fetched_at, now), &fetched)) {
        return Ok(Robots::Known(row.record.policy(token)));
    }
    let policy = fetched.policy(token);
    if let RobotsPolicy::DisallowAll(why) = &policy {
        return Ok(Robots::Unreadable(why.to_string()));
    }
    let expires_at = after(now, context.definition.politeness.robots_max_age);
    world.frontier().put_robots(origin, &RobotsRow { record: fetched, fetched_at: now, expires_at }).await?;
    Ok(Robots::Known(policy))
}

/// Fetches it, following redirects wherever they lead. The error says which private address was refused.
async fn fetch(
    world: &impl World,
    fetcher: &impl Fetcher,
    context: &CrawlContext,
    pacer: &Pacer,
    origin: &OriginKey,
) -> Result<RobotsRecord, String> {
    let Ok(mut url) = origin.origin.url_at("/robots.txt") else {
        return Ok(RobotsRecord::of(&RobotsFetch::Failed { detail: "the origin has no URL" }));
    };
    let limits =
        FetchLimits { body_bytes_max: BODY_BYTES_MAX, decoded_bytes_max: BODY_BYTES_MAX as u64, ..context.limits() };
    for _ in 0..=REDIRECTS_MAX {
        // Another host's pace is its own; asking it once for a file is within anybody's.
        let is_own = url.origin() == origin.origin;
        if is_own {
            let start = pacer.reserve(world.clock());
            world.clock().sleep(start.saturating_sub(world.clock().monotonic())).await;
        }
        let started = world.clock().monotonic();
        let request = FetchRequest { url: url.clone(), if_none_match: None, if_modified_since: None, limits };
        let fetched = fetcher.fetch(request).await;
        if is_own {
            pace_by(pacer, world.clock(), started, &fetched);
        }
        let response = match fetched.result {
            Err(failure) if failure.kind == FetchFailureKind::PrivateAddress => return Err(failure.detail),
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
