//! The workers, which receive messages and call the steps, as Lambda functions do on AWS.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::frontier::{CrawlPut, IterationStatus, Selection, Task};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_local::LocalStore;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::crawl::{StopSignal, TurnLimits, work_turn};
use dragline_pipeline::handover::Handover;
use dragline_pipeline::live::LiveTurns;
use dragline_pipeline::parse::{KnownUrls, parse_segment};
use dragline_pipeline::schedule::start;
use dragline_pipeline::sweep::{SweepResult, sweep};
use dragline_pipeline::tell::tell_owed;
use dragline_pipeline::{Timing, World};
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::{Fetchers, RenderingFetchers};
use dragline_ports::frontier::{Crawls, Iterations, PutCrawl};
use dragline_ports::queue::Message;
use futures_util::future::join_all;
use jiff::Timestamp;
use tokio::task::JoinHandle;

use crate::conductor::Conductor;
use crate::faults::Processes;
use crate::mail::{Kind, Letter};
use crate::mutations::{MutatedFetcher, Mutation, PutOff};
use crate::ports::{Gate, GatedWeb, SimulatedClock};
use crate::scenario::Order;
use crate::schedules::Watch;
use crate::web::{Servers, SimulatedBrowser, SimulatedWeb};
use crate::worker::Worker;
use crate::world::{SimulatedWorld, adapters};

/// How often the sweeper runs: as on AWS, or as in one process.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
const SWEEP_EVERY_IN_ONE_PROCESS: Duration = Duration::from_secs(5);
const SWEEP_OFTEN: Duration = Duration::from_mins(5);

/// How soon a command that failed or came too early is given again.
const ORDER_AGAIN: Duration = Duration::from_secs(2);

/// Longer than any run.
const FOR_EVER: Duration = Duration::from_hours(10_000);

/// The workers that every run has.
const WORKERS: [Worker; 6] =
    [Worker::Crawler(1), Worker::Crawler(2), Worker::Parser(1), Worker::Parser(2), Worker::Scheduler, Worker::Sweeper];

/// What a process keeps from one message to the next. The workers of a run share it until one dies
/// with its process; workers started after that share a new one. They do not share [`Contexts`],
/// whose lock would block a worker where the conductor cannot resume it.
pub(crate) struct Memory {
    known: KnownUrls,
    live: LiveTurns,
    handover: Handover,
}

impl Memory {
    /// Few enough that some are evicted.
    const URLS: usize = 256;

    /// Room for some captures, so that parsers now get them and now read them back.
    const HANDOVER_BYTES: u64 = 40 << 10;

    /// An empty memory. What it evicts is drawn from the seed.
    pub(crate) fn of_seed(seed: u64) -> Self {
        let known = KnownUrls::with_secret(Self::URLS, [seed, 0]);
        Self { known, live: LiveTurns::default(), handover: Handover::new(Self::HANDOVER_BYTES) }
    }
}

/// What crawlers ask the web by.
type SimulatedFetchers = RenderingFetchers<Arc<MutatedFetcher<GatedWeb>>, SimulatedBrowser<SimulatedClock>>;

/// What workers are made of.
#[derive(Clone)]
pub(crate) struct Workshop {
    /// The memory of workers started from now on.
    pub(crate) memory: Arc<Memory>,
    pub(crate) conductor: Arc<Conductor>,
    pub(crate) store: LocalStore,
    pub(crate) servers: Arc<Servers>,
    pub(crate) crawl: CrawlId,
    /// The commands, and when each is given by the run's clock.
    pub(crate) orders: Vec<(Duration, Order)>,
    /// The times that the steps go by.
    pub(crate) timing: Timing,
    pub(crate) mutation: Option<Mutation>,
    /// Who looks at crawls; `None` where there is nothing to see.
    pub(crate) watch: Option<Arc<Watch>>,
}

impl Workshop {
    /// All workers of the run.
    pub(crate) fn workers(&self) -> Vec<Worker> {
        let operator = (!self.orders.is_empty()).then_some(Worker::Operator);
        WORKERS.into_iter().chain(operator).collect()
    }

    fn gate(&self, worker: Worker) -> Gate {
        let put_off = PutOff::new(self.mutation.and_then(Mutation::late_effect));
        let (conductor, watch) = (Arc::clone(&self.conductor), self.watch.clone());
        Gate { conductor, worker, put_off, mutation: self.mutation, watch }
    }

    /// The desk of a worker that is about to start.
    pub(crate) fn desk(&self, worker: Worker) -> Desk {
        self.conductor.started(worker);
        let gate = self.gate(worker);
        // Workers in separate processes do not know of each other's turns, and hand each other
        // nothing.
        let is_one_process = Processes::of(self.conductor.clocks()) == Processes::One;
        let (live, handover) = if is_one_process {
            (self.memory.live.clone(), self.memory.handover.clone())
        } else {
            (LiveTurns::default(), Handover::none())
        };
        let world =
            SimulatedWorld { live, handover, ..adapters(&gate, &self.store, self.mutation).with_timing(self.timing) };
        Desk {
            conductor: Arc::clone(&self.conductor),
            worker,
            world: Arc::new(world),
            contexts: Contexts::default(),
            memory: Arc::clone(&self.memory),
        }
    }

