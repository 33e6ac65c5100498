//! A turn, from its ticket to its release.

mod access;
mod committing;
mod cut;
mod missing;
mod patience;
mod reservations;
mod visits;
mod watched;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::frontier::{
    Barrier, HostWaiter, Inbox, Lease, LeftoverReason, OriginKey, Reserve, TakeRefused, TakeRequest, Task,
    WatchedShapes,
};
use dragline_domain::ids::LeaseToken;
use dragline_domain::politeness::{robots_age_max_for_checks, robots_wait};
use dragline_domain::time::after;
use dragline_domain::url::HostKey;
use tokio::task::JoinSet;

use self::access::TurnAccess;
use self::committing::{Commits, FinishedStep};
use self::cut::CutBodies;
use self::patience::RulesAnswer;
use self::visits::StartResult;
use super::commit::OpenSegment;
use super::ending::{Crowd, StopSignal, TurnEnd, TurnLimits};
use super::memory::SegmentMemory;
use super::orphans;
use super::paced::Answer;
use super::pacer::Pacer;
use super::planner::Planner;
use super::release::{self, FreeTimes};
use super::robots::{BrokenOffPolicy, Robots, StoredUse, base_delay, robots};
use super::send::LeaseTooOld;
use super::visit::FinishedVisit;
use crate::World;
use crate::context::{Contexts, CrawlContext, PinnedIteration};
use crate::live::LiveTurn;
use crate::tell::tell_once;
use crate::wake::send_ticket;
use dragline_ports::clock::{Clock, Rng};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::Fetchers;
use dragline_ports::frontier::{Iterations, Origins, Turns};
use dragline_ports::notifier::Notice;
use dragline_ports::observer::{Stage, Wait};
use dragline_ports::queue::Ticket;

/// How often a waiting turn checks whether its work has arrived, or whether it should end.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// How long a turn goes on while others wait for its place.
const TURN_IN_A_CROWD: Duration = Duration::from_secs(10);

/// The longest wait within a turn while others wait for its place. For a longer one the turn ends,
/// rather than keep the place idle.
const WAIT_IN_A_CROWD: Duration = Duration::from_secs(2);

/// How many leases in a row may expire without a commit before the origin is given up.
const ATTEMPTS_MAX: u32 = 5;

