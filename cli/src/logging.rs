//! The engine's log on standard error. Off by default.

use tracing_subscriber::EnvFilter;

use crate::terminal::{Colour, Console, Form};

/// The log filter for `-vv`.
const ENGINE: &str = "warn,dragline=debug,dragline_local=debug,dragline_http=debug,dragline_pipeline=debug";

/// Whether to log the engine's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logging {
    /// Log it.
    Engine,
    /// Do not.
    Off,
}

/// Starts the log. `RUST_LOG` takes precedence over the command line.
pub(crate) fn start(logging: Logging, console: &Console) {
    let filter = match EnvFilter::try_from_default_env() {
        Ok(filter) => filter,
        Err(_) if logging == Logging::Engine => EnvFilter::new(ENGINE),
        // A log for programs has what went wrong.
        Err(_) if console.form() == Form::Json => EnvFilter::new("warn"),
        Err(_) => return,
    };
    let is_coloured = console.colour() == Colour::On;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(is_coloured).with_writer(console.clone());
    // This fails only if a log was already started, which cannot happen here.
    let _ = match console.form() {
        Form::Text => log.try_init(),
        Form::Json => log.json().flatten_event(true).try_init(),
    };
}