    /// Starts a worker.
    pub(crate) fn start(&self, worker: Worker) -> JoinHandle<()> {
        let desk = self.desk(worker);
        match worker {
            Worker::Crawler(_) => {
                let gate = self.gate(worker);
                let web = SimulatedWeb::new(Arc::clone(&self.servers), SimulatedClock(gate.clone()));
                let inner = GatedWeb { gate, web };
                let fetcher = Arc::new(MutatedFetcher { inner, mutation: self.mutation });
                let browser = SimulatedBrowser::new(Arc::clone(&self.servers), SimulatedClock(self.gate(worker)));
                tokio::spawn(desk.crawl(fetcher.rendering_by(Arc::new(browser))))
            }
            Worker::Parser(_) => tokio::spawn(desk.parse()),
            Worker::Scheduler | Worker::Client(_) | Worker::Ticker(_) => tokio::spawn(desk.schedule()),
            Worker::Sweeper => tokio::spawn(desk.sweep(self.crawl.clone())),
            Worker::Operator => tokio::spawn(desk.give(self.orders.clone(), self.crawl.clone())),
        }
    }
}

/// What the iteration of a trigger is to do.
fn task_of(trigger: &TriggerId) -> Task {
    if trigger.0.starts_with("reparse ") { Task::Reparse(Selection::All) } else { Task::Crawl }
}

/// A worker's place, with its ports.
pub(crate) struct Desk {
    pub(crate) conductor: Arc<Conductor>,
    pub(crate) worker: Worker,
    pub(crate) world: Arc<SimulatedWorld>,
    pub(crate) contexts: Contexts,
    memory: Arc<Memory>,
}

impl Desk {
    pub(crate) async fn receive(&self, kind: Kind) -> Letter {
        self.conductor.receive(self.worker, kind).await
    }

    /// A message whose work failed is delivered again.
    pub(crate) fn close<T: std::fmt::Debug>(&self, letter: &Letter, result: &PortResult<T>) {
        match result {
            Ok(end) => self.conductor.note(format_args!("{} ends: {end:?}", self.worker)),
            Err(error) => self.conductor.note(format_args!("{} fails: {error}", self.worker)),
        }
        let is_done = result.is_ok();
        let id = letter.id;
        self.conductor.with_mail(|mail, now| if is_done { mail.done(id) } else { mail.failed(id, now) });
    }

    async fn crawl(self, fetchers: SimulatedFetchers) {
        loop {
            let letter = self.receive(Kind::Ticket).await;
            let tickets = match &letter.message {
                Message::Ticket(ticket) => std::slice::from_ref(ticket),
                Message::Tickets(tickets) => tickets,
                Message::Parse(_) | Message::Start(_) | Message::Prune(_) | Message::Publish(_) => continue,
            };
            let (limits, stop) = (TurnLimits::default(), StopSignal::default());
            let mut turns = Vec::new();
            for ticket in tickets {
                turns.push(work_turn(&self.world, &fetchers, &self.contexts, &limits, &stop, ticket));
            }
            let end: PortResult<Vec<_>> = join_all(turns).await.into_iter().collect();
            self.close(&letter, &end);
        }
    }

    async fn parse(self) {
        loop {
            let letter = self.receive(Kind::Parse).await;
            let Message::Parse(message) = &letter.message else { continue };
            let end = Box::pin(parse_segment(&*self.world, &self.contexts, &self.memory.known, message)).await;
            self.close(&letter, &end);
        }
    }

    async fn schedule(self) {
        loop {
            let letter = self.receive(Kind::Start).await;
            let Message::Start(command) = &letter.message else { continue };
            let end = start(&*self.world, &self.contexts, command, &task_of(&command.trigger)).await;
            self.close(&letter, &end);
        }
    }

    async fn sweep(self, crawl: CrawlId) {
        let is_one_process = Processes::of(self.conductor.clocks()) == Processes::One;
        loop {
            // After that there are only long waits, which need few operations.
            let is_often = is_one_process && self.world.clock().monotonic() < SWEEP_OFTEN;
            let pause = if is_often { SWEEP_EVERY_IN_ONE_PROCESS } else { SWEEP_EVERY };
            self.world.clock().sleep(pause).await;
            match Box::pin(self.sweep_once(&crawl)).await {
                Ok((SweepResult::Closed(row), 0)) => self.conductor.iteration_closed(row.number),
                Ok(_) => {}
                Err(error) => self.conductor.note(format_args!("the sweep failed: {error}")),
            }
        }
    }

    /// Sweeps and sends all notices, due or not. Returns how many are left.
    async fn sweep_once(&self, crawl: &CrawlId) -> PortResult<(SweepResult, usize)> {
        let swept = Box::pin(sweep(&*self.world, crawl, self.world.clock().now())).await?;
        Ok((swept, tell_owed(&*self.world, Timestamp::MAX).await?))
    }

    /// Gives each command when it is time, until it is accepted.
    async fn give(self, orders: Vec<(Duration, Order)>, crawl: CrawlId) {
        let clock = self.world.clock();
        for (at, order) in orders {
            clock.sleep(at.saturating_sub(clock.monotonic())).await;
            while !Box::pin(self.order(&crawl, &order)).await.unwrap_or(false) {
                clock.sleep(ORDER_AGAIN).await;
            }
        }
        clock.sleep(FOR_EVER).await;
    }

    /// Gives one command. Returns whether there was an iteration to receive it.
    async fn order(&self, crawl: &CrawlId, order: &Order) -> PortResult<bool> {
        let frontier = self.world.frontier();
        let Some(iteration) = frontier.latest_iteration(crawl).await? else { return Ok(false) };
        match order {
            Order::Change(change) => {
                frontier.change_status(crawl, iteration.number, *change).await?;
                Ok(true)
            }
            Order::Redefine(definition) => {
                let stored = frontier.load_crawl(crawl).await?;
                let is_there = stored.as_ref().is_some_and(|row| row.definition == **definition);
                if is_there || iteration.status == IterationStatus::Closed {
                    return Ok(true);
                }
                let seen = stored.map(|row| row.version);
                let put = PutCrawl { definition: (**definition).clone(), seen, next: None };
                Ok(Box::pin(frontier.put_crawl(&put)).await? != CrawlPut::Changed)
            }
        }
    }
}
