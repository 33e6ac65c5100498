//! Fetching an origin's robots.txt, and the meaning of failures.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::frontier::{HostWaiter, OriginKey};
use dragline_domain::politeness::{RobotsUse, is_robots_good};
use dragline_domain::time::{after, between, honest, written_by};
use dragline_domain::url::Origin;
use dragline_formats::content_coding::{ContentCodings, DecodedBody};
use dragline_formats::robots::{BODY_BYTES_MAX, ROBOTS_PATH, RobotsFetch, RobotsPolicy, RobotsRecord, Unreadable};
use jiff::Timestamp;

use super::paced::{Answer, FetchEnd, PacedRequests};
use super::pacer::Pacer;
use super::site_file::{NoSiteFile, fetch_site_file};
use crate::World;
use crate::context::CrawlContext;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::{FetchFailureKind, FetchLimits, FetchedResponse, Fetcher, Truncation};
use dragline_ports::frontier::{KeptRobots, RobotsRow};

/// The rules that a turn follows.
#[derive(Debug)]
pub(super) enum Robots {
    /// The rules, or that there are none.
    Known(Arc<RobotsPolicy>),
    /// Not read yet: no request may be made.
    NotRead,
    /// It cannot be read for now: no request may be made.
    Unreadable(Unreadable),
    /// It cannot be read because nobody was ever there, or nobody trustworthy.
    NobodyThere(Unreadable),
    /// It cannot be read because a server that once answered is unreachable. It may be restarting.
    OutOfReach(Unreadable),
    /// The origin's address is one that Dragline never connects to.
    PrivateAddress(String),
    /// Not requested, as nothing of the origin is: it is out of scope by now, or documents are only
    /// remade.
    NotAsked,
    /// Not needed, as nothing is requested: the program that made the archive read it.
    NotNeeded,
    /// It redirects to a host that others are using, until this time at the latest. That is
    /// nobody's fault.
    HostBusy(Timestamp),
}

impl Robots {
    /// Returns why the rules could not be read; `None` if they could, or need not be.
    pub(super) const fn unreadable(&self) -> Option<&Unreadable> {
        match self {
            Self::Unreadable(why) | Self::NobodyThere(why) | Self::OutOfReach(why) => Some(why),
            Self::Known(_)
            | Self::NotRead
            | Self::PrivateAddress(_)
            | Self::NotAsked
            | Self::NotNeeded
            | Self::HostBusy(_) => None,
        }
    }

    /// Whether requests may be made as far as the rules allow, or without rules.
    pub(super) const fn may_be_followed(&self) -> bool {
        matches!(self, Self::Known(_) | Self::PrivateAddress(_) | Self::NotAsked | Self::NotNeeded)
    }
}

/// How to treat a robots.txt whose body breaks off, or cannot be decoded to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenOffPolicy {
    /// As unreadable: another try may get the rest.
    IsFailure,
    /// The rules received so far are obeyed, as there is no further try.
    IsObeyed,
}

/// The result of reading an origin's robots.txt.
#[derive(Debug)]
pub(super) struct RobotsRead {
    pub robots: Robots,
    /// Whether the rules have been used since they were fetched.
    pub robots_use: RobotsUse,
    /// The servers' answers on the way, for the archive: none if the stored rules are valid,
    /// several with redirects.
    pub answers: Vec<Answer>,
}

/// Whether a stored robots.txt may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredUse {
    /// Yes, if it is still valid.
    Serves,
    /// Yes, up to this age: all that is asked of the origin is whether some URLs are there.
    ServesChecks {
        /// The most time since it was fetched.
        age_max: Duration,
    },
    /// No, it is to be read again.
    IsReplaced,
}

/// Returns an origin's robots.txt: the stored one if it may be used and stays valid for this turn,
/// or else a fetched one. No request for it starts after `latest_start`. `robots_use` says whether
/// the stored one has been used since it was fetched, `broken_off` what to do if the body breaks
/// off. If it is at another host than the waiter's, or redirects there, and that is
/// busy, the waiter stands in line there.
pub(super) async fn robots(
    world: &Arc<impl World>,
    fetcher: &impl Fetcher,
    context: &CrawlContext,
    pacer: &Arc<Pacer>,
    latest_start: Duration,
    (waiter, origin): (&HostWaiter, &OriginKey),
    (stored, robots_use, broken_off): (StoredUse, RobotsUse, BrokenOffPolicy),
) -> PortResult<RobotsRead> {
    let hosts_per_domain = context.definition.politeness.hosts_per_domain;
    let paced = PacedRequests::new(world, fetcher, pacer, latest_start, waiter, hosts_per_domain);
    let (robots, robots_use) = read(&paced, context, origin, (stored, robots_use, broken_off)).await?;
    Ok(RobotsRead { robots, robots_use, answers: paced.into_answers() })
}

