//! The visits of a turn: when one may start, and where its result goes.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::capture::{CrawlType, Finality, Visit};
use dragline_domain::frontier::{LeftoverReason, ObjectKey, Reserve, Retry, SegmentId, SegmentWork, Task, TodoEntry};
use dragline_domain::outcome::{Outcome, OutcomeClass};
use dragline_domain::politeness::{RobotsUse, retry_wait, tries_max};
use dragline_domain::time::after;
use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;

use super::access::TurnAccess;
use super::reservations::reserved_by_site;
use super::{TurnWork, WAIT_IN_A_CROWD};
use crate::crawl::commit::{OpenSegment, segment_pages};
use crate::crawl::follow_up::{LoggedAnswer, follow_up};
use crate::crawl::outcome::{Comparison, Shown, fetch_outcome, final_outcome, origin_sign};
use crate::crawl::pacer::Connecting;
use crate::crawl::planner::{NothingToVisit, Work};
use crate::crawl::render::{Lack, MadeRequests, PageRequests, render};
use crate::crawl::robots::Robots;
use crate::crawl::segment::{self, SegmentRecords, ShownPage};
use crate::crawl::send::LeaseTooOld;
use crate::crawl::visit::{FinishedVisit, refused, robots_stand, take_archived, to_exchange, to_visit, visit};
use crate::{DeadLeases, World};
use dragline_ports::archive::Archive;
use dragline_ports::clock::{Clock, Rng};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::{FetchOutcome, Fetchers};

/// The most segments in progress at once: one that takes visits, and those that wait for their last
/// ones.
const OPEN_SEGMENTS_MAX: usize = 4;

/// The result of an attempt to start visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartResult {
    /// The maximum is under way.
    Full,
    /// The next one has to wait for its time.
    NotYet,
    /// The parsers of this process have to catch up first.
    AheadOfParsers,
    /// The turn starts nothing more.
    MustEnd,
    /// The lease must be renewed first, or follow-ups be committed.
    MustCommit,
    /// There is nothing left to start.
    Dry,
    /// No pages are left of the budget, and the next URL in line is one.
    PagesSpent,
    /// Patience is exhausted: a probe of something that worked comes first.
    MustProbe,
    /// A log-in comes first.
    MustLogIn,
    /// A probe for missing pages comes first.
    MustAskForMissing,
    /// The origin's reservations come first.
    MustReadReservations,
}

impl<W: World, S: Fetchers> TurnWork<W, S> {
    /// Starts visits until the maximum is under way.
    pub(super) async fn start_visits(&mut self) -> PortResult<StartResult> {
        let concurrency = usize::from(self.context.definition.politeness.concurrency);
        while self.visits.len() < concurrency {
            if let Some(reason) = self.must_not_start() {
                return Ok(reason);
            }
            if self.must_follow_up() {
                return Ok(StartResult::MustCommit);
            }
            if let Some(reason) = self.make_room() {
                return Ok(reason);
            }
            let now = self.retries_are_due_by();
            let in_flight = self.segments.open.iter().map(|segment| segment.entries as usize).sum();
            if self.are_pages_spent()
                && !self.planner.find_beside_pages(&*self.world, &self.lease, &self.inbox, in_flight, now).await?
            {
                return Ok(StartResult::PagesSpent);
            }
            if self.planner.is_empty_handed(&self.lease, &self.inbox, in_flight, now)
                && self.planner.fill(&*self.world, &self.lease, &self.inbox, in_flight).await?
            {
                self.fit_last();
                // That took time: check again whether there is enough left for a visit.
                continue;
            }
            if let Err(dry) = self.planner.has_next(&self.lease, &self.inbox, in_flight, now) {
                self.has_met_barrier = dry == NothingToVisit::AtBarrier;
                return Ok(StartResult::Dry);
            }
            self.has_met_barrier = false;
            if self.lease.given_up.is_none()
                && let Some(reason) = self.must_wait()
            {
                return Ok(reason);
            }
            if let Some(work) = self.planner.next(&self.lease, now) {
                self.start(work);
            }
        }
        Ok(StartResult::Full)
    }

