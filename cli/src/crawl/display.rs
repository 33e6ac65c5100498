//! Showing progress: a few lines that change on a terminal, a line now and then elsewhere, objects for programs.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use jiff::tz::TimeZone;

use super::progress::Snapshot;
use crate::terminal::{Console, Form, Verbosity};

/// How often a line is said where none can be changed.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// How often programs are told.
const EVENT_EVERY: Duration = Duration::from_secs(1);

/// The progress display.
pub(super) enum Display {
    /// Nothing is shown.
    None,
    /// Lines that change, on a terminal.
    Live {
        /// How much.
        amounts: ProgressBar,
        /// How it went.
        outcomes: ProgressBar,
        /// Where, and what is waited for.
        places: ProgressBar,
        /// The time zone of people here.
        zone: TimeZone,
    },
    /// A line now and then.
    Lines {
        /// Who says it.
        console: Console,
        /// When the next one is due, counted from the run's beginning.
        next: Duration,
        /// The time zone of people here.
        zone: TimeZone,
    },
    /// An object now and then.
    Events {
        /// Who says it.
        console: Console,
        /// When the next one is due, counted from the run's beginning.
        next: Duration,
    },
}

impl Display {
    /// The display that fits to where the console is.
    pub(super) fn of(console: &Console) -> Self {
        if console.verbosity() == Verbosity::Quiet {
            return Self::None;
        }
        if console.form() == Form::Json {
            return Self::Events { console: console.clone(), next: Duration::ZERO };
        }
        let zone = TimeZone::system();
        if console.bars().is_hidden() {
            return Self::Lines { console: console.clone(), next: LINE_EVERY, zone };
        }
        let line = |template| {
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
            console.bars().add(ProgressBar::new_spinner().with_style(style))
        };
        let amounts = line("{spinner} {wide_msg}");
        amounts.enable_steady_tick(Duration::from_millis(200));
        Self::Live { amounts, outcomes: line("  {wide_msg}"), places: line("  {wide_msg}"), zone }
    }

    /// Shows how things stand now.
    pub(super) fn show(&mut self, snapshot: &Snapshot<'_>) {
        match self {
            Self::None => {}
            Self::Live { amounts, outcomes, places, zone } => {
                amounts.set_message(snapshot.amounts());
                outcomes.set_message(snapshot.outcomes());
                places.set_message(snapshot.places(zone));
            }
            Self::Lines { console, next, zone } => {
                if snapshot.elapsed >= *next {
                    *next = snapshot.elapsed + LINE_EVERY;
                    console.say(&snapshot.line(zone));
                }
            }
            Self::Events { console, next } => {
                if snapshot.elapsed >= *next {
                    *next += EVENT_EVERY;
                    console.event("progress", &snapshot.told());
                }
            }
        }
    }
}

impl Drop for Display {
    /// Takes the lines away: what they said, the summary says better.
    fn drop(&mut self) {
        if let Self::Live { amounts, outcomes, places, .. } = self {
            for bar in [amounts, outcomes, places] {
                bar.finish_and_clear();
            }
        }
    }
}