async fn read<W: World>(
    paced: &PacedRequests<'_, W, impl Fetcher>,
    context: &CrawlContext,
    origin: &OriginKey,
    (stored, robots_use, broken_off): (StoredUse, RobotsUse, BrokenOffPolicy),
) -> PortResult<(Robots, RobotsUse)> {
    let world = paced.world;
    let token = context.definition.user_agent.product_token();
    let (kept, now) = (world.frontier().load_robots(origin).await?, world.clock().now());
    let max_age = context.definition.politeness.robots_max_age;
    let is_good = |row: &&RobotsRow| {
        let expires_at = honest(row.expires_at, now, max_age);
        let is_good = match stored {
            StoredUse::Serves => is_robots_good(robots_use, row.fetched_at, expires_at, now),
            StoredUse::ServesChecks { age_max } => after(row.fetched_at, age_max) > now,
            StoredUse::IsReplaced => false,
        };
        // An unreadable one is stored only for display.
        is_good && !row.record.is_unreadable()
    };
    if let Some(row) = kept.as_ref().filter(is_good) {
        return Ok((Robots::Known(Arc::new(row.record.policy(token))), robots_use));
    }
    // Its age counts from its oldest byte, however long it takes to store it.
    let asked_at = world.clock().now();
    let fetched = fetch_robots(paced, context.limits(), &origin.origin, broken_off).await;
    let is_away = match paced.take_end() {
        FetchEnd::Busy(until) => return Ok((Robots::HostBusy(until), robots_use)),
        FetchEnd::Failed(error) => return Err(error),
        FetchEnd::Nobody => true,
        FetchEnd::Server => false,
    };
    let fetched = match fetched {
        Ok(record) => record,
        Err(RefusedAddress(why)) => return Ok((Robots::PrivateAddress(why), RobotsUse::Used)),
    };
    // The stored one may be later by its fetcher's clock, but it was stored before this request.
    let stored_at = kept.as_ref().map(|row| row.fetched_at).filter(|at| *at <= written_by(asked_at));
    let fetched_at = stored_at.map_or(asked_at, |at| at.max(asked_at));
    let has_answered = kept.as_ref().is_some_and(|row| !row.record.is_unreadable());
    if let Some(row) = kept.filter(|row| row.record.outlives(between(row.fetched_at, asked_at), &fetched)) {
        return Ok((Robots::Known(Arc::new(row.record.policy(token))), RobotsUse::Unused));
    }
    let policy = fetched.policy(token);
    let found = match &policy {
        RobotsPolicy::DisallowAll(why) if is_away && has_answered => {
            // The stored one stays, as it shows that the server did answer once.
            return Ok((Robots::OutOfReach(why.clone()), RobotsUse::Used));
        }
        RobotsPolicy::DisallowAll(why) if is_away && why.is_lasting() => {
            (Robots::NobodyThere(why.clone()), RobotsUse::Used)
        }
        RobotsPolicy::DisallowAll(why) => (Robots::Unreadable(why.clone()), RobotsUse::Used),
        RobotsPolicy::AllowAll(_) | RobotsPolicy::Rules(_) => (Robots::Known(Arc::new(policy)), RobotsUse::Unused),
    };
    let expires_at = match &found {
        (Robots::Known(_), _) => after(asked_at, max_age),
        _ => asked_at,
    };
    world.frontier().put_robots(origin, &RobotsRow { record: fetched, fetched_at, expires_at }).await?;
    Ok(found)
}

/// An error: robots.txt is at an address that Dragline never connects to. Contains the address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedAddress(pub String);

/// Fetches an origin's robots.txt, following redirects wherever they lead (RFC 9309 section
/// 2.3.1.2).
///
/// # Errors
/// Returns [`RefusedAddress`] if that needs a request to a private address. Every other failure
/// becomes a record that forbids everything.
pub async fn fetch_robots(
    fetcher: &impl Fetcher,
    limits: FetchLimits,
    origin: &Origin,
    broken_off: BrokenOffPolicy,
) -> Result<RobotsRecord, RefusedAddress> {
    let Ok(asked) = origin.url_at(ROBOTS_PATH) else {
        return Ok(RobotsRecord::from_fetch(&RobotsFetch::Failed { detail: "the origin has no URL" }));
    };
    let read = |response: &FetchedResponse, body: &DecodedBody<'_>| to_record(response, body, broken_off);
    let no_file = match fetch_site_file(fetcher, limits, &asked, BODY_BYTES_MAX, read).await {
        Ok(record) => return Ok(record),
        Err(no_file) => no_file,
    };
    Ok(RobotsRecord::from_fetch(&match &no_file {
        NoSiteFile::Failed(failure) if failure.kind == FetchFailureKind::PrivateAddress => {
            return Err(RefusedAddress(failure.detail.clone()));
        }
        NoSiteFile::Failed(failure) => RobotsFetch::Failed { detail: &failure.detail },
        NoSiteFile::Walled(detail) => RobotsFetch::Walled { detail },
        NoSiteFile::TooManyRedirects => RobotsFetch::TooManyRedirects,
    }))
}

fn to_record(response: &FetchedResponse, body: &DecodedBody<'_>, broken_off: BrokenOffPolicy) -> RobotsRecord {
    let status = response.status;
    if ContentCodings::parse(response.headers.all("content-encoding")).is_err() {
        return RobotsRecord::from_fetch(&RobotsFetch::Failed { detail: "its content coding cannot be undone" });
    }
    let is_broken_off = !matches!(response.truncated, None | Some(Truncation::Length)) || body.is_garbled();
    let fetch = match broken_off {
        _ if !is_broken_off => RobotsFetch::Answered { status, body: &body.bytes },
        BrokenOffPolicy::IsFailure if (200..300).contains(&status) => {
            RobotsFetch::Failed { detail: "its body broke off" }
        }
        BrokenOffPolicy::IsFailure | BrokenOffPolicy::IsObeyed => RobotsFetch::BrokenOff { status, body: &body.bytes },
    };
    RobotsRecord::from_fetch(&fetch)
}

/// Returns the turn's delay: the definition's, or the Crawl-delay if that is longer.
pub(super) fn base_delay(context: &CrawlContext, policy: &RobotsPolicy) -> Duration {
    context.definition.politeness.delay.max(policy.crawl_delay().unwrap_or_default())
}
