//! Logs: a JSON object a line on standard output, where CloudWatch takes them up.

use tracing_subscriber::EnvFilter;

/// The variable that says how much is logged, such as `info` or `dragline_pipeline=debug`.
const LEVEL: &str = "DRAGLINE_LOG";

/// Sets logging up, once a process. The fields of the spans around a line stand beside it.
pub(crate) fn start() {
    let filter = EnvFilter::builder().with_env_var(LEVEL).try_from_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt().json().flatten_event(true).with_current_span(false).with_span_list(true);
    // A second start in one process keeps the first.
    _ = lines.with_env_filter(filter).with_ansi(false).try_init();
}
