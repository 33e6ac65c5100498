//! What is said while results are written.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use dragline_domain::shown;
use dragline_local::SystemClock;
use dragline_ports::clock::Clock as _;
use dragline_sink::{Event, SinkError};

use crate::error::Failure;
use crate::terminal::Console;

/// The time between two lines of progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

/// Tells how far it is, and what it waits for.
pub(crate) struct SinkProgress<'c> {
    console: &'c Console,
    rows: Cell<u64>,
    clock: SystemClock,
    /// When it told something, by the monotonic clock.
    told: Cell<Duration>,
    waiting: RefCell<Option<String>>,
}

impl<'c> SinkProgress<'c> {
    pub(crate) fn new(console: &'c Console) -> Self {
        let clock = SystemClock::new();
        let told = Cell::new(clock.monotonic());
        Self { console, rows: Cell::default(), clock, told, waiting: RefCell::default() }
    }

    pub(crate) fn show(&self, event: &Event) {
        match event {
            Event::Waiting(why) => {
                // Each reason once, however often it is tried.
                if self.waiting.replace(Some(why.clone())).as_ref() != Some(why) {
                    self.console.warn(&format!("the database does not answer, trying again: {why}"));
                }
            }
            Event::Committed { what, rows } => {
                self.waiting.take();
                self.rows.set(self.rows.get() + rows);
                let now = self.clock.monotonic();
                if now.saturating_sub(self.told.get()) >= PROGRESS_EVERY {
                    self.told.set(now);
                    self.console.say(&format!("{} so far, now {what}", shown::plural(self.rows.get(), "row")));
                }
            }
        }
    }
}

/// Returns the failure for results that were not written. `reading` describes a crawl that cannot
/// be read.
pub(crate) fn sink_failure(
    error: SinkError,
    reading: impl FnOnce(dragline_ports::error::PortError) -> Failure,
) -> Failure {
    let hint = error.hint();
    let failure = match error {
        SinkError::Reader(error) => reading(error),
        error => Failure::new(error.to_string()),
    };
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}
