//! Logs: one JSON object per line on standard output, where CloudWatch collects them.

use tracing_subscriber::EnvFilter;

/// The variable with the log level, such as `info` or `dragline_pipeline=debug`.
const LEVEL: &str = "RUST_LOG";

/// Sets up logging, once per process. The fields of the surrounding spans are included in each
/// line.
pub(crate) fn start() {
    let filter = EnvFilter::builder().with_env_var(LEVEL).try_from_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt().json().flatten_event(true).with_current_span(false).with_span_list(true);
    // A second start in one process keeps the first.
    _ = lines.with_env_filter(filter).with_ansi(false).try_init();
}