    /// Returns what comes before the next request; `None` if it may be made now.
    fn must_wait(&self) -> Option<StartResult> {
        if self.lease.patience.is_exhausted(self.context.definition.politeness.failures) {
            return Some(StartResult::MustProbe);
        }
        if self.must_log_in() {
            // What is asked for again comes first in the new session, which may be short.
            let is_idle = self.segments.open.iter().all(|open| open.entries == 0);
            return Some(if is_idle { StartResult::MustLogIn } else { StartResult::MustCommit });
        }
        if self.must_read_reservations() {
            return Some(StartResult::MustReadReservations);
        }
        if self.must_ask_for_missing() {
            return Some(StartResult::MustAskForMissing);
        }
        if !self.wait().is_zero() {
            self.asks_at(self.pacer.rests_until());
            return Some(StartResult::NotYet);
        }
        None
    }

    /// Returns the time by which a retry must be due to be handed out: any time if the origin is
    /// given up, as nothing is requested.
    pub(super) fn retries_are_due_by(&self) -> Timestamp {
        if self.lease.given_up.is_some() { Timestamp::MAX } else { self.world.clock().now() }
    }

    pub(super) fn must_not_start(&mut self) -> Option<StartResult> {
        let clock = self.world.clock();
        let timing = self.world.timing();
        let now = clock.monotonic();
        let (turn_end, wait_max) = if self.deadlines.crowd.is_there() {
            (self.deadlines.turn_end.min(self.deadlines.turn_end_in_a_crowd), timing.wait_in_turn.min(WAIT_IN_A_CROWD))
        } else {
            (self.deadlines.turn_end, timing.wait_in_turn)
        };
        if self.stop.is_stopped() || now >= turn_end {
            return Some(StartResult::MustEnd);
        }
        if self.lease.given_up.is_some() {
            // Nothing is requested any more: only the commit has to be in time.
            return (now + timing.commit_reserve > self.deadlines.lease_end).then_some(StartResult::MustCommit);
        }
        let is_put_off = self.access.as_ref().is_some_and(|access| access.is_put_off);
        if self.lease.ending.is_some() || !self.robots.may_be_followed() || is_put_off {
            return Some(StartResult::MustEnd);
        }
        let wait = self.wait();
        if wait > wait_max {
            return Some(StartResult::MustEnd);
        }
        if self.rest_of_reserve().is_some_and(|rest| rest.bytes == Some(0)) {
            return Some(StartResult::MustEnd);
        }
        // A visit that starts must have ended, and be committed, before the lease ends.
        let ends_by = now + wait + self.context.longest_exchange() + timing.commit_reserve;
        (ends_by > self.deadlines.lease_end).then_some(StartResult::MustCommit)
    }

    /// Returns how long the next visit has to wait for its time.
    fn wait(&self) -> Duration {
        if self.task.requests() { self.pacer.wait(self.world.clock()) } else { Duration::ZERO }
    }

    /// Returns the latest start of a request, by the monotonic clock: it must be over before
    /// another worker may take the lease and make requests.
    pub(super) fn latest_start(&self) -> Duration {
        self.deadlines.lease_end.saturating_sub(self.context.limits().total_timeout)
    }

    fn is_origin_budget_spent(&self) -> bool {
        let limit = self.context.definition.budget.pages_per_origin;
        self.task.requests() && limit.is_some_and(|limit| self.lease.counters.pages + self.segments.pages >= limit)
    }

    /// Returns what the visits of the turn have left of its share of the budget.
    fn rest_of_reserve(&self) -> Option<Reserve> {
        let holder = self.lease.holder()?;
        Some(holder.reserved.spend(self.segments.pages, self.segments.bytes))
    }

