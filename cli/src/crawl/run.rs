//! One run of the engine, with its progress shown and interruptions obeyed.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::frontier::IterationRow;
use dragline_http::HttpFetcher;
use dragline_local::engine::{self, Activity, LocalWorld, RunEnd};
use dragline_pipeline::World;
use dragline_pipeline::crawl::StopSignal;
use dragline_pipeline::ports::clock::Clock;
use dragline_pipeline::ports::error::{PortError, PortErrorKind, PortResult};
use dragline_pipeline::ports::frontier::Frontier;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::Room;
use super::display::Display;
use super::interrupt::Interrupts;
use super::notices::TalkNotifier;
use super::progress::{Rate, Snapshot};
use crate::terminal::{Talk, plural};

/// How often progress is read.
const SHOW_EVERY: Duration = Duration::from_secs(1);

/// The local adapters, notices going to the terminal.
pub(super) type CliWorld = LocalWorld<TalkNotifier>;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The iteration is over.
    Over,
    /// It was interrupted and stopped cleanly.
    Interrupted,
    /// It was interrupted twice, and left as it was.
    AtOnce,
}

/// Runs an iteration until it is over or interrupted.
///
/// # Errors
/// The engine's.
pub(super) async fn run(
    world: &Arc<CliWorld>,
    fetcher: Arc<HttpFetcher>,
    room: &Room,
    iteration: &IterationRow,
    interrupts: &mut Interrupts,
    talk: &Talk,
) -> PortResult<Ended> {
    let (stop, activity) = (StopSignal::default(), Arc::new(Activity::default()));
    let mut engine: JoinHandle<PortResult<RunEnd>> = tokio::spawn({
        let (world, crawl) = (Arc::clone(world), iteration.crawl.clone());
        let (stop, activity) = (stop.clone(), Arc::clone(&activity));
        let options = room.options;
        async move {
            let messages = world.messages();
            engine::run(world, fetcher, messages, &crawl, options, stop, activity).await
        }
    });
    let mut shown = Shown { display: Display::of(talk), rate: Rate::default(), began: world.clock().monotonic() };
    let mut ticks = tokio::time::interval(SHOW_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            ended = &mut engine => return ended_of(ended),
            () = interrupts.next() => {
                if stop.is_stopped() {
                    engine.abort();
                    return Ok(Ended::AtOnce);
                }
                stop.stop();
                talk.say(&finishing(activity.origins().len()));
            }
            _ = ticks.tick() => shown.refresh(world, iteration, &activity).await,
        }
    }
}

fn ended_of(ended: Result<PortResult<RunEnd>, tokio::task::JoinError>) -> PortResult<Ended> {
    match ended {
        Ok(Ok(RunEnd::Closed(_))) => Ok(Ended::Over),
        Ok(Ok(RunEnd::Interrupted)) => Ok(Ended::Interrupted),
        Ok(Err(error)) => Err(error),
        Err(error) => Err(PortError::new(PortErrorKind::Other, "run", "the engine", error)),
    }
}

fn finishing(origins: usize) -> String {
    let origins = u64::try_from(origins).unwrap_or(u64::MAX);
    format!("finishing what is under way at {}; press Ctrl-C again to stop at once", plural(origins, "site"))
}

/// What the display needs from one look to the next.
struct Shown {
    display: Display,
    rate: Rate,
    began: Duration,
}

impl Shown {
    /// Shows how things stand. A reading that fails is left out: the engine meets the same trouble, and reports it.
    async fn refresh(&mut self, world: &CliWorld, iteration: &IterationRow, activity: &Activity) {
        if matches!(self.display, Display::None) {
            return;
        }
        let Ok(progress) = world.frontier().progress(&iteration.crawl, iteration.number).await else { return };
        let now = world.clock().monotonic();
        let rate = self.rate.after(now, progress.crawler.pages);
        let (elapsed, origins) = (now.saturating_sub(self.began), activity.origins());
        self.display.show(&Snapshot { elapsed, progress: &progress, rate, origins: &origins });
    }
}