/// Runs one turn.
///
/// # Errors
/// Returns the ports' errors. The lease then expires and is taken over.
pub async fn work_turn<W: World, S: Fetchers>(
    world: &Arc<W>,
    fetchers: &S,
    contexts: &Contexts,
    limits: &TurnLimits,
    stop: &StopSignal,
    ticket: &Ticket,
) -> PortResult<TurnEnd> {
    let context = contexts.for_iteration(world.frontier(), &ticket.origin.crawl, ticket.iteration).await?;
    let pinned = contexts.pinned(world.frontier(), &ticket.origin.crawl, ticket.iteration).await?;
    let Some(PinnedIteration { task, .. }) = pinned else { return Ok(TurnEnd::Refused(TakeRefused::OtherTurn)) };
    let fetcher = fetchers.fetcher_for(&context.definition).await?;
    let timing = world.timing();
    let longest_visit = timing.wait_in_turn + context.longest_exchange() + timing.commit_reserve;
    let lease_length = timing.lease.max(longest_visit + timing.segment_age);
    let Some(wanted) = wanted(&**world, ticket, limits).await? else {
        return Ok(TurnEnd::Refused(TakeRefused::OtherTurn));
    };
    let token = LeaseToken::from_bits(world.rng().bits());
    let live = world.live().begin(HostKey::from_origin(&ticket.origin.origin), token.clone());
    let (now, started) = (world.clock().now(), world.clock().monotonic());
    let take = TakeRequest {
        turn: ticket.turn,
        token: token.clone(),
        until: after(now, lease_length),
        // After the turn's end nothing starts that its last lease does not cover.
        host_until: after(now, timing.turn + timing.wait_in_turn + lease_length),
        alive: live.others(),
        hosts_per_domain: context.definition.politeness.hosts_per_domain,
        wanted,
        now,
    };
    let lease = match world.frontier().take_lease(&ticket.origin, ticket.iteration, &take).await? {
        Ok(lease) => lease,
        Err(refused) => {
            if let TakeRefused::HostBusy { until } = refused {
                watched::host_is_busy(&**world, &context, &ticket.origin, until);
                send_ticket(&**world, &ticket.origin, ticket.iteration, ticket.turn, until).await?;
            }
            return Ok(TurnEnd::Refused(refused));
        }
    };
    let took_over = lease.attempts > 0;
    if took_over {
        orphans::remove(&**world, &ticket.origin, &lease, &token).await?;
    }
    let politeness = &context.definition.politeness;
    let pacer = Pacer::new(lease.pace, lease.free_from(now), world.clock());
    let pacer = Arc::new(pacer.with_places(politeness.concurrency).limited_to(politeness.bytes_per_second));
    pacer.rest_until(live.rests_until());
    let mut turn = TurnWork::<W, S> {
        planner: Planner::new(ticket.origin.clone(), &lease, Arc::clone(&context), Arc::clone(&task)),
        world: Arc::clone(world),
        fetcher,
        renderer: fetchers.renderer(),
        origin: ticket.origin.clone(),
        context,
        task,
        stop: stop.clone(),
        token,
        live,
        inbox: Inbox::new(lease.iteration),
        robots: Robots::NotRead,
        pacer,
        access: None,
        deadlines: Deadlines {
            lease_length,
            lease_end: started + lease_length,
            turn_end: started + timing.turn,
            turn_end_in_a_crowd: started + TURN_IN_A_CROWD,
            crowd: limits.crowd.clone(),
        },
        segments: Segments {
            bytes_max: limits.segment_bytes,
            memory: limits.memory.clone(),
            open: VecDeque::new(),
            commits: Commits::default(),
            next_number: 0,
            pages: 0,
            bytes: 0,
            asides: Vec::new(),
            requests_aside: 0,
            cut: CutBodies::default(),
        },
        visits: JoinSet::new(),
        has_met_barrier: false,
        failed_at: None,
        failed_with: None,
        took_over,
        lease,
    };
    turn.access = TurnAccess::new(&turn);
    turn.run().await
}

/// Returns the share of the iteration's budget to ask for: no more than is fair to the other
/// origins. `None` if there is no such iteration.
async fn wanted(world: &impl World, ticket: &Ticket, limits: &TurnLimits) -> PortResult<Option<Reserve>> {
    let row = world.frontier().load_iteration(&ticket.origin.crawl, ticket.iteration).await?;
    let most = Reserve { pages: Some(limits.pages), bytes: Some(limits.bytes) };
    Ok(row.map(|row| row.share(most)))
}

/// The times at which a turn must do something, by the monotonic clock.
struct Deadlines {
    lease_length: Duration,
    /// When the lease ends. Commits move it.
    lease_end: Duration,
    turn_end: Duration,
    /// When the turn ends if others wait for its place.
    turn_end_in_a_crowd: Duration,
    crowd: Crowd,
}

/// The segments of a turn that are not committed yet, and what goes into them.
struct Segments {
    bytes_max: u64,
    memory: SegmentMemory,
    /// In order; only the last one may take visits. The first ones may be on their way to the
    /// store.
    open: VecDeque<OpenSegment>,
    commits: Commits,
    next_number: u64,
    /// The pages and bytes in them.
    pages: u64,
    bytes: u64,
    /// Answers to requests that were not visits, until they are in a segment's object.
    asides: Vec<Answer>,
    /// The number of these requests that count: all but those for robots.txt and for addresses that
    /// had worked.
    requests_aside: u64,
    cut: CutBodies,
}

struct TurnWork<W, S: Fetchers> {
    world: Arc<W>,
    fetcher: Arc<S::Fetcher>,
    renderer: Arc<S::Renderer>,
    context: Arc<CrawlContext>,
    task: Arc<Task>,
    origin: OriginKey,
    stop: StopSignal,
    token: LeaseToken,
    /// While it lives, no other turn of this process takes its lease or its host.
    live: LiveTurn,
    /// The holder's copy: as last committed, except that pace, patience, ending and the use of
    /// robots.txt are current.
    lease: Lease,
    /// As last read.
    inbox: Inbox,
    robots: Robots,
    pacer: Arc<Pacer>,
    /// `None` if nothing says who the crawl is to the origin.
    access: Option<TurnAccess>,
    planner: Planner,
    deadlines: Deadlines,
    segments: Segments,
    visits: JoinSet<Result<FinishedVisit, LeaseTooOld>>,
    has_met_barrier: bool,
    /// When a failure last cost patience, by the monotonic clock.
    failed_at: Option<Duration>,
    /// The description of the last failure that cost patience in this turn.
    failed_with: Option<String>,
    /// Whether earlier holders may still put objects late.
    took_over: bool,
}