    /// Whether no pages may be requested any more. What is no page still may be: checks, and what
    /// pages need to be shown.
    fn are_pages_spent(&self) -> bool {
        self.is_origin_budget_spent() || self.rest_of_reserve().is_some_and(|rest| rest.pages == Some(0))
    }

    /// Ends the origin's part in the iteration if its own budget is spent and pages are left.
    pub(super) fn end_if_origin_budget_is_spent(&mut self) {
        if self.is_origin_budget_spent() && self.planner.has_more(&self.lease, &self.inbox) {
            self.lease.ending = Some(LeftoverReason::OriginBudgetExhausted);
        }
    }

    /// Whether many follow-ups wait for a commit. Until then nothing new starts that may need
    /// another.
    fn must_follow_up(&self) -> bool {
        let now = self.retries_are_due_by();
        let retries = self.lease.retries.iter().chain(self.segments.open.iter().flat_map(|open| &open.work.retries));
        let is_waiting = |retry: &&Retry| retry.entry.follow_up.is_some() && retry.free_from(now) <= now;
        !Retry::leave_room(retries.filter(is_waiting)) && !self.planner.has_due_retry(&self.lease, now)
    }

    /// Makes sure that the last segment takes another visit. Returns why it cannot.
    fn make_room(&mut self) -> Option<StartResult> {
        let now = self.world.clock().monotonic();
        let age_max = self.world.timing().segment_age;
        let bytes_max = self.segments.bytes_max.min(self.segments.memory.part());
        if let Some(last) = self.segments.open.back_mut()
            && (last.is_full(bytes_max) || now.saturating_sub(last.since) >= age_max)
        {
            last.is_sealed = true;
        }
        if self.segments.open.back().is_some_and(|last| !last.is_sealed) {
            return None;
        }
        if self.segments.open.len() >= OPEN_SEGMENTS_MAX {
            return Some(StartResult::Full);
        }
        if self.world.handover().is_crowded(now) {
            return Some(StartResult::AheadOfParsers);
        }
        // The segments of a turn are numbered in order, once those without a visit are dropped.
        let n = self.lease.segments + self.segments.open.len() as u64;
        let id = SegmentId { origin: self.origin.clone(), turn: self.lease.turn, n };
        let object = ObjectKey::for_segment(&id, self.lease.iteration, &self.token);
        let info = segment::describe(&object, self.lease.iteration, &self.context.definition);
        let records = SegmentRecords::new(self.world.rng().bits(), &info, self.world.clock().now());
        self.segments.open.push_back(OpenSegment {
            number: self.segments.next_number,
            taken: self.segments.memory.begin(),
            records: Some(records.spooled_in(self.world.archive().spool()).keeping_captures(self.world.handover())),
            pages_max: self.pages_max(),
            entries: 0,
            asides: 0,
            sitemaps: 0,
            pending: 0,
            is_sealed: false,
            since: now,
            exhausted: Vec::new(),
            work: SegmentWork::default(),
        });
        self.segments.next_number += 1;
        None
    }

    /// Returns the number of pages for a segment that begins now.
    fn pages_max(&self) -> u32 {
        let taken = self.lease.taken + self.segments.open.iter().map(|segment| u64::from(segment.entries)).sum::<u64>();
        segment_pages(self.inbox.added.saturating_sub(taken).max(self.planner.at_hand() as u64))
    }

    /// Fits the last segment, if it has no visit yet, to the work found since it began: nothing is
    /// known about due candidates before they are read.
    fn fit_last(&mut self) {
        let pages_max = self.pages_max();
        if let Some(last) = self.segments.open.back_mut().filter(|last| last.entries == 0) {
            last.pages_max = pages_max;
        }
    }

