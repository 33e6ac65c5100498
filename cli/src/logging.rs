//! The log of what is being done, on standard error. Off unless asked for.

use std::io;

use tracing_subscriber::EnvFilter;

/// What `--verbose` shows.
const VERBOSE: &str = "warn,dragline=debug,dragline_local=debug,dragline_http=debug,dragline_pipeline=debug";

/// Starts the log: as `RUST_LOG` says, or else all of our own if `verbose`, or else not at all.
pub(crate) fn start(verbose: bool) {
    let filter = match EnvFilter::try_from_default_env() {
        Ok(filter) => filter,
        Err(_) if verbose => EnvFilter::new(VERBOSE),
        Err(_) => return,
    };
    // It can only fail where a log was started before, which nothing does.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).try_init();
}
