//! The log of what is being done, on standard error. Off unless asked for.

use tracing_subscriber::EnvFilter;

use crate::terminal::{Colour, Console};

/// What `-vv` shows.
const ENGINE: &str = "warn,dragline=debug,dragline_local=debug,dragline_http=debug,dragline_pipeline=debug";

/// Whether what the engine does is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logging {
    /// It is.
    Engine,
    /// It is not.
    Off,
}

/// Starts the log: as `RUST_LOG` says, or else as it was asked for.
pub(crate) fn start(logging: Logging, console: &Console) {
    let filter = match EnvFilter::try_from_default_env() {
        Ok(filter) => filter,
        Err(_) if logging == Logging::Engine => EnvFilter::new(ENGINE),
        Err(_) => return,
    };
    let is_coloured = console.colour() == Colour::On;
    // It can only fail where a log was started before, which nothing does.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(is_coloured)
        .with_writer(console.clone())
        .try_init();
}
