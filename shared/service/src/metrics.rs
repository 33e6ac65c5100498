//! `/healthz`, and the figures of a server: at `/metrics` in the text format of Prometheus, and for
//! whoever sends them elsewhere.

use std::fmt::Write as _;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::CrawlId;

use crate::backend::{Backend, CrawlStanding, ProgressView};
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
    let text = to_text(&figures(&*backend).await?);
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

/// A figure that goes up and down, with its present values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its name, with its unit as Prometheus wants it.
    pub name: &'static str,
    /// What it counts, as a sentence.
    pub help: &'static str,
    /// Its unit by UCUM, as OpenTelemetry wants it.
    pub unit: &'static str,
    /// Its values; none if nothing is known yet.
    pub samples: Vec<Sample>,
}

/// A value of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The crawl that it is of; `None` if it is of the server.
    pub crawl: Option<CrawlId>,
    /// The value.
    pub value: i64,
}

/// What the figures of a crawl are taken from.
struct Reading {
    standing: CrawlStanding,
    /// The latest iteration; `None` before the first.
    latest: Option<(IterationRow, ProgressView)>,
    /// The notices that wait; `None` if that is not known.
    notices: Option<u64>,
}

impl Reading {
    fn row(&self) -> Option<&IterationRow> {
        self.latest.as_ref().map(|(row, _)| row)
    }

    fn count(&self, count: impl FnOnce(&ProgressView) -> u64) -> Option<i64> {
        self.latest.as_ref().map(|(_, progress)| whole(count(progress)))
    }
}

/// Returns a figure of a crawl; `None` if there is none.
type Take = fn(&Reading) -> Option<i64>;

/// The figures of each crawl: name, unit, meaning, and where it comes from.
const FIGURES: [(&str, &str, &str, Take); 14] = [
    ("dragline_iteration", "", "The number of the latest iteration.", |crawl| {
        crawl.row().map(|row| i64::from(row.number.number()))
    }),
    ("dragline_iteration_running", "", "Whether that is not over.", |crawl| {
        crawl.row().map(|row| i64::from(row.closed_at.is_none()))
    }),
    ("dragline_iteration_started_seconds", "s", "When it began, since 1970.", |crawl| {
        crawl.row().map(|row| row.started_at.as_second())
    }),
    ("dragline_urls_found", "{url}", "URLs queued in it.", |crawl| crawl.count(|progress| progress.found)),
    ("dragline_urls_crawled", "{url}", "URLs visited in it.", |crawl| crawl.count(|progress| progress.crawled)),
    ("dragline_urls_failed", "{url}", "URLs that failed for good in it.", |crawl| {
        crawl.count(|progress| progress.failed)
    }),
    ("dragline_visits_processed", "{visit}", "Visits of it whose answers were processed.", |crawl| {
        crawl.count(|progress| progress.processed)
    }),
    ("dragline_documents_stuck", "{document}", "Answers of it that no document could be made of.", |crawl| {
        crawl.count(|progress| progress.stuck)
    }),
    ("dragline_requests", "{request}", "Requests sent in it.", |crawl| crawl.count(|progress| progress.requests)),
    ("dragline_body_bytes", "By", "Bytes of bodies received in it.", |crawl| {
        crawl.count(|progress| progress.body_bytes)
    }),
    ("dragline_origins_open", "{origin}", "Sites with work left in it.", |crawl| {
        crawl.count(|progress| progress.origins_open)
    }),
    ("dragline_schedule_next_seconds", "s", "When the next iteration is due, since 1970.", |crawl| {
        crawl.standing.next.map(jiff::Timestamp::as_second)
    }),
    ("dragline_iteration_closed_seconds", "s", "When the latest iteration was over, since 1970.", |crawl| {
        crawl.row()?.closed_at.map(jiff::Timestamp::as_second)
    }),
    ("dragline_notices_waiting", "{notice}", "Notices that could not be sent yet.", |crawl| crawl.notices.map(whole)),
];

/// Returns the figures of all crawls, and of the server that runs them.
///
/// # Errors
/// A crawl cannot be read.
pub async fn figures(backend: &dyn Backend) -> Result<Vec<Figure>, Problem> {
    let notices = backend.notices_waiting().await?;
    let mut crawls = Vec::new();
    for standing in read_all(backend).await? {
        let latest = match backend.iteration(&standing.name, None).await? {
            Some(row) => {
                let progress = backend.progress(&row).await?;
                Some((row, progress))
            }
            None => None,
        };
        let notices = notices.as_ref().map(|waiting| waiting.get(&standing.name).copied().unwrap_or_default());
        crawls.push(Reading { standing, latest, notices });
    }
    let free_bytes = backend.free_bytes().await?;
    let figure = |(name, unit, help, take): (&'static str, &'static str, &'static str, Take)| {
        let sample =
            |crawl: &Reading| take(crawl).map(|value| Sample { crawl: Some(crawl.standing.name.clone()), value });
        Figure { name, help, unit, samples: crawls.iter().filter_map(sample).collect() }
    };
    let mut figures: Vec<_> = FIGURES.into_iter().map(figure).collect();
    figures.push(Figure {
        name: "dragline_disk_free_bytes",
        help: "Free bytes on the disk of the data directory.",
        unit: "By",
        samples: free_bytes.map(|bytes| Sample { crawl: None, value: whole(bytes) }).into_iter().collect(),
    });
    Ok(figures)
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns figures in the text format. No character of a crawl's name has to be escaped.
fn to_text(figures: &[Figure]) -> String {
    let mut text = String::new();
    for Figure { name, help, samples, .. } in figures {
        // Writing to a string does not fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for Sample { crawl, value } in samples {
            let _ = match crawl {
                Some(crawl) => writeln!(text, "{name}{{crawl=\"{crawl}\"}} {value}"),
                None => writeln!(text, "{name} {value}"),
            };
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_names_of_their_crawls_and_those_of_the_server_none() {
        let figure = |name, samples| Figure { name, help: "Help.", unit: "", samples };
        let sample = |crawl: Option<&str>, value| Sample { crawl: crawl.map(|name| name.parse().unwrap()), value };
        let figures = [
            figure("a", vec![sample(Some("docs"), 1), sample(Some("news"), -2)]),
            figure("b_bytes", vec![sample(None, 3)]),
            figure("c", Vec::new()),
        ];
        let expected = "# HELP a Help.\n# TYPE a gauge\na{crawl=\"docs\"} 1\na{crawl=\"news\"} -2\n\
             # HELP b_bytes Help.\n# TYPE b_bytes gauge\nb_bytes 3\n# HELP c Help.\n# TYPE c gauge\n";
        assert_eq!(to_text(&figures), expected);
    }

    #[test]
    fn a_name_ends_with_its_unit() {
        for (name, unit, ..) in FIGURES {
            let suffix = match unit {
                "s" => "_seconds",
                "By" => "_bytes",
                _ => "",
            };
            assert!(name.starts_with("dragline_") && name.ends_with(suffix), "{name} in {unit:?}");
        }
    }
}
