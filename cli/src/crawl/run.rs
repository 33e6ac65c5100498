//! Runs the engine once, showing its progress and reacting to interruptions.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::definition::Definition;
use dragline_domain::frontier::IterationRow;
use dragline_domain::url::Origin;
use dragline_engine::room::Room;
use dragline_engine::run::{Engine, RunEnd, Until};
use dragline_engine::{Activity, LocalWorld};
use dragline_pipeline::World;
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::Fetchers;
use dragline_ports::frontier::{Iterations, Progress};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::display::Display;
use super::floor::{Floor, SpaceGuard};
use super::interrupt::Interrupts;
use super::progress::{Rate, Snapshot};
use super::watch::Watch;
use crate::notify::CliNotifier;
use crate::terminal::{Console, plural};

/// How often progress is shown.
const SHOW_EVERY: Duration = Duration::from_millis(250);

/// How often the committed counters are read.
const READ_EVERY: Duration = Duration::from_secs(1);

/// How long aborted tasks may take to stop.
const GONE_WITHIN: Duration = Duration::from_secs(2);

/// The local adapters, with notices printed on the console.
pub(super) type CliWorld = LocalWorld<CliNotifier>;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunOutcome {
    /// The iteration is over.
    Over,
    /// It was interrupted, and stopped cleanly.
    Interrupted,
    /// The disk had too little free space, and it stopped cleanly.
    LowSpace,
    /// It was interrupted twice, and stopped at once.
    AtOnce,
}

/// Runs an iteration with this definition until it is over or interrupted.
///
/// # Errors
/// The engine failed.
pub(super) async fn run(
    world: &Arc<CliWorld>,
    fetchers: impl Fetchers,
    (room, floor): (&Room, &Floor<'_>),
    (iteration, definition): (&IterationRow, &Definition),
    interrupts: &mut Interrupts,
    (watch, console): (&Watch, &Console),
) -> PortResult<RunOutcome> {
    let before = world.frontier().progress(&iteration.crawl, iteration.number).await?;
    let engine = Engine { options: room.options, ..Engine::new(Arc::clone(world), fetchers, world.queue.clone()) };
    let (stop, activity) = (engine.stop.clone(), Arc::clone(&engine.activity));
    let mut low = SpaceGuard::new(*floor, console);
    // Checked before the first request.
    low.check(&stop);
    let mut engine: JoinHandle<PortResult<RunEnd>> = tokio::spawn(engine.run(Until::Closed(iteration.crawl.clone())));
    let began = world.clock().monotonic();
    let mut shown = DisplayState {
        display: Display::for_console(console),
        watch,
        definition,
        rate: Rate::default(),
        began,
        committed: before.clone(),
        before,
        read_at: began,
        bytes_shown: 0,
    };
    let mut ticks = tokio::time::interval(SHOW_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            ended = &mut engine => return run_outcome(ended, &low),
            () = interrupts.next() => {
                if stop.is_stopped() {
                    engine.abort();
                    // The tasks that it started end a moment later. After that, nothing is
                    // committed.
                    let _aborted = (&mut engine).await;
                    wait_until_released(world).await;
                    return Ok(RunOutcome::AtOnce);
                }
                stop.stop();
                console.say(&finishing(activity.origins().len()));
            }
            _ = ticks.tick() => {
                low.check(&stop);
                shown.refresh(world, iteration, &activity).await;
            }
        }
    }
}

/// Waits until no task uses these adapters.
async fn wait_until_released(world: &Arc<CliWorld>) {
    let since = world.clock().monotonic();
    while Arc::strong_count(world) > 1 && world.clock().monotonic().saturating_sub(since) < GONE_WITHIN {
        world.clock().sleep(Duration::from_millis(5)).await;
    }
}

/// Returns how a run ended: one that was stopped may have been so for the lack of space.
fn run_outcome(
    ended: Result<PortResult<RunEnd>, tokio::task::JoinError>,
    low: &SpaceGuard<'_>,
) -> PortResult<RunOutcome> {
    match ended {
        Ok(Ok(RunEnd::Closed(_))) => Ok(RunOutcome::Over),
        Ok(Ok(RunEnd::Interrupted)) if low.is_reached() => Ok(RunOutcome::LowSpace),
        Ok(Ok(RunEnd::Interrupted)) => Ok(RunOutcome::Interrupted),
        Ok(Err(error)) => Err(error),
        Err(error) => Err(PortError::new(PortErrorKind::Other, "run", "the engine", error)),
    }
}

fn finishing(origins: usize) -> String {
    let origins = u64::try_from(origins).unwrap_or(u64::MAX);
    format!("finishing the requests under way at {}; press Ctrl-C again to stop at once", plural(origins, "site"))
}

/// The display's state between two updates.
struct DisplayState<'a> {
    display: Display,
    watch: &'a Watch,
    definition: &'a Definition,
    rate: Rate,
    began: Duration,
    /// The counters when the run began.
    before: Progress,
    /// The counters as last read.
    committed: Progress,
    /// When they were last read.
    read_at: Duration,
    /// The bytes of this run's bodies as last shown.
    bytes_shown: u64,
}

impl DisplayState<'_> {
    /// Returns the bytes under way. A body that has arrived is counted a moment later, and a
    /// robots.txt never: what was shown does not shrink meanwhile.
    fn arriving_bytes(&mut self, counted: u64) -> u64 {
        self.bytes_shown = self.bytes_shown.max(counted + self.watch.arriving().get());
        self.bytes_shown - counted
    }

    /// Updates the display. A failed read is skipped: the engine meets the same error and reports
    /// it.
    async fn refresh(&mut self, world: &CliWorld, iteration: &IterationRow, activity: &Activity) {
        if matches!(self.display, Display::None) {
            return;
        }
        let now = world.clock().monotonic();
        if now.saturating_sub(self.read_at) >= READ_EVERY {
            if let Ok(progress) = world.frontier().progress(&iteration.crawl, iteration.number).await {
                self.committed = progress;
            }
            self.read_at = now;
        }
        let mut places = self.watch.places();
        let visited: BTreeSet<Origin> = activity.origins().into_iter().collect();
        places.sort_by_key(|place| !visited.contains(&place.origin));
        let counted = self.watch.counts();
        let arriving_bytes = self.arriving_bytes(counted.body_bytes);
        let asked = self.before.crawler.pages + counted.requests;
        let mut snapshot = Snapshot {
            elapsed: now.saturating_sub(self.began),
            before: &self.before,
            committed: &self.committed,
            counted,
            arriving_bytes,
            rate: None,
            budget: self.definition.budget.pages.map(|pages| pages.saturating_sub(asked)),
            concurrency: self.definition.politeness.concurrency,
            places: &places,
            now: world.clock().now(),
        };
        snapshot.rate = self.rate.add_reading(now, snapshot.pages());
        self.display.show(&snapshot);
    }
}
