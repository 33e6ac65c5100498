//! A turn, from its ticket to its release.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::capture::{CrawlType, Finality};
use dragline_domain::frontier::{
    Barrier, Inbox, Lease, LeftoverReason, OriginKey, Reserve, Retry, SegmentWork, Take, TakeRefused,
};
use dragline_domain::ids::LeaseToken;
use dragline_domain::politeness::{TRIES_MAX, retry_wait, robots_wait};
use dragline_domain::time::after;
use tokio::task::JoinSet;

use super::commit::{self, OpenSegment, SEGMENT_BYTES_MAX, commit, segment_pages};
use super::ending::{StopSignal, TurnEnd, TurnLimits};
use super::outcome::outcome_of;
use super::pacer::Pacer;
use super::planner::{Dry, Planner, Work};
use super::robots::{Robots, base_delay, robots};
use super::segment::SegmentRecords;
use super::visit::{Visited, exchange_of, pace_by, refused, visit, visit_of};
use super::{orphans, release};
use crate::World;
use crate::context::{Contexts, CrawlContext};
use crate::ports::clock::{Chance, Clock};
use crate::ports::error::{PortError, PortErrorKind, PortResult};
use crate::ports::fetcher::Fetcher;
use crate::ports::frontier::Frontier;
use crate::ports::notifier::{Notice, Notifier};
use crate::ports::queue::Ticket;

/// Leases in a row that run out without a commit before an origin is given up.
const ATTEMPTS_MAX: u32 = 5;

/// Segments in the making at once: one that takes visits, and those that wait for their last ones.
const OPEN_SEGMENTS_MAX: usize = 4;

/// Works one turn.
///
/// # Errors
/// Those of the ports. The lease then runs out and is taken over.
pub async fn work_turn<W: World, H: Fetcher + 'static>(
    world: &Arc<W>,
    fetcher: &Arc<H>,
    contexts: &Contexts,
    limits: &TurnLimits,
    stop: &StopSignal,
    ticket: &Ticket,
) -> PortResult<TurnEnd> {
    let context = contexts.get(world.frontier(), &ticket.origin.crawl).await?;
    let timing = world.timing();
    let longest_visit = timing.wait_in_turn + context.limits().total_timeout + timing.commit_reserve;
    let lease_length = timing.lease.max(longest_visit + timing.segment_age);
    let Some(wanted) = wanted(&**world, ticket, limits).await? else {
        return Ok(TurnEnd::Refused(TakeRefused::OtherTurn));
    };
    let token = LeaseToken::from_bits(world.chance().bits());
    let (now, started) = (world.clock().now(), world.clock().monotonic());
    let take = Take { turn: ticket.turn, token: token.clone(), until: after(now, lease_length), wanted, now };
    let lease = match world.frontier().take_lease(&ticket.origin, ticket.iteration, &take).await? {
        Ok(lease) => lease,
        Err(refused) => return Ok(TurnEnd::Refused(refused)),
    };
    if lease.attempts > 0 {
        orphans::remove(&**world, &ticket.origin, &lease).await?;
    }
    let pacer = Arc::new(Pacer::new(lease.pace, lease.not_before, world.clock()));
    let has_max_depth = context.definition.scope.max_depth.is_some();
    let turn = TurnWork {
        planner: Planner::new(ticket.origin.clone(), &lease, has_max_depth),
        world: Arc::clone(world),
        fetcher: Arc::clone(fetcher),
        origin: ticket.origin.clone(),
        context,
        stop: stop.clone(),
        token,
        inbox: Inbox::new(lease.iteration),
        robots: Robots::Unreadable(String::new()),
        pacer,
        lease_length,
        lease_end: started + lease_length,
        turn_end: started + timing.turn,
        open: VecDeque::new(),
        next_number: 0,
        visits: JoinSet::new(),
        pages_uncommitted: 0,
        bytes_uncommitted: 0,
        has_met_barrier: false,
        lease,
    };
    turn.run().await
}

/// The share of the iteration's budget to ask for: no more than is fair to the other origins. `None` if there is no such iteration.
async fn wanted(world: &impl World, ticket: &Ticket, limits: &TurnLimits) -> PortResult<Option<Reserve>> {
    let row = world.frontier().load_iteration(&ticket.origin.crawl, ticket.iteration).await?;
    let most = Reserve { pages: Some(limits.pages), bytes: Some(limits.bytes) };
    Ok(row.map(|row| row.share(most)))
}

