//! The loop that runs the four steps in one process.
//!
//! Each message of the in-process queue becomes a task: a turn, a parse or a command. When nothing
//! is in progress or waiting, the sweeper finds out whether an iteration is over or work was lost.
//! The loop makes no decisions about a crawl, so killing the process at any moment and running it
//! again gives the same crawl.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::frontier::{IterationRow, Task};
use dragline_domain::ids::CrawlId;
use dragline_local::MemoryQueue;
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::crawl::{StopSignal, TurnLimits, work_turn};
use dragline_pipeline::parse::{KnownUrls, parse_segment};
use dragline_pipeline::schedule::{begin_due, start, start_once};
use dragline_pipeline::sweep::{SweepResult, sweep};
use dragline_pipeline::tell::tell_owed;
use dragline_pipeline::watching::watch_batch;
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::Fetchers;
use dragline_ports::frontier::Crawls;
use dragline_ports::observer::Batch;
use dragline_ports::queue::{ParseMessage, StartCommand, Ticket};
use jiff::Timestamp;
use tokio::task::JoinSet;

use crate::Activity;
use crate::room::TURNS_MAX;

/// How often the loop checks whether it should stop.
const TICK: Duration = Duration::from_millis(200);

/// How often the loop looks for overdue work and due schedules while other work is in progress.
const SWEEP_EVERY: Duration = Duration::from_secs(5);

/// The maximum number of successive sweeps of an open iteration that find nothing to do. More than
/// that is a defect.
const FRUITLESS_SWEEPS_MAX: u32 = 50;

/// The maximum number of crawls that are swept, the oldest first.
const CRAWLS_MAX: usize = 1_000;

/// The limits on concurrent work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// The maximum number of origins visited at the same time.
    pub turns_max: usize,
    /// The maximum number of segments parsed at the same time.
    pub parsers_max: usize,
}

impl Default for RunOptions {
    /// As many origins as there is memory for, and as many parsers as cores.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { turns_max: TURNS_MAX, parsers_max: cores }
    }
}

/// Which crawls to run, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// One crawl, until its latest iteration is over. An iteration that stays paused counts as a
    /// defect.
    Closed(CrawlId),
    /// Every running or scheduled crawl of the data directory, until the stop signal.
    Stopped,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The iteration is over.
    Closed(Box<IterationRow>),
    /// The stop signal was given. All work in progress was committed and parsed, and another run
    /// continues from there.
    Interrupted,
}

/// The engine: runs crawls in this process.
pub struct Engine<W: World, S> {
    /// The ports.
    pub world: Arc<W>,
    /// The source of the turns' fetchers.
    pub fetchers: S,
    /// The queue of these ports, to receive messages from.
    pub messages: MemoryQueue<W::Clock>,
    /// The limits on concurrent work.
    pub options: RunOptions,
    /// Stops the run cleanly.
    pub stop: StopSignal,
    /// The origins being visited.
    pub activity: Arc<Activity>,
}

impl<W: World<Clock: Clone>, S: Fetchers> Engine<W, S> {
    /// Returns an engine over these ports, with default options.
    pub fn new(world: Arc<W>, fetchers: S, messages: MemoryQueue<W::Clock>) -> Self {
        let (options, stop, activity) = (RunOptions::default(), StopSignal::default(), Arc::default());
        Self { world, fetchers, messages, options, stop, activity }
    }

    /// Runs crawls until `until`, or until the stop signal.
    ///
    /// # Errors
    /// The first error of any port, such as a full disk or damaged data. Committed work stays, and
    /// another run continues from there.
    pub async fn run(self, until: Until) -> PortResult<RunEnd> {
        let Self { world, fetchers, messages, options, stop, activity } = self;
        let (contexts, known, limits) = (Contexts::default(), KnownUrls::new(), TurnLimits::default());
        let shared = Arc::new(Shared { world, fetchers, contexts, known, stop, activity, limits });
        let (tasks, parsing) = (JoinSet::new(), JoinSet::new());
        let mut running = Running {
            shared,
            messages,
            options,
            until,
            tasks,
            parsing,
            turns: 0,
            parses: 0,
            idle: IdleSweeps::Unknown,
            schedules: Schedules::Rest,
        };
        let end = running.run().await;
        // A parse that is cut off would count against its segment as a crash of the parser.
        while running.parsing.join_next().await.is_some() {}
        end
    }
}

/// The state that tasks share.
struct Shared<W, S> {
    world: Arc<W>,
    fetchers: S,
    contexts: Contexts,
    known: KnownUrls,
    stop: StopSignal,
    activity: Arc<Activity>,
    limits: TurnLimits,
}

