//! One visit: making the request, and reporting its result.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use dragline_domain::capture::{CrawlType, Exchange, Finality, RobotsStand, Visit};
use dragline_domain::definition::{Draft, logs_out};
use dragline_domain::frontier::{FollowUp, GiveUpOutcome, ReadAs, ShapeStanding, TodoEntry, WatchedShapes};
use dragline_domain::outcome::Outcome;
use dragline_domain::policy::Decision;
use dragline_domain::shown::one_line;
use dragline_domain::url::{CrawlUrl, UrlShape};

use super::outcome::find_wall;
use super::pacer::{Pacer, Start};
use super::planner::Work;
use super::render::RenderedPage;
use super::renderable::page_to_render;
use super::robots::Robots;
use super::send::{Attempt, LeaseTooOld, SentRequest, send};
use crate::context::CrawlContext;
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{AnswerPart, ConnectionWatch, FetchLimits, FetchRequest, Fetcher, Session};
use dragline_ports::renderer::PageResponse;

/// The most characters of a detail that are stored.
pub(super) const DETAIL_CHARS_MAX: usize = 300;

/// A finished visit.
#[derive(Debug)]
pub(super) struct FinishedVisit {
    /// The number of its segment in the turn.
    pub segment: u64,
    /// The work that was handed out.
    pub work: Work,
    pub url: CrawlUrl,
    pub sent: SentRequest,
    /// Its page after the browser; `None` if it was not to be rendered.
    pub rendered: Option<Box<RenderedPage>>,
}

impl FinishedVisit {
    /// Returns the page that is to be rendered; `None` if there is none.
    pub(super) fn page_to_render(&self, draft: &Draft) -> Option<PageResponse> {
        let entry = &self.work.entry;
        let is_page = entry.read_as == ReadAs::Typed && entry.requisite_steps == 0 && self.sent.wall.is_none();
        let response = self.sent.fetched.result.as_ref().ok().filter(|_| is_page)?;
        page_to_render(draft, &self.url, response)
    }
}

/// Returns the end of a URL that must not be requested, with the reason.
pub(super) fn refused(
    context: &CrawlContext,
    robots: &Robots,
    (given_up, shapes): (Option<&GiveUpOutcome>, &WatchedShapes),
    work: &Work,
    url: &CrawlUrl,
) -> Option<(Outcome, String)> {
    // Links were decided on when they were found; knowledge from an earlier iteration was decided
    // under that time's definition.
    if work.crawl_type == CrawlType::Recrawl {
        let decision = context.decide(url, work.depth, work.entry.requisite_steps, work.entry.read_as);
        if let Some(refused) = refused_by(decision) {
            return Some(refused);
        }
    }
    if let Some(refused) = context.excluded_since(url).and_then(refused_by) {
        return Some(refused);
    }
    if logs_out(url) && context.keeps_session(url) {
        return Some((Outcome::BlockedUrlByLocalPolicy, "it would end the session".to_owned()));
    }
    if let Some(GiveUpOutcome { outcome, detail }) = given_up {
        return Some((*outcome, detail.clone()));
    }
    if let Some(trap) = left_as_trap(context, shapes, work, url) {
        return Some(trap);
    }
    let forbidden = forbidden_by_robots(robots, work)?;
    let is_ignored = forbidden.0 == Outcome::BlockedByRobotsTxt && context.definition.ignores_robots(&url.origin());
    (!is_ignored).then_some(forbidden)
}

/// Returns the end of a URL that looks like one of an endless number; `None` if it may be
/// requested. What a person or a sitemap named, what was visited before, and what belongs to a page
/// is.
fn left_as_trap(
    context: &CrawlContext,
    shapes: &WatchedShapes,
    work: &Work,
    url: &CrawlUrl,
) -> Option<(Outcome, String)> {
    let TodoEntry { requisite_steps, read_as, known, demand, .. } = &work.entry;
    let is_named = work.depth == 0 || demand.is_some() || work.crawl_type == CrawlType::Retry;
    let is_new_page = *requisite_steps == 0 && read_as.is_typed() && known.document.is_none();
    if is_named || !is_new_page {
        return None;
    }
    let ShapeStanding::Left { pages } = context.shape_standing(shapes, url) else { return None };
    let shape = UrlShape::new(url.path_and_query());
    let kind =
        shape.group().map_or_else(|| shape.pattern().to_owned(), |group| format!("{} or {group}", shape.pattern()));
    let why = format!("{pages} pages like {kind} led on and showed nothing new");
    Some((Outcome::CrawlerTrap, one_line(&why, DETAIL_CHARS_MAX)))
}

/// Returns the end of a URL by a decision; `None` if it may be requested.
fn refused_by(decision: Decision<'_>) -> Option<(Outcome, String)> {
    let rule = match decision {
        Decision::Crawl => return None,
        Decision::OutOfScope(rule) => rule.to_string(),
        Decision::Blocked(rule) => rule.to_string(),
    };
    Some((Outcome::BlockedUrlByLocalPolicy, rule))
}

