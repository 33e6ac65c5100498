//! The loop that runs the four steps in one process.
//!
//! Messages come out of the in-process queue and become tasks: turns, parses, commands. When nothing is under way and nothing waits, the
//! sweeper says whether the iteration is over or what got lost. Nothing here decides anything about the crawl: killing the process at any
//! moment and running it again gives the same crawl.

mod activity;
mod world;

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::CrawlId;
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::crawl::{StopSignal, TurnLimits, work_turn};
use dragline_pipeline::parse::{KnownUrls, parse_segment};
use dragline_pipeline::schedule::start;
use dragline_pipeline::sweep::{Swept, sweep};
use dragline_pipeline::tell::tell_owed;
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::Fetcher;
use dragline_ports::queue::{ParseMessage, StartCommand, Ticket};
use jiff::Timestamp;
use tokio::task::JoinSet;

use crate::MemoryQueue;

pub use activity::Activity;
pub use world::LocalWorld;

/// How often the loop looks whether it was told to stop.
const TICK: Duration = Duration::from_millis(200);

/// How often work that is overdue is looked for while other work is under way.
const SWEEP_EVERY: Duration = Duration::from_secs(5);

/// Sweeps in a row that find nothing to do although the iteration is open, before that is taken for a defect.
const FRUITLESS_SWEEPS_MAX: u32 = 50;

/// How much is done at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Origins that are visited at the same time.
    pub turns_max: usize,
    /// Segments that are parsed at the same time.
    pub parsers_max: usize,
}

impl Default for RunOptions {
    /// 64 origins, and as many parsers as there are cores.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { turns_max: 64, parsers_max: cores }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The iteration is over.
    Closed(IterationRow),
    /// It was told to stop. Everything that was under way is committed, and what was committed is parsed; another run goes on from there.
    Interrupted,
}

/// What the tasks share.
struct Shared<W, H> {
    world: Arc<W>,
    fetcher: Arc<H>,
    contexts: Contexts,
    known: KnownUrls,
    stop: StopSignal,
    activity: Arc<Activity>,
    limits: TurnLimits,
}

/// Runs a crawl's latest iteration until it is over or the signal stops it.
///
/// # Errors
/// The first surprise of any port: the disk is full, stored data is damaged. What was committed stays; another run goes on from there.
pub async fn run<W: World<Clock: Clone>, H: Fetcher + 'static>(
    world: Arc<W>,
    fetcher: Arc<H>,
    messages: MemoryQueue<W::Clock>,
    crawl: &CrawlId,
    options: RunOptions,
    stop: StopSignal,
    activity: Arc<Activity>,
) -> PortResult<RunEnd> {
    let contexts = Contexts::default();
    let shared = Arc::new(Shared {
        world,
        fetcher,
        contexts,
        known: KnownUrls::new(),
        stop,
        activity,
        limits: TurnLimits::default(),
    });
    let (tasks, parsing) = (JoinSet::new(), JoinSet::new());
    let mut engine = Engine { shared, messages, options, tasks, parsing, turns: 0, parses: 0, fruitless: 0 };
    let end = engine.run(crawl).await;
    // A parse that is cut off counts as one that its segment killed.
    while engine.parsing.join_next().await.is_some() {}
    end
}

/// What a task worked on.
enum Done {
    Turn,
    Parse,
    Command,
}

struct Engine<W: World, H> {
    shared: Arc<Shared<W, H>>,
    messages: MemoryQueue<W::Clock>,
    options: RunOptions,
    tasks: JoinSet<PortResult<Done>>,
    /// Apart, as they are waited for in any case.
    parsing: JoinSet<PortResult<Done>>,
    turns: usize,
    parses: usize,
    fruitless: u32,
}