impl<W: World, S: Fetchers> TurnWork<W, S> {
    async fn run(mut self) -> PortResult<TurnEnd> {
        if self.lease.attempts > ATTEMPTS_MAX {
            self.lease.ending = Some(LeftoverReason::Stuck);
            self.lease.given_up = None;
        } else if self.task.visits() && !self.task.requests() {
            self.robots = Robots::NotNeeded;
        } else if !self.task.visits() || !self.context.may_visit(&self.origin.origin) {
            self.robots = Robots::NotAsked;
        } else if self.lease.ending.is_none() {
            let stored = self.stored_use().await?;
            self.read_robots(stored).await?;
        }
        self.read_inbox().await?;
        self.end_walk_if_given_up().await?;
        loop {
            let start = self.start_visits().await?;
            if start == StartResult::MustProbe {
                self.probe().await?;
                self.end_walk_if_given_up().await?;
                continue;
            }
            if start == StartResult::MustLogIn {
                self.log_in().await?;
                self.end_walk_if_given_up().await?;
                continue;
            }
            if start == StartResult::MustAskForMissing {
                self.ask_for_missing().await;
                continue;
            }
            if start == StartResult::MustReadReservations {
                self.read_reservations().await?;
                continue;
            }
            if !matches!(start, StartResult::Full | StartResult::NotYet | StartResult::AheadOfParsers) {
                self.seal_last();
            }
            self.begin_stores();
            self.begin_commit();
            match self.next_finished(start).await {
                Some(FinishedStep::Visit(joined)) => {
                    let Ok(visited) = self.joined("fetch", joined)? else { return self.leave_too_old().await };
                    // Boxed, because its future is large while it copies a body from disk.
                    Box::pin(self.finish(visited)).await?;
                    continue;
                }
                Some(FinishedStep::Store(stored)) => {
                    let stored = self.joined("store", stored)??;
                    self.end_store(stored);
                    continue;
                }
                Some(FinishedStep::Commit(outcome)) => {
                    let outcome = self.joined("commit", outcome)??;
                    if !self.end_commit(outcome) {
                        return self.leave_fenced().await;
                    }
                    if self.inbox.added >= WatchedShapes::URLS_MIN {
                        // What parsers found out meanwhile about shapes without end.
                        self.read_inbox().await?;
                    }
                    self.tell_of_cut().await;
                    continue;
                }
                None => {}
            }
            if !matches!(start, StartResult::NotYet | StartResult::AheadOfParsers)
                && self.segments.open.is_empty()
                && (start == StartResult::MustEnd || !self.has_more(start).await?)
            {
                break;
            }
        }
        // Everything handed out is committed. The cursor may have passed more: candidates that
        // others had queued.
        self.planner.position().clone().write_to(&mut self.lease);
        if self.took_over {
            orphans::remove(&*self.world, &self.origin, &self.lease, &self.token).await?;
        }
        let now = self.world.clock().now();
        let free_from = self.pacer.not_before(self.world.clock());
        let not_before = free_from.max(self.lease.free_from(now));
        self.lease.barrier = if self.has_met_barrier { Barrier::Waiting } else { Barrier::Open };
        // A host that robots.txt redirects to sends a ticket as soon as it is free; that may be
        // lost.
        let called_by = match self.robots {
            Robots::HostBusy(until) => until,
            _ => not_before,
        };
        self.live.rest_until(self.pacer.rests_until(), self.world.clock().monotonic());
        if matches!(
            self.lease.ending,
            Some(LeftoverReason::RobotsUnreadable | LeftoverReason::OriginGivenUp | LeftoverReason::LoggedOut)
        ) {
            // Nobody makes requests to it any more. If somebody does later, it starts from scratch
            // and is refused again.
            self.lease.pace.back_off_exponent = 0;
        }
        let times = FreeTimes { not_before, free_from, called_by };
        let paced_until = self.pacer.rests_until();
        let released = release::release(&*self.world, &self.origin, &self.token, &self.lease, times).await?;
        if let Some(how) = released {
            self.is_released(how, paced_until);
        }
        Ok(released.map_or(TurnEnd::Fenced, TurnEnd::Released))
    }

