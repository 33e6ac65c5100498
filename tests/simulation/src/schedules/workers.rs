//! The workers that other runs do not have: clients, tickers, and a sweeper of many crawls.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::command::Command;
use dragline_domain::definition::{RunsWhere, UserAgent};
use dragline_domain::ids::CrawlId;
use dragline_local::SqliteReader;
use dragline_pipeline::World;
use dragline_pipeline::schedule::{Defaults, begin_due, start_once, tick};
use dragline_pipeline::sweep::{SweepResult, sweep};
use dragline_pipeline::tell::tell_owed;
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{CrawlRow, Crawls};
use dragline_ports::queue::Message;
use dragline_search::Index;
use dragline_service::{AddCrawl, Backend, Freshness, Link, Output, PortsBackend, Printout, Problem, Stores};
use jiff::Timestamp;
use tokio::task::JoinHandle;

use super::scenario::{CLIENTS, Call, Home, Order, Scenario, TICKERS};
use super::watch::{Answer, Doing, Watch};
use crate::mail::Kind;
use crate::worker::Worker;
use crate::workers::{Desk, Workshop};
use crate::world::SimulatedWorld;

/// How often the sweeper looks while something runs, and at most how often while nothing happens.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
const SWEEP_SELDOM: Duration = Duration::from_mins(20);

/// After how long a call whose answer was lost is given again, and a tick that failed at the end.
const AGAIN: Duration = Duration::from_secs(5);

/// Longer than any run.
const FOR_EVER: Duration = Duration::from_hours(10_000);

/// The workers of a run.
const WORKERS: [Worker; 10] = [
    Worker::Crawler(1),
    Worker::Crawler(2),
    Worker::Parser(1),
    Worker::Parser(2),
    Worker::Scheduler,
    Worker::Sweeper,
    Worker::Client(0),
    Worker::Client(1),
    Worker::Ticker(0),
    Worker::Ticker(1),
];

/// What starts the workers.
pub(super) struct Crew {
    pub(super) workshop: Workshop,
    pub(super) scenario: Arc<Scenario>,
    pub(super) watch: Arc<Watch>,
}

impl Crew {
    pub(super) fn workers() -> [Worker; 10] {
        WORKERS
    }

    pub(super) fn start(&self, worker: Worker) -> JoinHandle<()> {
        if matches!(worker, Worker::Crawler(_) | Worker::Parser(_)) {
            return self.workshop.start(worker);
        }
        let desk = self.workshop.desk(worker);
        let post = Post { desk, scenario: Arc::clone(&self.scenario), watch: Arc::clone(&self.watch) };
        match worker {
            Worker::Client(n) => tokio::spawn(post.call(n)),
            Worker::Ticker(n) => tokio::spawn(post.tick(n)),
            Worker::Sweeper => tokio::spawn(post.sweep()),
            _ => tokio::spawn(post.schedule()),
        }
    }
}

/// The place of a worker.
struct Post {
    desk: Desk,
    scenario: Arc<Scenario>,
    watch: Arc<Watch>,
}

impl Post {
    fn world(&self) -> &SimulatedWorld {
        &self.desk.world
    }

    async fn wait_until(&self, at: Duration) {
        let clock = self.world().clock();
        clock.sleep(at.saturating_sub(clock.monotonic())).await;
    }

    /// Handles starts, as the scheduler of a stack and the engine of a machine do.
    async fn schedule(self) {
        loop {
            let letter = self.desk.receive(Kind::Start).await;
            self.desk.conductor.go_on();
            let Message::Start(command) = &letter.message else { continue };
            let end = Box::pin(start_once(self.world(), &self.desk.contexts, command)).await;
            self.desk.close(&letter, &end);
        }
    }

    /// Looks at schedules at each of the times and, when all is over, until that goes well.
    async fn tick(self, n: usize) {
        let worker = self.desk.worker;
        loop {
            let times = &self.scenario.ticks[n];
            let at = times.get(self.watch.through(worker)).copied().unwrap_or(self.scenario.length);
            self.wait_until(at).await;
            let is_last = self.watch.through(worker) >= times.len();
            if !is_last {
                self.watch.pass(worker);
            }
            let clock = self.world().clock();
            self.watch.begin(worker, Doing::Tick(clock.now()), clock.monotonic());
            let ticked = match self.scenario.home {
                Home::Stack => Box::pin(tick(self.world())).await,
                Home::Machine => Box::pin(begin_due(self.world(), &self.desk.contexts)).await,
            };
            self.watch.end(worker, ticked.is_ok().then_some(Answer::Done));
            match ticked {
                Ok(begun) => self.desk.conductor.note(format_args!("{worker} begins {begun}")),
                Err(error) => {
                    self.desk.conductor.note(format_args!("{worker} fails: {error}"));
                    clock.sleep(AGAIN).await;
                    continue;
                }
            }
            if is_last {
                self.watch.pass(worker);
                clock.sleep(FOR_EVER).await;
            }
        }
    }

    /// Gives each call when it is time, until it is answered, and some again.
    async fn call(self, n: usize) {
        let (worker, clock) = (self.desk.worker, self.world().clock());
        let defaults = Defaults { user_agent: UserAgent::default(), url_pages_max: 10, ignore_robots: Vec::new() };
        let backend = PortsBackend::new(Arc::clone(&self.desk.world), NoStores, defaults);
        let orders = &self.scenario.orders[n];
        while let Some((at, order)) = orders.get(self.watch.through(worker)) {
            self.wait_until(*at).await;
            let mut answered = 0;
            while answered <= order.again {
                self.watch.begin(worker, Doing::Call(order.clone()), clock.monotonic());
                self.desk.conductor.note(format_args!("{worker} calls: {}", shown(order)));
                let answer = Box::pin(give(&backend, order)).await;
                self.desk.conductor.note(format_args!("{worker} is answered: {answer:?}"));
                let answer = match answer {
                    Ok(answer) => Some(answer),
                    Err(problem) if problem.status < 500 => Some(Answer::Refused),
                    Err(_) => None,
                };
                answered += usize::from(answer.is_some());
                self.watch.end(worker, answer);
                clock.sleep(AGAIN).await;
            }
            self.watch.pass(worker);
        }
        self.watch.pass(worker);
        clock.sleep(FOR_EVER).await;
    }

