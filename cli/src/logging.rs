//! The log of what is being done, on standard error. Off unless asked for.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::terminal::Colour;

/// What `--verbose` shows.
const VERBOSE: &str = "warn,dragline=debug,dragline_local=debug,dragline_http=debug,dragline_pipeline=debug";

/// Starts the log: as `RUST_LOG` says, or else all of our own if `verbose`, or else not at all.
pub(crate) fn start(verbose: bool) {
    let filter = match EnvFilter::try_from_default_env() {
        Ok(filter) => filter,
        Err(_) if verbose => EnvFilter::new(VERBOSE),
        Err(_) => return,
    };
    let is_coloured = Colour::of_stream(&io::stderr()) == Colour::On;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(is_coloured);
    // It can only fail where a log was started before, which nothing does.
    let _ = log.try_init();
}
