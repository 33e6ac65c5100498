//! Displays of progress: live lines on a terminal, a line every few seconds elsewhere, JSON objects
//! for programs.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use jiff::tz::TimeZone;

use super::progress::{LineSchedule, Snapshot};
use crate::terminal::{Console, Form, Verbosity};

/// How often an event is written for programs.
const EVENT_EVERY: Duration = Duration::from_secs(1);

/// The progress display.
pub(super) enum Display {
    /// Nothing is shown.
    None,
    /// Live lines on a terminal.
    Live {
        /// What is done, and what waits.
        amounts: ProgressBar,
        /// The outcomes so far.
        outcomes: ProgressBar,
        /// The origins and their waits.
        places: ProgressBar,
        zone: TimeZone,
    },
    /// A line every few seconds while something moves. Its times are local, like those of other
    /// programs' messages around it.
    Lines { console: Console, schedule: LineSchedule, zone: TimeZone },
    /// A JSON object every second.
    Events {
        console: Console,
        /// When the next event is due, since the start of the run.
        next: Duration,
    },
}

impl Display {
    /// Returns the display that suits the console.
    pub(super) fn for_console(console: &Console) -> Self {
        if console.verbosity() == Verbosity::Quiet {
            return Self::None;
        }
        if console.form() == Form::Json {
            return Self::Events { console: console.clone(), next: Duration::ZERO };
        }
        let zone = TimeZone::system();
        if console.bars().is_hidden() {
            return Self::Lines { console: console.clone(), schedule: LineSchedule::default(), zone };
        }
        let line = |template| {
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
            console.bars().add(ProgressBar::new_spinner().with_style(style))
        };
        let amounts = line("{spinner} {wide_msg}");
        amounts.enable_steady_tick(Duration::from_millis(200));
        Self::Live { amounts, outcomes: line("  {wide_msg}"), places: line("  {wide_msg}"), zone }
    }

    /// Shows the current state.
    pub(super) fn show(&mut self, snapshot: &Snapshot<'_>) {
        match self {
            Self::None => {}
            Self::Live { amounts, outcomes, places, zone } => {
                amounts.set_message(snapshot.amounts());
                outcomes.set_message(snapshot.outcomes());
                places.set_message(snapshot.places(zone));
            }
            Self::Lines { console, schedule, zone } => {
                if let Some(line) = schedule.line(snapshot, zone) {
                    console.say(&line);
                }
            }
            Self::Events { console, next } => {
                if snapshot.elapsed >= *next {
                    *next += EVENT_EVERY;
                    console.event("progress", &snapshot.event());
                }
            }
        }
    }
}

impl Drop for Display {
    /// Clears the live lines, which the summary replaces.
    fn drop(&mut self) {
        if let Self::Live { amounts, outcomes, places, .. } = self {
            for bar in [amounts, outcomes, places] {
                bar.finish_and_clear();
            }
        }
    }
}