/// The task that ended.
enum FinishedTask {
    Turn,
    Parse,
    Command,
    Schedules,
}

/// Whether schedules are being looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Schedules {
    Rest,
    LookedAt,
}

/// The results of sweeps while nothing was in progress or waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdleSweeps {
    /// No sweep has run since the last work in progress.
    Unknown,
    /// This many sweeps in a row found nothing to do.
    Fruitless(u32),
}

struct Running<W: World, S> {
    shared: Arc<Shared<W, S>>,
    messages: MemoryQueue<W::Clock>,
    options: RunOptions,
    until: Until,
    tasks: JoinSet<PortResult<FinishedTask>>,
    /// Separate, as they are always waited for.
    parsing: JoinSet<PortResult<FinishedTask>>,
    turns: usize,
    parses: usize,
    idle: IdleSweeps,
    schedules: Schedules,
}

impl<W: World<Clock: Clone>, S: Fetchers> Running<W, S> {
    async fn run(&mut self) -> PortResult<RunEnd> {
        let world = Arc::clone(&self.shared.world);
        let messages = self.messages.clone();
        let (tickets, parses, commands) = (messages.tickets(), messages.parses(), messages.commands());
        let mut next_sweep = match self.until {
            Until::Closed(_) => world.clock().monotonic() + SWEEP_EVERY,
            // Schedules may have come due while no process was running.
            Until::Stopped => world.clock().monotonic(),
        };
        let mut closed = None;
        loop {
            let is_stopped = self.shared.stop.is_stopped();
            let is_idle = self.tasks.is_empty() && self.parsing.is_empty();
            if is_idle && is_stopped {
                // Fetched segments are still parsed, so that the summary and the tables include
                // them.
                if !parses.has_ready() {
                    return Ok(RunEnd::Interrupted);
                }
            } else if is_idle {
                // Once the iteration is closed, waiting messages are void.
                if closed.is_none() && self.messages.pending() == 0 {
                    closed = self.sweep_when_idle().await?;
                }
                if let Some(row) = closed {
                    tell_owed(&*world, Timestamp::MAX).await?;
                    return Ok(RunEnd::Closed(row));
                }
            }
            let crowd = &self.shared.limits.crowd;
            if self.turns >= self.options.turns_max && tickets.has_ready() {
                crowd.others_wait();
            } else {
                crowd.nobody_waits();
            }
            tokio::select! {
                Some(done) = self.tasks.join_next() => self.finish_task(done)?,
                Some(done) = self.parsing.join_next() => self.finish_task(done)?,
                ticket = tickets.receive(), if !is_stopped && self.turns < self.options.turns_max => {
                    self.spawn_turn(ticket);
                }
                message = parses.receive(), if self.parses < self.options.parsers_max => {
                    self.spawn_parse(message);
                }
                command = commands.receive(), if !is_stopped => self.spawn_start(command),
                () = world.clock().sleep(TICK) => {}
            }
            if world.clock().monotonic() >= next_sweep && !is_stopped {
                closed = self.sweep(world.clock().now()).await?.closed.or(closed);
                tell_owed(&*world, world.clock().now()).await?;
                if self.until == Until::Stopped {
                    self.spawn_due();
                }
                next_sweep = world.clock().monotonic() + SWEEP_EVERY;
            }
        }
    }

