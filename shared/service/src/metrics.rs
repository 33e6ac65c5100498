//! `/healthz`, and `/metrics` in the text format of Prometheus.

use std::fmt::Write as _;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::crawls::{Crawls, read_all};
use crate::problem::Problem;

/// Whether the server can read its crawls
#[utoipa::path(
    get, path = "/healthz", operation_id = "checkHealth", tag = "server",
    responses((status = 200, description = "It can", body = String), (status = 503, body = Problem))
)]
pub(crate) async fn healthz(State(backend): Crawls) -> Result<&'static str, Problem> {
    backend.crawls().await?;
    Ok("ok\n")
}

/// The progress of each crawl's latest iteration, for Prometheus
#[utoipa::path(
    get, path = "/metrics", operation_id = "getMetrics", tag = "server",
    responses((status = 200, description = "Text format 0.0.4", body = String))
)]
pub(crate) async fn metrics(State(backend): Crawls) -> Result<Response, Problem> {
    let mut samples: Vec<(&str, &str, &str, Vec<String>)> = vec![
        ("dragline_iteration", "gauge", "The number of the latest iteration.", Vec::new()),
        ("dragline_iteration_running", "gauge", "Whether that is not over.", Vec::new()),
        ("dragline_iteration_started_seconds", "gauge", "When it began, since 1970.", Vec::new()),
        ("dragline_urls_found", "gauge", "URLs queued in it.", Vec::new()),
        ("dragline_urls_crawled", "gauge", "URLs visited in it.", Vec::new()),
        ("dragline_urls_failed", "gauge", "URLs that failed for good in it.", Vec::new()),
        ("dragline_documents_stuck", "gauge", "Answers of it that no document could be made of.", Vec::new()),
        ("dragline_requests", "gauge", "Requests sent in it.", Vec::new()),
        ("dragline_body_bytes", "gauge", "Bytes of bodies received in it.", Vec::new()),
        ("dragline_schedule_next_seconds", "gauge", "When the next iteration is due, since 1970.", Vec::new()),
        ("dragline_iteration_closed_seconds", "gauge", "When the latest iteration was over, since 1970.", Vec::new()),
    ];
    for standing in read_all(&*backend).await? {
        let name = standing.name.as_str();
        if let Some(next) = standing.next {
            samples[9].3.push(sample(name, next.as_second()));
        }
        let Some(row) = backend.iteration(&standing.name, None).await? else { continue };
        if let Some(closed_at) = row.closed_at {
            samples[10].3.push(sample(name, closed_at.as_second()));
        }
        let progress = backend.progress(&row).await?;
        let values = [
            i64::from(row.number.number()),
            i64::from(row.closed_at.is_none()),
            row.started_at.as_second(),
            whole(progress.found),
            whole(progress.crawled),
            whole(progress.failed),
            whole(progress.stuck),
            whole(progress.requests),
            whole(progress.body_bytes),
        ];
        for (metric, value) in samples.iter_mut().zip(values) {
            metric.3.push(sample(name, value));
        }
    }
    let mut text = String::new();
    for (name, kind, help, samples) in samples {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for sample in samples {
            let _ = writeln!(text, "{name}{sample}");
        }
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a sample without its name. No character of a crawl's name has to be escaped.
fn sample(crawl: &str, value: i64) -> String {
    format!("{{crawl=\"{crawl}\"}} {value}")
}