/// Returns what robots.txt, or the lack of it, makes of a URL; `None` if it may be requested.
fn forbidden_by_robots(robots: &Robots, work: &Work) -> Option<(Outcome, String)> {
    match robots {
        Robots::Known(policy) => {
            let verdict = match policy.verdict(&work.entry.path_and_query) {
                verdict if verdict.is_allowed() => policy.verdict(work.entry.sent_target()),
                verdict => verdict,
            };
            (!verdict.is_allowed()).then(|| (Outcome::BlockedByRobotsTxt, verdict.to_string()))
        }
        Robots::NotNeeded => None,
        Robots::NotAsked => Some((Outcome::BlockedUrlByLocalPolicy, "its origin is not in scope".to_owned())),
        Robots::PrivateAddress(why) => Some((Outcome::BlockedPrivateAddress, why.clone())),
        Robots::Unreadable(why) | Robots::NobodyThere(why) | Robots::OutOfReach(why) => {
            Some((Outcome::BlockedByRobotsTxt, why.to_string()))
        }
        Robots::NotRead | Robots::HostBusy(_) => Some((Outcome::BlockedByRobotsTxt, "it was not read".to_owned())),
    }
}

/// Makes the request of a visit whose start the pacer allowed.
pub(super) async fn visit(
    clock: &impl Clock,
    fetcher: &impl Fetcher,
    pacer: &Pacer,
    (start, latest_start): (Start, Duration),
    (watch, session): (Option<Arc<dyn ConnectionWatch>>, Option<Arc<Session>>),
    limits: FetchLimits,
    (segment, work, url): (u64, Work, CrawlUrl),
) -> Result<FinishedVisit, LeaseTooOld> {
    let (last, follow_up) = (work.entry.conditions(), work.entry.follow_up.as_deref());
    let request = FetchRequest {
        wanted: wanted_part(work.entry.read_as, work.requests_before()),
        target: follow_up.and_then(FollowUp::target).map(str::to_owned),
        via: work.entry.via.clone(),
        // Its session has it.
        cookie: follow_up.and_then(FollowUp::cookie).filter(|_| session.is_none()).cloned(),
        session,
        if_none_match: last.and_then(|last| last.etag.clone()),
        if_modified_since: last.and_then(|last| last.last_modified.clone()),
        watch,
        ..FetchRequest::new(url.clone(), limits)
    };
    let asked = if work.tries == 0 { Attempt::First } else { Attempt::Again };
    let sent = send(clock, fetcher, pacer, (start, latest_start), request, asked).await?;
    Ok(FinishedVisit { segment, work, url, sent, rendered: None })
}

/// Returns what is wanted of the answer to a visit, after this many requests for its URL. If a HEAD
/// failed, that may be due to the method.
pub(super) const fn wanted_part(read_as: ReadAs, requests_before: u8) -> AnswerPart {
    match (read_as, requests_before) {
        (ReadAs::Check, 0) => AnswerPart::Header,
        (_, _) => AnswerPart::All,
    }
}

/// Takes an archived answer as the result of a visit.
pub(super) async fn take_archived(
    clock: &impl Clock,
    fetcher: &impl Fetcher,
    limits: FetchLimits,
    (segment, work, url): (u64, Work, CrawlUrl),
) -> FinishedVisit {
    let (now, started) = (clock.now(), clock.monotonic());
    let fetched = fetcher.fetch(FetchRequest::new(url.clone(), limits)).await;
    let (at, wall) = (fetched.archived_at.unwrap_or(now), find_wall(&url, &fetched));
    FinishedVisit { segment, work, url, sent: SentRequest { at, started, fetched, wall, resends: 0 }, rendered: None }
}

/// Returns the visit as stored.
pub(super) fn to_visit(
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
        exchange: exchange.map(Box::new),
        known: work.entry.known.clone(),
        demand: work.entry.demand.clone(),
        missing: None,
        uses: Vec::new(),
    }
}

/// Returns what robots.txt says of a request that was made. Only where somebody said not to obey it
/// can that be no.
pub(super) fn robots_stand(context: &CrawlContext, robots: &Robots, work: &Work) -> RobotsStand {
    let is_obeyed = context.definition.ignore_robots.is_empty();
    if is_obeyed || forbidden_by_robots(robots, work).is_none() { RobotsStand::Approved } else { RobotsStand::Ignored }
}

/// Returns the exchange as stored, of a URL that is read like this, and whose page may have been
/// rendered.
pub(super) fn to_exchange(
    SentRequest { fetched, resends, .. }: &SentRequest,
    robots: RobotsStand,
    read_as: ReadAs,
    rendered: Option<&RenderedPage>,
) -> Exchange {
    let dom = rendered.and_then(|page| Some((page.rendering.dom_sha1()?, page.html.as_ref()?.len() as u64)));
    let response = fetched.result.as_ref().ok();
    Exchange {
        robots,
        // As precise as it is stored, so that a parser sees the same value whether or not it reads
        // it back.
        elapsed: Duration::from_millis(u64::try_from(fetched.elapsed.as_millis()).unwrap_or(u64::MAX)),
        resends: *resends,
        first_byte_ms: fetched.first_byte.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        remote: fetched.remote,
        body_bytes: response.map_or(0, |response| response.body.len_bytes()),
        decoded_sha1: response
            .map(|response| HEXLOWER.encode(&dom.map_or(response.decoded_sha1, |(dom_sha1, _)| dom_sha1))),
        decoded_bytes: dom.map_or(response.map_or(0, |response| response.decoded_bytes), |(_, bytes)| bytes),
        status: response.filter(|_| read_as == ReadAs::Check).map(|response| response.status),
        rendering: rendered.map(|page| Box::new(page.rendering.clone())),
    }
}
