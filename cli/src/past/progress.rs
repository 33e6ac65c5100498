//! Shows the progress of rebuilding documents.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dragline_domain::ids::CrawlId;
use dragline_domain::remake::RemakeTotals;
use dragline_local::SystemClock;
use dragline_ports::clock::Clock;
use indicatif::ProgressBar;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::amounts;
use crate::terminal::{Console, Form, Verbosity, time_of_day};

/// How often a line is printed without a live display.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// How often an event is printed.
const EVENT_EVERY: Duration = Duration::from_secs(1);

/// The display: live on a terminal, lines elsewhere, or events.
pub(super) struct Progress {
    console: Console,
    crawl: CrawlId,
    clock: SystemClock,
    how: ProgressForm,
}

enum ProgressForm {
    Hidden,
    Drawn(ProgressBar),
    /// The interval, and when the next line or event is due.
    Printed(Duration, Mutex<Duration>),
}

/// The event `remaking`.
#[derive(Serialize)]
struct RemakingEvent<'r> {
    crawl: &'r CrawlId,
    #[serde(flatten)]
    done: &'r RemakeTotals,
}

impl Progress {
    pub(super) fn for_console(console: &Console, crawl: &CrawlId) -> Self {
        let clock = SystemClock::new();
        let printed = |every| ProgressForm::Printed(every, Mutex::new(clock.monotonic().saturating_add(every)));
        let how = match console.form() {
            _ if console.verbosity() == Verbosity::Quiet => ProgressForm::Hidden,
            Form::Json => printed(EVENT_EVERY),
            Form::Text if console.bars().is_hidden() => printed(LINE_EVERY),
            Form::Text => {
                let bar = console.bars().add(ProgressBar::new_spinner());
                bar.enable_steady_tick(Duration::from_millis(200));
                ProgressForm::Drawn(bar)
            }
        };
        Self { console: console.clone(), crawl: crawl.clone(), clock, how }
    }

    /// Shows the totals so far.
    pub(super) fn show(&self, done: &RemakeTotals) {
        match &self.how {
            ProgressForm::Hidden => {}
            ProgressForm::Drawn(bar) => bar.set_message(amounts(done)),
            ProgressForm::Printed(every, next) => {
                let now = self.clock.monotonic();
                let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                if now < *next {
                    return;
                }
                *next = now.saturating_add(*every);
                match self.console.form() {
                    Form::Json => self.console.event("remaking", &RemakingEvent { crawl: &self.crawl, done }),
                    Form::Text => {
                        let clock = time_of_day(self.clock.now(), &TimeZone::system());
                        self.console.say(&format!("{clock} {}: {} so far", self.crawl, amounts(done)));
                    }
                }
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let ProgressForm::Drawn(bar) = &self.how {
            bar.finish_and_clear();
        }
    }
}