    /// Seals the last segment, so that it takes no more visits. A segment without visits is
    /// dropped.
    pub(super) fn seal_last(&mut self) {
        if self.segments.open.back().is_some_and(|last| last.entries == 0) {
            self.segments.open.pop_back();
        } else if let Some(last) = self.segments.open.back_mut() {
            last.is_sealed = true;
        }
    }

    /// Starts the visit of a URL, or ends it at once if the URL must not be requested.
    fn start(&mut self, work: Work) {
        let latest_start = self.latest_start();
        let missing = self.missing_sign(Outcome::FileIngested);
        let uses = self.said_by_site(&work);
        let segment = self.segments.open.back_mut().expect("room was made");
        let records = segment.records.as_mut().expect("it is not complete");
        segment.entries += 1;
        segment.sitemaps += u32::from(work.entry.read_as.is_sitemap());
        for answer in self.segments.asides.drain(..) {
            records.add_aside(&answer.url, answer.at, &answer.fetched);
        }
        segment.work.asides += std::mem::take(&mut self.segments.requests_aside);
        segment.work.after = Some(work.after.clone());
        segment.exhausted.extend(work.exhausts.clone());
        if work.crawl_type == CrawlType::Retry {
            segment.work.retried.push(work.entry.path_and_query.clone());
        }
        let Ok(url) = self.origin.origin.url_at(&work.entry.path_and_query) else {
            tracing::error!(origin = %self.origin, path = %work.entry.path_and_query, "a stored path is not part of a valid URL");
            return;
        };
        if work.crawl_type == CrawlType::Reparse {
            segment.asides += 1;
            // Without a document there is nothing left to do.
            if let Some(document) = &work.entry.known.document {
                let visit = to_visit(&work, document.outcome, None, None, 0);
                let visit = Visit { finality: Finality::Aside, missing, ..visit };
                records.add_unsent(&url, self.world.clock().now(), &visit);
            }
            return;
        }
        let refused =
            refused(&self.context, &self.robots, (self.lease.given_up.as_deref(), &self.inbox.shapes), &work, &url);
        if let Some((outcome, why)) = refused.or_else(|| reserved_by_site(&self.context, &uses, &work)) {
            let visit = to_visit(&work, outcome, Some(why), None, work.requests_before());
            let visit = Visit { uses, ..visit };
            let at = self.world.clock().now();
            records.add_unsent(&url, at, &visit);
            self.is_visited(&url, at, &visit, None);
            return;
        }
        segment.pending += 1;
        if *self.task == Task::Import {
            self.segments.pages += 1;
            let (world, fetcher, limits) =
                (Arc::clone(&self.world), Arc::clone(&self.fetcher), self.context.limits_for(work.entry.read_as));
            let visited = (segment.number, Work { crawl_type: CrawlType::Import, ..work }, url);
            self.visits.spawn(async move { Ok(take_archived(world.clock(), &*fetcher, limits, visited).await) });
            return;
        }
        self.lease.robots = RobotsUse::Used;
        self.segments.pages += u64::from(work.entry.counts_as_page());
        let (world, fetcher, pacer) = (Arc::clone(&self.world), Arc::clone(&self.fetcher), Arc::clone(&self.pacer));
        let limits = self.context.limits_for(work.entry.read_as);
        let visited = (segment.number, work, url);
        let start = pacer.start(world.clock());
        self.asks_at(world.clock().monotonic());
        let session = self.session_for(&visited.2);
        let renders = self.context.definition.render.is_on();
        let rendering = renders.then(|| (Arc::clone(&self.renderer), self.page_requests(&visited.2)));
        self.visits.spawn(async move {
            let clock = world.clock();
            let start = match start {
                Ok(start) => start,
                // Since the check, another request turned out to open a connection, or started.
                Err(_) => pacer.start_in_time(clock, latest_start).await.ok_or(LeaseTooOld)?,
            };
            let watch = Arc::new(Connecting::new(Arc::clone(&pacer), Arc::clone(&world)));
            let visited =
                visit(clock, &*fetcher, &pacer, (start, latest_start), (Some(watch), session), limits, visited).await?;
            let Some((renderer, requests)) = rendering else { return Ok(visited) };
            let Some(page) = visited.page_to_render(&requests.context.definition) else { return Ok(visited) };
            // Boxed, as few visits have it.
            let rendered = Box::pin(render(&*renderer, requests, (page, visited.sent.at))).await;
            Ok(FinishedVisit { rendered: rendered.map(Box::new), ..visited })
        });
    }