    /// Returns the next thing to end: a visit, or a step of a segment's commit. `None` if none is
    /// under way, if another visit may start first, or when it is time to check whether the turn
    /// should end.
    async fn next_finished(&mut self, start: StartResult) -> Option<FinishedStep> {
        let clock = self.world.clock();
        let may_start = async {
            tokio::select! {
                biased;
                () = self.pacer.connected() => {}
                () = clock.sleep(self.pacer.wait(clock).min(LOOK_AGAIN)) => {}
            }
        };
        let caught_up = async {
            tokio::select! {
                () = self.world.handover().wait_until_taken(clock.monotonic()) => {}
                () = clock.sleep(LOOK_AGAIN) => {}
            }
        };
        tokio::select! {
            biased;
            Some(ended) = self.segments.commits.next_finished() => Some(ended),
            Some(joined) = self.visits.join_next() => Some(FinishedStep::Visit(joined)),
            () = may_start, if start == StartResult::NotYet => None,
            () = caught_up, if start == StartResult::AheadOfParsers => None,
            else => None,
        }
    }

    /// Whether there is more to do in this turn. It waits a while for the links of its segments:
    /// another turn costs a ticket and four commits, while the seconds of waiting here are shared
    /// with other origins.
    async fn has_more(&mut self, start: StartResult) -> PortResult<bool> {
        if start == StartResult::MustCommit {
            // A commit has renewed the lease. Without anything to commit, nothing renews it.
            return Ok(self.must_not_start() != Some(StartResult::MustCommit));
        }
        let mut waited = Duration::ZERO;
        let has_come = loop {
            if self.may_wait_for_parses(start, waited) {
                // A segment committed a moment ago is not parsed yet, and each check costs a read.
                self.world.clock().sleep(LOOK_AGAIN).await;
                waited += LOOK_AGAIN;
            }
            if self.has_come(start).await? {
                break true;
            }
            if !self.may_wait_for_parses(start, waited) {
                break false;
            }
        };
        if start == StartResult::PagesSpent && !has_come {
            self.end_if_origin_budget_is_spent();
        }
        if !waited.is_zero() {
            tracing::info!(waited_s = waited.as_secs(), "waited for parses");
        }
        Ok(has_come)
    }

    /// Whether segments are known to be unparsed, and there is time to wait for their parses. If no
    /// pages are left, there may be no other turn that fetches what the last ones need.
    fn may_wait_for_parses(&mut self, start: StartResult, waited: Duration) -> bool {
        let timing = self.world.timing();
        let wait_max = match start {
            StartResult::PagesSpent => timing.parse_wait.max(timing.wait_in_turn),
            _ => timing.parse_wait,
        };
        self.lease.segments > self.inbox.parsed && waited + LOOK_AGAIN <= wait_max && self.must_not_start().is_none()
    }

    /// Whether work arrived while the last visits were under way.
    async fn has_come(&mut self, start: StartResult) -> PortResult<bool> {
        let added_before = self.inbox.added;
        self.read_inbox().await?;
        if start == StartResult::PagesSpent {
            return Ok(self.inbox.added > added_before);
        }
        if self.has_met_barrier && self.lease.segments > self.inbox.parsed {
            return Ok(false);
        }
        let has_retry = self.planner.has_due_retry(&self.lease, self.retries_are_due_by());
        let has_todo = self.planner.has_todo(&self.inbox);
        if start == StartResult::Dry && !self.has_met_barrier && has_todo && self.inbox.added == added_before {
            let why = "there is less todo than was counted";
            return Err(PortError::new(PortErrorKind::Corrupt, "next todo", &self.origin, why));
        }
        // A barrier caused by retries stays until they are due.
        let is_kept_back = self.has_met_barrier && !self.lease.retries.is_empty() && !has_retry;
        Ok(has_retry || (has_todo && !is_kept_back))
    }