    /// Sweeps what runs, and sends what is owed, until all is over.
    async fn sweep(self) {
        let clock = self.world().clock();
        let mut pause = SWEEP_EVERY;
        loop {
            clock.sleep(pause).await;
            match Box::pin(self.sweep_all()).await {
                Ok(Swept::Over) => {
                    self.desk.conductor.finish();
                    continue;
                }
                Ok(Swept::Acted) => pause = SWEEP_EVERY,
                Ok(Swept::Nothing) => pause = (2 * pause).min(SWEEP_SELDOM),
                Err(error) => self.desk.conductor.note(format_args!("the sweep failed: {error}")),
            }
            self.desk.conductor.go_on();
        }
    }

    async fn sweep_all(&self) -> PortResult<Swept> {
        let (world, now) = (self.world(), self.world().clock().now());
        let running = world.frontier().running_crawls(100).await?;
        let mut acts = 0;
        for crawl in &running {
            acts += match Box::pin(sweep(world, crawl, now)).await? {
                SweepResult::GoesOn { acts } => acts,
                SweepResult::Closed(_) => 1,
                SweepResult::NoIteration => 0,
            };
        }
        let is_late = running.is_empty() && self.is_through();
        let left = tell_owed(world, if is_late { Timestamp::MAX } else { now }).await?;
        Ok(match (is_late && left == 0, acts + left) {
            (true, _) => Swept::Over,
            (false, 0) => Swept::Nothing,
            (false, _) => Swept::Acted,
        })
    }

    /// Whether all clients and tickers are through.
    fn is_through(&self) -> bool {
        let orders = (0..CLIENTS).map(|n| (Worker::Client(n), self.scenario.orders[n].len()));
        let ticks = (0..TICKERS).map(|n| (Worker::Ticker(n), self.scenario.ticks[n].len()));
        orders.chain(ticks).all(|(worker, count)| self.watch.through(worker) > count)
    }
}

/// What a sweep did.
enum Swept {
    Acted,
    Nothing,
    /// There is nothing left to do.
    Over,
}

/// An order for the trace.
fn shown(order: &Order) -> String {
    let Order { crawl, call, trigger, again: _ } = order;
    match call {
        Call::Add(definition) | Call::PutPaused(definition) => {
            let name = if matches!(call, Call::Add(_)) { "add" } else { "put paused" };
            let schedule = definition.schedule.as_ref().map(|schedule| (schedule.cron(), schedule.time_zone()));
            format!("{trigger} {name} {crawl} {schedule:?} delay {:?}", definition.politeness.delay)
        }
        other => format!("{trigger} {other:?} {crawl}"),
    }
}

/// Gives a call.
async fn give(backend: &impl Backend, order: &Order) -> Result<Answer, Problem> {
    let Order { crawl, call, trigger, again: _ } = order;
    let command = match call {
        Call::SetSchedule(state) => {
            backend.set_schedule(crawl, *state).await?;
            return Ok(Answer::Done);
        }
        Call::PutPaused(definition) => {
            backend.put_paused(definition).await?;
            return Ok(Answer::Done);
        }
        Call::Add(definition) => Command::PutCrawl(definition.clone()),
        Call::Start => Command::Start { crawl: crawl.clone(), trigger: Some(trigger.clone()) },
        Call::Change(change) => Command::Change { crawl: crawl.clone(), change: *change },
        Call::Remove => Command::Remove(crawl.clone()),
    };
    let result = backend.command(&command, trigger).await?;
    Ok(Answer::Result(Box::new(result)))
}

/// Stores that no call needs.
struct NoStores;

impl NoStores {
    fn error() -> PortError {
        PortError::new(PortErrorKind::Other, "read", "the stores", "no call of a run reads them")
    }
}

impl Stores for NoStores {
    type Reader = SqliteReader;

    async fn crawls(&self) -> PortResult<Vec<CrawlId>> {
        Err(Self::error())
    }

    async fn load_crawl(&self, _crawl: &CrawlId) -> PortResult<Option<CrawlRow>> {
        Err(Self::error())
    }

    async fn index(&self, _crawl: &CrawlId, _freshness: Freshness) -> Result<Option<Arc<Index>>, Problem> {
        Err(Self::error().into())
    }

    async fn print(&self, _crawl: &CrawlId, _printout: Printout) -> Result<Output, Problem> {
        Err(Self::error().into())
    }

    async fn link(&self, _crawl: &CrawlId) -> Result<Option<AddCrawl>, Problem> {
        Err(Self::error().into())
    }

    async fn keep_link(&self, _crawl: &CrawlId, _link: Link) -> Result<(), Problem> {
        Err(Self::error().into())
    }

    async fn read_link(&self, _url: &str) -> Result<String, Problem> {
        Err(Self::error().into())
    }

    fn free_bytes(&self) -> Option<u64> {
        None
    }

    fn runs(&self) -> RunsWhere {
        RunsWhere::Anywhere
    }

    fn reader(&self, _crawl: &CrawlId) -> PortResult<SqliteReader> {
        Err(Self::error())
    }
}