struct TurnWork<W, H> {
    world: Arc<W>,
    fetcher: Arc<H>,
    context: Arc<CrawlContext>,
    origin: OriginKey,
    stop: StopSignal,
    token: LeaseToken,
    /// The holder's copy: as last committed, but for pace, patience and ending, which are as they are now.
    lease: Lease,
    /// As last read.
    inbox: Inbox,
    robots: Robots,
    pacer: Arc<Pacer>,
    planner: Planner,
    lease_length: Duration,
    /// When the lease ends, by the monotonic clock. Commits move it.
    lease_end: Duration,
    /// When the turn ends, by the monotonic clock.
    turn_end: Duration,
    /// In order; the last one may take visits.
    open: VecDeque<OpenSegment>,
    next_number: u64,
    visits: JoinSet<Visited>,
    pages_uncommitted: u64,
    bytes_uncommitted: u64,
    has_met_barrier: bool,
}

/// What became of an attempt to start visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// As many are under way as may be.
    Full,
    /// The turn takes nothing more.
    MustEnd,
    /// The lease must be renewed first.
    MustCommit,
    /// Nothing is left to start.
    Dry,
}

impl<W: World, H: Fetcher + 'static> TurnWork<W, H> {
    async fn run(mut self) -> PortResult<TurnEnd> {
        if self.lease.attempts > ATTEMPTS_MAX {
            self.lease.ending = Some(LeftoverReason::Stuck);
        } else if self.lease.ending.is_none() {
            self.read_robots().await?;
        }
        self.read_inbox().await?;
        loop {
            let start = self.start_visits().await?;
            if start != Start::Full {
                self.seal_last();
            }
            if !self.commit_complete().await? {
                return Ok(TurnEnd::Fenced);
            }
            if let Some(joined) = self.visits.join_next().await {
                let visited =
                    joined.map_err(|error| PortError::new(PortErrorKind::Other, "fetch", &self.origin, error))?;
                self.finish(visited);
            } else if self.open.is_empty() && (start == Start::MustEnd || !self.has_more(start).await?) {
                break;
            }
        }
        // Everything that was handed out is committed. The cursor may have passed more: candidates that others had queued.
        self.planner.position().clone().write_to(&mut self.lease);
        let not_before = self.pacer.not_before(self.world.clock()).max(self.lease.not_before);
        self.lease.barrier = if self.has_met_barrier { Barrier::Waiting } else { Barrier::Open };
        let released = release::release(&*self.world, &self.origin, &self.token, &self.lease, not_before).await?;
        Ok(released.map_or(TurnEnd::Fenced, TurnEnd::Released))
    }

    /// Whether work came while the last visits were under way.
    async fn has_more(&mut self, start: Start) -> PortResult<bool> {
        if start == Start::MustCommit {
            return Ok(true);
        }
        let added_before = self.inbox.added;
        self.read_inbox().await?;
        if self.has_met_barrier && self.lease.segments > self.inbox.parsed {
            return Ok(false);
        }
        let now = self.world.clock().now();
        let has_retry = self.lease.retries.iter().any(|retry| retry.not_before <= now);
        let has_todo = self.planner.has_todo(&self.inbox);
        if start == Start::Dry && !self.has_met_barrier && has_todo && self.inbox.added == added_before {
            let why = "todo is counted that is not there";
            return Err(PortError::new(PortErrorKind::Corrupt, "next todo", &self.origin, why));
        }
        // A barrier that retries keep up stays until they are due.
        let is_kept_back = self.has_met_barrier && !self.lease.retries.is_empty();
        Ok(has_retry || (has_todo && !is_kept_back))
    }

    async fn read_inbox(&mut self) -> PortResult<()> {
        if let Some(rows) = self.world.frontier().load_origin(&self.origin).await? {
            self.inbox = rows.inbox;
        }
        Ok(())
    }

    /// Gets robots.txt. If that cannot be read, the origin is asked again later, until patience ends.
    async fn read_robots(&mut self) -> PortResult<()> {
        let wait = self.pacer.wait(self.world.clock());
        if wait > self.world.timing().wait_in_turn {
            return Ok(());
        }
        self.robots = robots(&*self.world, &*self.fetcher, &self.context, &self.pacer, &self.origin).await?;
        self.lease.pace = self.pacer.pace();
        match &self.robots {
            Robots::Known(policy) => {
                self.pacer.slow_down_to(base_delay(&self.context, policy));
                self.lease.pace = self.pacer.pace();
            }
            Robots::PrivateAddress(_) => {}
            Robots::Unreadable(why) => {
                self.lease.patience = self.lease.patience.lose_one();
                if self.lease.patience.is_exhausted() {
                    self.lease.ending = Some(LeftoverReason::RobotsUnreadable);
                } else {
                    let wait = robots_wait(self.lease.patience, &self.lease.pace);
                    self.lease.not_before = after(self.world.clock().now(), wait);
                }
                let notice = Notice::RobotsUnreadable { origin: self.origin.clone(), detail: why.clone() };
                self.world.notifier().notify(notice).await?;
            }
        }
        Ok(())
    }

    /// Starts visits until as many are under way as may be.
    async fn start_visits(&mut self) -> PortResult<Start> {
        let concurrency = usize::from(self.context.definition.politeness.concurrency);
        while self.visits.len() < concurrency {
            if let Some(reason) = self.must_not_start() {
                return Ok(reason);
            }
            if !self.has_room() {
                return Ok(Start::Full);
            }
            let in_flight = self.open.iter().map(|segment| segment.entries as usize).sum();
            let work = match self.planner.next(&*self.world, &self.lease, &self.inbox, in_flight).await? {
                Ok(work) => work,
                Err(dry) => {
                    self.has_met_barrier = dry == Dry::AtBarrier;
                    return Ok(Start::Dry);
                }
            };
            self.has_met_barrier = false;
            self.start(work);
        }
        Ok(Start::Full)
    }

    fn must_not_start(&mut self) -> Option<Start> {
        let clock = self.world.clock();
        let timing = self.world.timing();
        let now = clock.monotonic();
        if self.lease.ending.is_some() || self.stop.is_stopped() || now >= self.turn_end {
            return Some(Start::MustEnd);
        }
        if matches!(self.robots, Robots::Unreadable(_)) {
            return Some(Start::MustEnd);
        }
        let wait = self.pacer.wait(clock);
        if wait > timing.wait_in_turn {
            return Some(Start::MustEnd);
        }
        if self.is_origin_budget_spent() {
            if self.planner.has_more(&self.lease, &self.inbox) {
                self.lease.ending = Some(LeftoverReason::OriginBudgetExhausted);
            }
            return Some(Start::MustEnd);
        }
        if self.is_reserve_spent() {
            return Some(Start::MustEnd);
        }
        // Whatever starts must have ended, and be committed, before the lease ends.
        let ends_by = now + wait + self.context.limits().total_timeout + timing.commit_reserve;
        (ends_by > self.lease_end).then_some(Start::MustCommit)
    }

    fn is_origin_budget_spent(&self) -> bool {
        let limit = self.context.definition.budget.pages_per_origin;
        limit.is_some_and(|limit| self.lease.counters.pages + self.pages_uncommitted >= limit)
    }

    fn is_reserve_spent(&self) -> bool {
        self.lease
            .holder()
            .is_some_and(|holder| holder.reserved.spend(self.pages_uncommitted, self.bytes_uncommitted).is_spent())
    }

    /// Makes sure that the last segment takes another visit. `false` if too many are in the making.
    fn has_room(&mut self) -> bool {
        let now = self.world.clock().monotonic();
        let age_max = self.world.timing().segment_age;
        if let Some(last) = self.open.back_mut() {
            let is_full = last.entries >= last.pages_max
                || last.records.len_bytes() >= SEGMENT_BYTES_MAX
                || now.saturating_sub(last.since) >= age_max;
            if is_full {
                last.is_sealed = true;
            }
        }
        if self.open.back().is_some_and(|last| !last.is_sealed) {
            return true;
        }
        if self.open.len() >= OPEN_SEGMENTS_MAX {
            return false;
        }
        let taken = self.lease.taken + self.open.iter().map(|segment| u64::from(segment.entries)).sum::<u64>();
        let waiting = self.inbox.added.saturating_sub(taken).max(self.planner.at_hand() as u64);
        self.open.push_back(OpenSegment {
            number: self.next_number,
            records: SegmentRecords::new(
                self.world.chance().bits(),
                &self.origin.crawl,
                self.lease.iteration,
                self.context.definition.user_agent.as_str(),
                self.world.clock().now(),
            ),
            pages_max: segment_pages(waiting),
            entries: 0,
            pending: 0,
            is_sealed: false,
            since: now,
            exhausted: Vec::new(),
            work: SegmentWork::default(),
        });
        self.next_number += 1;
        true
    }

    /// The last segment takes no more visits; one that has none is dropped.
    fn seal_last(&mut self) {
        if self.open.back().is_some_and(|last| last.entries == 0) {
            self.open.pop_back();
        } else if let Some(last) = self.open.back_mut() {
            last.is_sealed = true;
        }
    }

    /// Starts the visit of one URL, or ends it at once if it must not be asked for.
    fn start(&mut self, work: Work) {
        let segment = self.open.back_mut().expect("room was made");
        segment.entries += 1;
        segment.work.after = Some(work.after.clone());
        segment.exhausted.extend(work.exhausts.clone());
        if work.crawl_type == CrawlType::Retry {
            segment.work.retried.push(work.entry.path_and_query.clone());
        }
        let Ok(url) = self.origin.origin.url_at(&work.entry.path_and_query) else {
            tracing::error!(origin = %self.origin, path = %work.entry.path_and_query, "a stored path makes no URL");
            return;
        };
        if let Some((outcome, why)) = refused(&self.context, &self.robots, &work, &url) {
            let visit = visit_of(&work, outcome, Some(why), None, work.tries);
            segment.records.add_unsent(&url, self.world.clock().now(), &visit);
            return;
        }
        segment.pending += 1;
        self.pages_uncommitted += 1;
        let start = self.pacer.reserve(self.world.clock());
        let (world, fetcher) = (Arc::clone(&self.world), Arc::clone(&self.fetcher));
        self.visits.spawn(visit(world, fetcher, start, self.context.limits(), (segment.number, work, url)));
    }

    /// Takes a visit's result into its segment.
    fn finish(&mut self, visited: Visited) {
        let Visited { segment, work, url, at, started, fetched } = visited;
        let clock = self.world.clock();
        pace_by(&self.pacer, clock, started, &fetched);
        self.lease.pace = self.pacer.pace();
        let (outcome, detail) = outcome_of(&fetched, work.entry.last.as_ref());
        self.lease.patience = self.lease.patience.after(outcome);
        if self.lease.patience.is_exhausted() {
            self.lease.ending = Some(LeftoverReason::OriginGivenUp);
        }
        let tries = work.tries + 1;
        let waiting: usize =
            self.lease.retries.len() + self.open.iter().map(|open| open.work.retries.len()).sum::<usize>();
        let is_retried = outcome.may_be_fluke() && tries < TRIES_MAX && waiting < Lease::RETRIES_MAX;
        let Some(open) = self.open.iter_mut().find(|open| open.number == segment) else { return };
        open.pending -= 1;
        open.work.pages += 1;
        if let Ok(response) = &fetched.result {
            open.work.body_bytes += response.body.len() as u64;
            self.bytes_uncommitted += response.body.len() as u64;
        }
        let mut visit = visit_of(&work, outcome, detail, Some(exchange_of(&fetched)), tries);
        if is_retried {
            visit.finality = Finality::Retried;
            let not_before = after(clock.now(), retry_wait(tries, &self.lease.pace));
            open.work.retries.push(Retry { entry: work.entry, depth: work.depth, tries, not_before });
        }
        open.records.add_fetched(&url, at, &visit, &fetched);
    }

    /// Commits, in order, the segments that nothing is under way of. `false` if another worker holds the lease.
    async fn commit_complete(&mut self) -> PortResult<bool> {
        while self.open.front().is_some_and(OpenSegment::is_complete) {
            let Some(segment) = self.open.pop_front() else { break };
            let (pages, bytes, exhausted) = (segment.work.pages, segment.work.body_bytes, segment.exhausted.clone());
            let began = self.world.clock().monotonic();
            self.lease.not_before = self.pacer.not_before(self.world.clock());
            let (token, length) = (&self.token, self.lease_length);
            match commit(&*self.world, &self.origin, token, &self.lease, length, segment).await? {
                commit::Outcome::Fenced => return Ok(false),
                commit::Outcome::Committed(lease) => self.lease = *lease,
            }
            self.lease_end = began + self.lease_length;
            self.pages_uncommitted -= pages;
            self.bytes_uncommitted -= bytes;
            self.planner.committed(&exhausted);
        }
        Ok(true)
    }
}
