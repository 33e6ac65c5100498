//! The progress of an iteration: once, or live as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use dragline_domain::frontier::{IterationRow, IterationStatus};
use dragline_domain::ids::{CrawlId, Iteration};
use futures_util::{Stream, stream};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::backend::{Backend, ProgressView};
use crate::crawls::{Crawls, require};
use crate::extract::{Path, Query};
use crate::problem::Problem;
use crate::rows::accepts;

/// The time between two events.
const EVERY: Duration = Duration::from_secs(1);

/// How long a client waits after a stream that was sent as a whole before it asks again.
const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// Says that an answer is sent as a whole, when it is complete: what listens adds this to each
/// request whose answer it cannot send in parts. A stream of events is a single one then, and its
/// client asks again for the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentWhole;

/// Which iteration to show.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct IterationQuery {
    /// The iteration; the latest without one.
    #[param(value_type = Option<u32>)]
    iteration: Option<Iteration>,
}

/// Returns an iteration of a crawl.
///
/// # Errors
/// There is no such crawl or iteration.
pub(crate) async fn iteration(
    backend: &dyn Backend,
    name: &str,
    query: IterationQuery,
) -> Result<(CrawlId, IterationRow), Problem> {
    let crawl = require(backend, name.parse()).await?.name;
    let row = backend.iteration(&crawl, query.iteration).await?;
    let missing = || match query.iteration {
        Some(number) => Problem::not_found(format!("`{crawl}` has no iteration {number}")),
        None => Problem::not_found(format!("`{crawl}` has not begun")),
    };
    let row = row.ok_or_else(missing)?;
    Ok((crawl, row))
}

/// The progress of an iteration
///
/// As server-sent events with `Accept: text/event-stream`: one a second, until the iteration is
/// over.
#[utoipa::path(
    get, path = "/crawls/{name}/progress", operation_id = "getProgress", tag = "iterations",
    params(("name" = String, Path, description = "The crawl"), IterationQuery),
    responses((status = 200, body = ProgressView), (status = 404, body = Problem))
)]
pub(crate) async fn progress(
    State(backend): Crawls,
    Path(name): Path<String>,
    Query(query): Query<IterationQuery>,
    whole: Option<Extension<SentWhole>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (_, row) = iteration(&*backend, &name, query).await?;
    if accepts(&headers, "text/event-stream") {
        if whole.is_some() {
            let progress = backend.progress(&row).await?;
            let event = Event::default().event("progress").retry(AGAIN_AFTER).json_data(&progress);
            let event = event.map_err(|error| Problem::bad_request(error.to_string()))?;
            return Ok(Sse::new(stream::iter([Ok::<_, Infallible>(event)])).into_response());
        }
        return Ok(Sse::new(events(backend, row)).keep_alive(KeepAlive::default()).into_response());
    }
    Ok(Json(backend.progress(&row).await?).into_response())
}

/// The summary of an iteration
#[utoipa::path(
    get, path = "/crawls/{name}/summary", operation_id = "getSummary", tag = "iterations",
    params(("name" = String, Path, description = "The crawl"), IterationQuery),
    responses(
        (status = 200, description = "What `dragline status --json` prints of an iteration", body = Object),
        (status = 404, body = Problem),
    )
)]
pub(crate) async fn summary(
    State(backend): Crawls,
    Path(name): Path<String>,
    Query(query): Query<IterationQuery>,
) -> Result<Response, Problem> {
    let (crawl, row) = iteration(&*backend, &name, query).await?;
    Ok(Json(backend.summary(&crawl, row).await?).into_response())
}

/// Where a stream of events is.
enum Place {
    Now,
    Later,
    End,
}

fn events(backend: Arc<dyn Backend>, row: IterationRow) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold((Place::Now, backend, row), |(place, backend, row)| async move {
        match place {
            Place::Now => {}
            Place::Later => tokio::time::sleep(EVERY).await,
            Place::End => return None,
        }
        let Ok(Some(row)) = backend.iteration(&row.crawl, Some(row.number)).await else { return None };
        let view = backend.progress(&row).await.ok()?;
        let event = Event::default().event("progress").json_data(&view).ok()?;
        let next = if row.status == IterationStatus::Closed { Place::End } else { Place::Later };
        Some((Ok(event), (next, backend, row)))
    })
}