    async fn read_inbox(&mut self) -> PortResult<()> {
        if let Some(inbox) = self.world.frontier().load_inbox(&self.origin).await? {
            self.inbox = inbox;
        }
        Ok(())
    }

    /// Returns the origin as it stands in line at another host: for its next turn, if it must.
    fn waiter(&self) -> HostWaiter {
        HostWaiter {
            origin: self.origin.clone(),
            iteration: self.lease.iteration,
            turn: self.lease.turn.next(),
            delay: self.pacer.pace().delay(),
        }
    }

    /// Reads the origin's rules, and keeps their delay from now on. Returns the result of a request
    /// for them.
    async fn read_rules(&mut self, stored: StoredUse) -> PortResult<RulesAnswer> {
        self.is_at(Stage::Robots);
        let waiter = self.waiter();
        let failures_max = self.context.definition.politeness.failures;
        let is_last_try = self.lease.patience.lose_one().is_exhausted(failures_max);
        let broken_off = if is_last_try { BrokenOffPolicy::IsObeyed } else { BrokenOffPolicy::IsFailure };
        let (latest_start, known) = (self.latest_start(), (stored, self.lease.robots, broken_off));
        let (world, fetcher, pacer) = (&self.world, &*self.fetcher, &self.pacer);
        let read = robots(world, fetcher, &self.context, pacer, latest_start, (&waiter, &self.origin), known).await?;
        let asking = if read.answers.is_empty() { RulesAnswer::Unanswered } else { RulesAnswer::Answered };
        (self.robots, self.lease.robots) = (read.robots, read.robots_use);
        self.segments.asides.extend(read.answers);
        if let Robots::Known(policy) = &self.robots {
            self.pacer.slow_down_to(base_delay(&self.context, policy), self.world.clock());
        }
        self.lease.pace = self.pacer.pace();
        Ok(asking)
    }

    /// Returns how long a stored robots.txt serves: that depends on what waits.
    async fn stored_use(&mut self) -> PortResult<StoredUse> {
        if !self.context.only_checks(&self.origin.origin) {
            return Ok(StoredUse::Serves);
        }
        self.read_inbox().await?;
        self.planner.fill(&*self.world, &self.lease, &self.inbox, 0).await?;
        let urls = self.planner.at_hand() + self.lease.retries.len();
        Ok(StoredUse::ServesChecks { age_max: robots_age_max_for_checks(urls) })
    }

    /// Gets robots.txt. If it cannot be read, it is requested again later, until patience ends.
    async fn read_robots(&mut self, stored: StoredUse) -> PortResult<()> {
        let wait = self.pacer.wait(self.world.clock());
        if wait > self.world.timing().wait_in_turn {
            return Ok(());
        }
        loop {
            self.read_rules(stored).await?;
            let Some(why) = self.robots.unreadable() else { return Ok(()) };
            if self.context.definition.ignores_robots(&self.origin.origin) {
                self.robots = Robots::NotNeeded;
                return Ok(());
            }
            let (failure, is_hopeless) = (why.failure(), matches!(self.robots, Robots::NobodyThere(_)));
            let notice = Notice::RobotsUnreadable { origin: self.origin.clone(), detail: why.to_string() };
            tell_once(&*self.world, self.lease.iteration, vec![notice]).await;
            let politeness = &self.context.definition.politeness;
            self.lease.patience = self.lease.patience.lose_one();
            if self.lease.patience.is_exhausted(politeness.failures)
                || is_hopeless && self.lease.patience.has_failed_again()
            {
                self.give_up(LeftoverReason::RobotsUnreadable, &failure);
                return Ok(());
            }
            let mut wait = robots_wait(self.lease.patience, &self.lease.pace);
            if matches!(self.robots, Robots::OutOfReach(_)) {
                wait = wait.max(self.lease.patience.wait(politeness.patience, politeness.failures));
            }
            if is_hopeless && wait <= self.world.timing().wait_in_turn {
                // The next turn may come too late: meanwhile the others spend the budget, and
                // nobody hears that this origin is down.
                self.pacer.hold_off(self.world.clock(), wait, Wait::Robots);
                continue;
            }
            let now = self.world.clock().now();
            self.lease.wait_until(after(now, wait), now);
            return Ok(());
        }
    }
}