    /// Sweeps the crawls of this run, for work that is overdue at this time.
    async fn sweep(&self, now: Timestamp) -> PortResult<Sweeps> {
        let world = &*self.shared.world;
        let mut sweeps = Sweeps::default();
        match &self.until {
            Until::Closed(crawl) => match watch_batch(world, Batch::Sweep { crawl }, sweep(world, crawl, now)).await? {
                SweepResult::Closed(row) => sweeps.closed = Some(row),
                SweepResult::GoesOn { acts } => sweeps.acts = acts,
                SweepResult::NoIteration => {}
            },
            Until::Stopped => {
                for crawl in world.frontier().running_crawls(CRAWLS_MAX).await? {
                    match watch_batch(world, Batch::Sweep { crawl: &crawl }, sweep(world, &crawl, now)).await {
                        Ok(SweepResult::Closed(row)) => {
                            tracing::info!(%crawl, iteration = %row.number, "iteration over");
                            sweeps.acts += 1;
                        }
                        Ok(SweepResult::GoesOn { acts }) => sweeps.acts += acts,
                        Ok(SweepResult::NoIteration) => {}
                        // It must not end the other crawls.
                        Err(error) if error.kind.is_lasting() => {
                            tracing::error!(%crawl, %error, "a crawl cannot be swept");
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(sweeps)
    }

    /// Sweeps when nothing is in progress or waiting, so that all outstanding work is overdue.
    /// Returns the iteration of the run if it is over.
    async fn sweep_when_idle(&mut self) -> PortResult<Option<Box<IterationRow>>> {
        let fruitless = match (&self.until, self.idle) {
            (_, IdleSweeps::Unknown) => 0,
            // Nothing changes on its own. The regular sweep finds what comes due.
            (Until::Stopped, IdleSweeps::Fruitless(_)) => return Ok(None),
            (Until::Closed(crawl), IdleSweeps::Fruitless(sweeps)) if sweeps > FRUITLESS_SWEEPS_MAX => {
                let why = "the iteration is open, but there is nothing left to do in it";
                return Err(PortError::new(PortErrorKind::Other, "sweep", crawl, why));
            }
            (Until::Closed(_), IdleSweeps::Fruitless(sweeps)) => sweeps,
        };
        let Sweeps { closed, acts } = self.sweep(Timestamp::MAX).await?;
        self.idle = if acts > 0 { IdleSweeps::Unknown } else { IdleSweeps::Fruitless(fruitless + 1) };
        Ok(closed)
    }

    fn finish_task(&mut self, done: Result<PortResult<FinishedTask>, tokio::task::JoinError>) -> PortResult<()> {
        let done = done.map_err(|error| PortError::new(PortErrorKind::Other, "run", "a task", error))??;
        match done {
            FinishedTask::Turn => self.turns -= 1,
            FinishedTask::Parse => self.parses -= 1,
            FinishedTask::Command => {}
            FinishedTask::Schedules => self.schedules = Schedules::Rest,
        }
        Ok(())
    }

    fn spawn_turn(&mut self, ticket: Ticket) {
        self.turns += 1;
        self.idle = IdleSweeps::Unknown;
        let shared = Arc::clone(&self.shared);
        self.tasks.spawn(async move {
            let _visible = shared.activity.begin(&ticket.origin);
            let Shared { world, fetchers, contexts, stop, limits, .. } = &*shared;
            let turn = Box::pin(work_turn(world, fetchers, contexts, limits, stop, &ticket));
            let batch = Batch::Turn { origin: &ticket.origin, turn: ticket.turn };
            let end = watch_batch(&**world, batch, turn).await?;
            tracing::debug!(origin = %ticket.origin, turn = %ticket.turn, ?end, "turn ended");
            Ok(FinishedTask::Turn)
        });
    }

    fn spawn_parse(&mut self, message: ParseMessage) {
        self.parses += 1;
        self.idle = IdleSweeps::Unknown;
        let shared = Arc::clone(&self.shared);
        self.parsing.spawn(async move {
            let world = &*shared.world;
            let parse = Box::pin(parse_segment(world, &shared.contexts, &shared.known, &message));
            let end = watch_batch(world, Batch::Parse { segment: &message.segment }, parse).await?;
            tracing::debug!(segment = %message.segment, ?end, "parse ended");
            Ok(FinishedTask::Parse)
        });
    }

    fn spawn_start(&mut self, command: StartCommand) {
        self.idle = IdleSweeps::Unknown;
        let shared = Arc::clone(&self.shared);
        // The crawl of a run is begun even if it was removed from the schedules of a server.
        let is_asked_for = matches!(self.until, Until::Closed(_));
        self.tasks.spawn(async move {
            let Shared { world, contexts, .. } = &*shared;
            let begin = Box::pin(async {
                if is_asked_for {
                    start(&**world, contexts, &command, &Task::Crawl).await?;
                } else {
                    start_once(&**world, contexts, &command).await?;
                }
                Ok(())
            });
            watch_batch(&**world, Batch::Schedule { crawl: &command.crawl }, begin).await?;
            Ok(FinishedTask::Command)
        });
    }

    /// Begins what is due, unless that is still being done.
    fn spawn_due(&mut self) {
        if self.schedules == Schedules::LookedAt {
            return;
        }
        self.schedules = Schedules::LookedAt;
        let shared = Arc::clone(&self.shared);
        self.tasks.spawn(async move {
            begin_due(&*shared.world, &shared.contexts).await?;
            Ok(FinishedTask::Schedules)
        });
    }
}

/// The result of one or several sweeps.
#[derive(Debug, Default)]
struct Sweeps {
    /// The iteration of the run, if it is over.
    closed: Option<Box<IterationRow>>,
    /// The number of actions taken.
    acts: usize,
}