impl<W: World<Clock: Clone>, H: Fetcher + 'static> Engine<W, H> {
    async fn run(&mut self, crawl: &CrawlId) -> PortResult<RunEnd> {
        let world = Arc::clone(&self.shared.world);
        let messages = self.messages.clone();
        let (tickets, parses, commands) = (messages.tickets(), messages.parses(), messages.commands());
        let mut next_sweep = world.clock().monotonic() + SWEEP_EVERY;
        let mut closed = None;
        loop {
            let is_stopped = self.shared.stop.is_stopped();
            let is_idle = self.tasks.is_empty() && self.parsing.is_empty();
            if is_idle && is_stopped {
                // What was fetched is parsed all the same: people are told what came of it, and find it in the tables.
                if !parses.has_ready() {
                    return Ok(RunEnd::Interrupted);
                }
            } else if is_idle {
                // Messages that still wait are void by then.
                if let Some(row) = closed {
                    tell_owed(&*world, Timestamp::MAX).await?;
                    return Ok(RunEnd::Closed(row));
                }
                if self.messages.pending() == 0
                    && let Some(closed) = self.sweep_when_idle(crawl).await?
                {
                    tell_owed(&*world, Timestamp::MAX).await?;
                    return Ok(RunEnd::Closed(closed));
                }
            }
            let crowd = &self.shared.limits.crowd;
            if self.turns >= self.options.turns_max && tickets.has_ready() {
                crowd.others_wait();
            } else {
                crowd.nobody_waits();
            }
            tokio::select! {
                Some(done) = self.tasks.join_next() => self.done(done)?,
                Some(done) = self.parsing.join_next() => self.done(done)?,
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
                if let Swept::Closed(row) = sweep(&*world, crawl, world.clock().now()).await? {
                    closed = Some(row);
                }
                tell_owed(&*world, world.clock().now()).await?;
                next_sweep = world.clock().monotonic() + SWEEP_EVERY;
            }
        }
    }

    /// Nothing is under way and nothing waits: whatever is owed is overdue. The iteration, if it is over.
    async fn sweep_when_idle(&mut self, crawl: &CrawlId) -> PortResult<Option<IterationRow>> {
        match sweep(&*self.shared.world, crawl, Timestamp::MAX).await? {
            Swept::Closed(row) => return Ok(Some(row)),
            Swept::GoesOn { acts } if acts > 0 => self.fruitless = 0,
            Swept::GoesOn { .. } | Swept::NoIteration => self.fruitless += 1,
        }
        if self.fruitless > FRUITLESS_SWEEPS_MAX {
            let why = "the iteration is open, but nothing in it is left to be done";
            return Err(PortError::new(PortErrorKind::Other, "sweep", crawl, why));
        }
        Ok(None)
    }

    fn done(&mut self, done: Result<PortResult<Done>, tokio::task::JoinError>) -> PortResult<()> {
        let done = done.map_err(|error| PortError::new(PortErrorKind::Other, "run", "a task", error))??;
        match done {
            Done::Turn => self.turns -= 1,
            Done::Parse => self.parses -= 1,
            Done::Command => {}
        }
        Ok(())
    }

    fn spawn_turn(&mut self, ticket: Ticket) {
        self.turns += 1;
        let shared = Arc::clone(&self.shared);
        self.tasks.spawn(async move {
            let _visible = shared.activity.begin(&ticket.origin);
            let Shared { world, fetcher, contexts, stop, limits, .. } = &*shared;
            let end = work_turn(world, fetcher, contexts, limits, stop, &ticket).await?;
            tracing::debug!(origin = %ticket.origin, turn = %ticket.turn, ?end, "turn ended");
            Ok(Done::Turn)
        });
    }

    fn spawn_parse(&mut self, message: ParseMessage) {
        self.parses += 1;
        let shared = Arc::clone(&self.shared);
        self.parsing.spawn(async move {
            let end = parse_segment(&*shared.world, &shared.contexts, &shared.known, &message).await?;
            tracing::debug!(segment = %message.segment, ?end, "parse ended");
            Ok(Done::Parse)
        });
    }

    fn spawn_start(&mut self, command: StartCommand) {
        let shared = Arc::clone(&self.shared);
        self.tasks.spawn(async move {
            start(&*shared.world, &shared.contexts, &command).await?;
            Ok(Done::Command)
        });
    }
}
