//! Keeping a destination up to date while its crawl goes on.

use std::time::Duration;

use dragline_domain::ids::CrawlId;
use dragline_ports::clock::Clock;
use dragline_ports::reader::Reader;
use tokio::sync::Semaphore;

use crate::destination::Destination;
use crate::error::SinkError;
use crate::follow::Totals;

/// How often it looks whether something is new.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The time between two writes while an iteration runs.
const INTERVAL: Duration = Duration::from_secs(60);

/// The waits after failures: the first one, which doubles up to the longest.
const PAUSES: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(320));

/// What is told of a destination.
#[derive(Debug)]
pub enum Notice {
    /// Nothing can be written, for this reason. It is tried again until it can; only the first of
    /// several failures is told.
    Away(SinkError),
    /// Results can be written again, and what was missing was written.
    Back(Totals),
    /// All results of an iteration that is over were written.
    Written(Totals),
}

/// Keeps a destination up to date with a crawl until it is dropped: an iteration that is over is
/// written at once, and what a running one has stored once a minute. It may be dropped at any
/// moment.
///
/// If the destination is away, what is stored waits for it in the crawl itself. The waits between
/// two tries become longer. At most as many destinations as `at_once` permits are written at the
/// same time.
pub async fn keep(
    reader: &impl Reader,
    crawl: &CrawlId,
    to: &Destination,
    (clock, at_once): (&impl Clock, &Semaphore),
    tell: &impl Fn(Notice),
) {
    let mut upkeep = Upkeep::default();
    loop {
        if let Some(state) = State::read(reader).await
            && upkeep.is_due(&state, clock.monotonic())
        {
            let written = match at_once.acquire().await {
                Ok(_permit) => to.write(reader, crawl, &|_| {}).await,
                Err(_) => return,
            };
            if let Some(notice) = upkeep.note(state, written, clock.monotonic()) {
                tell(notice);
            }
        }
        clock.sleep(LOOK_EVERY).await;
    }
}

/// The state of a crawl's newest iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    /// Changes with what is stored.
    stored: String,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    Over,
}

impl State {
    /// Reads the state; `None` before the first iteration, or if it cannot be read now.
    async fn read(reader: &impl Reader) -> Option<Self> {
        let read = async {
            let forgotten = reader.times_forgotten().await?;
            let Some(row) = reader.latest_iteration().await? else { return Ok(None) };
            let progress = reader.progress(row.number).await?;
            let phase = if row.closed_at.is_some() { Phase::Over } else { Phase::Running };
            let stored = format!(
                "{} {} {:?} {} {} {forgotten}",
                row.number, row.started_at, row.closed_at, progress.parsed, progress.segments
            );
            Ok::<_, dragline_ports::error::PortError>(Some(Self { stored, phase }))
        };
        // A crawl that is removed meanwhile ends its upkeep from outside.
        read.await.unwrap_or(None)
    }
}

/// What is known of a destination.
#[derive(Debug, Default)]
struct Upkeep {
    /// The last state that was written, and when, by the monotonic clock.
    written: Option<(State, Duration)>,
    /// The failures since then, and when the last one was.
    failed: Option<(u32, Duration)>,
}

impl Upkeep {
    /// Returns whether it is time to write.
    fn is_due(&self, state: &State, now: Duration) -> bool {
        if let Some((times, at)) = self.failed {
            return now.saturating_sub(at) >= pause(times);
        }
        match &self.written {
            Some((written, _)) if written == state => false,
            Some((_, at)) => state.phase == Phase::Over || now.saturating_sub(*at) >= INTERVAL,
            None => true,
        }
    }

    /// Records how a try ended, and returns what is to be told of it.
    fn note(&mut self, state: State, written: Result<Totals, SinkError>, now: Duration) -> Option<Notice> {
        match written {
            Ok(totals) => {
                let was_away = self.failed.take().is_some();
                let phase = state.phase;
                self.written = Some((state, now));
                match phase {
                    _ if was_away => Some(Notice::Back(totals)),
                    Phase::Over if totals.changed > 0 || totals.removed > 0 => Some(Notice::Written(totals)),
                    Phase::Over | Phase::Running => None,
                }
            }
            Err(error) => {
                let times = self.failed.map_or(0, |(times, _)| times);
                self.failed = Some((times.saturating_add(1), now));
                (times == 0).then_some(Notice::Away(error))
            }
        }
    }
}

/// Returns how long to wait after this many failures.
fn pause(times: u32) -> Duration {
    let doublings = times.saturating_sub(1).min(16);
    PAUSES.0.saturating_mul(1 << doublings).min(PAUSES.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(stored: &str, phase: Phase) -> State {
        State { stored: stored.to_owned(), phase }
    }

    #[test]
    fn an_iteration_that_is_over_is_written_at_once_and_a_running_one_at_times() {
        let (second, minute) = (Duration::from_secs(1), INTERVAL);
        let mut upkeep = Upkeep::default();
        assert!(upkeep.is_due(&state("a", Phase::Running), Duration::ZERO), "nobody knows what is there");
        assert!(upkeep.note(state("a", Phase::Running), Ok(Totals::default()), second).is_none());
        for (state, now, expected, why) in [
            (state("a", Phase::Running), second + minute, false, "nothing is new"),
            (state("b", Phase::Running), minute, false, "the last time was less than a minute ago"),
            (state("b", Phase::Running), second + minute, true, "a minute ago"),
            (state("b", Phase::Over), second, true, "it is over"),
            (state("a", Phase::Over), second, true, "it is over without anything more"),
        ] {
            assert_eq!(upkeep.is_due(&state, now), expected, "{state:?}: {why}");
        }
        let totals = Totals { rows: 2, changed: 1, removed: 0 };
        assert!(matches!(upkeep.note(state("b", Phase::Over), Ok(totals), minute), Some(Notice::Written(_))));
        assert!(upkeep.note(state("b", Phase::Over), Ok(Totals::default()), minute).is_none(), "nothing was new");
    }

    #[test]
    fn a_destination_that_is_away_is_told_once_and_tried_at_longer_and_longer_intervals() {
        let mut upkeep = Upkeep::default();
        let (mut now, mut tries, mut told) = (Duration::ZERO, 0, 0);
        let open = state("a", Phase::Over);
        while now < Duration::from_secs(3_600) {
            if upkeep.is_due(&open, now) {
                tries += 1;
                told += usize::from(upkeep.note(open.clone(), Err(SinkError::Busy), now).is_some());
            }
            now += LOOK_EVERY;
        }
        assert_eq!((tries, told), (17, 1), "in an hour");
        let totals = Totals { rows: 9, changed: 9, removed: 0 };
        assert!(matches!(upkeep.note(open.clone(), Ok(totals), now), Some(Notice::Back(back)) if back == totals));
        assert!(!upkeep.is_due(&open, now + INTERVAL));
        assert!(matches!(upkeep.note(open, Err(SinkError::Busy), now), Some(Notice::Away(_))), "away once more");
    }
}