    /// Returns what the requests of a page need, should it be rendered.
    fn page_requests(&self, page: &CrawlUrl) -> PageRequests<W, S::Fetcher> {
        let rules = match &self.robots {
            Robots::Known(rules) => Some(Arc::clone(rules)),
            _ => None,
        };
        PageRequests {
            world: Arc::clone(&self.world),
            fetcher: Arc::clone(&self.fetcher),
            pacer: Arc::clone(&self.pacer),
            context: Arc::clone(&self.context),
            waiter: self.waiter(),
            rules,
            session: self.access.as_ref().map(TurnAccess::session),
            latest_start: self.latest_start(),
            pages: self.world.live().rendered().at(&self.origin, self.lease.iteration, self.world.clock().monotonic()),
            page: page.clone(),
            made: MadeRequests::default(),
        }
    }

    /// Puts a visit's result into its segment.
    pub(super) async fn finish(&mut self, visited: FinishedVisit) -> PortResult<()> {
        let FinishedVisit { segment, work, url, sent, rendered } = visited;
        let (at, fetched) = (sent.at, &sent.fetched);
        self.lease.pace = self.pacer.pace();
        let product_token = self.context.definition.user_agent.product_token();
        let wall = sent.wall.as_ref();
        let last = work.entry.known.comparable().filter(|last| !self.is_known_as_missing(&url, fetched, last));
        let rendering = rendered.as_ref().map(|page| &page.rendering);
        let lack = rendered.as_ref().and_then(|page| page.lack);
        let (outcome, detail) = match self.logged_out(&url, &sent) {
            Some(why) => (Outcome::LoggedOut, Some(why)),
            None if let Some(lack) = lack => (Outcome::ErrorReadingResponse, Some(lack.detail().to_owned())),
            None => {
                let shown = rendering.map_or(Shown::Body, |rendering| Shown::Dom(rendering.dom_sha1()));
                let read_as = work.entry.read_as;
                fetch_outcome(fetched, wall, &Comparison { last, shown, product_token, read_as })
            }
        };
        self.note_access(&work.entry, outcome, &sent);
        let is_away = fetched.is_out_of_reach();
        if let Some(sign) = origin_sign(fetched, outcome).filter(|_| self.task.requests()) {
            self.lose_patience(sign, &sent);
        }
        if fetched.result.is_ok() && outcome.class() == OutcomeClass::Content {
            self.remember_that_it_works(&work.entry.path_and_query);
        }
        // No request was made to an unreachable host: that ends with the patience, not with the
        // tries. That this process stood still is nobody's fault.
        let tries = work.tries + u8::from(!is_away && lack != Some(Lack::Time));
        let tries_max = tries_max(outcome, self.context.definition.fetch.retries, &self.lease.pace);
        let waiting = self.lease.retries.iter().chain(self.segments.open.iter().flat_map(|open| &open.work.retries));
        let now = self.world.clock().now();
        let rules = &self.context.definition.strip_query_parameters;
        let wanted = match outcome {
            Outcome::LoggedOut => self.after_log_in(),
            _ => follow_up(&url, &work.entry, fetched, outcome, rules, now),
        };
        let wanted = wanted.filter(|_| self.task.requests());
        let has_room = |entry: &TodoEntry| Retry::fits(waiting.clone(), entry);
        let LoggedAnswer { outcome, detail, again } =
            LoggedAnswer::new((outcome, detail), &url, &work.entry, wanted, has_room);
        let is_retried =
            self.task.requests() && outcome.may_be_fluke() && tries < tries_max && Retry::fits(waiting, &work.entry);
        let outcome = if is_retried { outcome } else { final_outcome(outcome, fetched) };
        let missing = self.missing_sign(outcome);
        let uses = self.said_by_site(&work);
        let bodies_cut =
            fetched.result.as_ref().map_or(0, |response| self.note_cut(&url, work.entry.read_as, response));
        let Some(open) = self.segments.open.iter_mut().find(|open| open.number == segment) else { return Ok(()) };
        open.pending -= 1;
        open.work.bodies_cut += bodies_cut;
        if work.entry.counts_as_page() {
            open.work.pages += 1;
        } else {
            open.work.asides += 1;
        }
        open.work.resends += u64::from(sent.resends);
        if let Ok(response) = &fetched.result {
            open.work.body_bytes += response.body.len_bytes();
            self.segments.bytes += response.body.len_bytes();
        }
        if let Some(page) = &rendered {
            let bytes = page.answers.iter().filter_map(|answer| answer.answer.fetched.result.as_ref().ok());
            let bytes: u64 = bytes.map(|response| response.body.len_bytes()).sum();
            open.work.asides += page.requests;
            open.work.body_bytes += bytes;
            self.segments.bytes += bytes;
        }
        let requests = work.requests_before() + u8::from(!is_away);
        let stand = robots_stand(&self.context, &self.robots, &work);
        let exchange = to_exchange(&sent, stand, work.entry.read_as, rendered.as_deref());
        let visit = to_visit(&work, outcome, detail, Some(exchange), requests);
        let mut visit = Visit { missing, uses, ..visit };
        if let Some(entry) = again {
            visit.finality = Finality::Retried;
            open.work.retries.push(Retry { entry, depth: work.depth, tries: work.tries, not_before: now });
        } else if is_retried {
            visit.finality = Finality::Retried;
            let not_before = after(now, retry_wait(tries, outcome, &self.lease.pace));
            open.work.retries.push(Retry { entry: work.entry.clone(), depth: work.depth, tries, not_before });
        }
        let records = open.records.take().expect("it waits for this visit");
        let shown = rendered
            .as_ref()
            .and_then(|page| Some(ShownPage { dom: page.html.clone()?, screenshot: page.screenshot.clone() }));
        let mut records = add_sent(records, &url, (at, work.entry.sent_target()), &visit, (fetched, shown)).await?;
        for answer in rendered.iter().flat_map(|page| &page.answers) {
            records.add_for_page(answer);
        }
        open.taken.grow_to(records.memory_bytes());
        open.records = Some(records);
        self.is_visited(&url, at, &visit, Some(fetched));
        if (outcome.is_refusal() || is_away) && self.world.timing().dead_leases == DeadLeases::AreVoid {
            self.seal_last();
        }
        Ok(())
    }
}

/// Adds a visit to its segment, on another thread if its body is on disk, as copying that takes a
/// while.
async fn add_sent(
    mut records: SegmentRecords,
    url: &CrawlUrl,
    (at, target): (Timestamp, &str),
    visit: &Visit,
    (fetched, shown): (&FetchOutcome, Option<ShownPage>),
) -> PortResult<SegmentRecords> {
    if fetched.result.as_ref().is_ok_and(|response| response.body.in_memory().is_none()) {
        let (own, target) = (url.clone(), target.to_owned());
        let (visit, fetched) = (visit.clone(), fetched.clone());
        let added = tokio::task::spawn_blocking(move || {
            records.add_sent(&own, &target, at, &visit, (&fetched, shown.as_ref()));
            records
        });
        return added.await.map_err(|error| PortError::new(PortErrorKind::Other, "archive", url, error));
    }
    records.add_sent(url, target, at, visit, (fetched, shown.as_ref()));
    Ok(records)
}
