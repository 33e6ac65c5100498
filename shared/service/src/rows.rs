//! Rows as JSON: a page of them with a cursor, or all as a stream of lines.

use std::fmt::Display;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dragline_domain::ids::CrawlId;
use dragline_ports::reader::Cursor;
use dragline_ports::row::{Cell, Column, NamedCells};
use futures_util::stream;
use utoipa::ToSchema;

use crate::backend::{Backend, RowBatch, RowKind, RowsQuery};
use crate::crawls::require;
use crate::extract::{Path, Query};
use crate::problem::Problem;

/// The number of rows in an answer, if none is asked for.
pub(crate) const ROWS: usize = 100;

/// The most rows that an answer is asked for.
pub(crate) const ROWS_MAX: usize = 1_000;

/// The media type of a stream of lines of JSON.
pub(crate) const LINES: &str = "application/x-ndjson";

/// Rows of a kind, each with its columns as `dragline export` writes them. With `Accept:
/// application/x-ndjson` they come without this frame, one on a line.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it describes what is written by hand")]
pub(crate) struct Rows {
    #[schema(value_type = Vec<Object>)]
    rows: (),
    /// The cursor with which the list goes on; null at its end.
    next: Option<String>,
}

/// Whether a client accepts a media type by its name.
pub(crate) fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains(media_type))
}

/// Returns a row as a JSON object.
pub(crate) fn line(columns: &[Column<'_>], cells: &[Option<Cell>]) -> String {
    // Texts, numbers and booleans can always be written.
    serde_json::to_string(&NamedCells(columns, cells)).unwrap_or_default()
}

/// Returns rows of a kind: all as lines of JSON, if the client accepts these, or else a page.
pub(crate) async fn answer(
    backend: Arc<dyn Backend>,
    name: &str,
    kind: RowKind,
    query: RowsQuery,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let crawl = require(&*backend, name.parse()).await?.name;
    if let Some(number) = query.iteration
        && backend.iteration(&crawl, Some(number)).await?.is_none()
    {
        return Err(Problem::not_found(format!("`{crawl}` has no iteration {number}")));
    }
    let list = list(kind, &query);
    let after = query.cursor.map(|cursor| place(&list, &cursor)).transpose()?;
    let limit = within("limit", query.limit.unwrap_or(ROWS), ROWS_MAX)?;
    let query = RowsQuery { cursor: after, limit: Some(limit), ..query };
    if accepts(headers, LINES) {
        return lines(backend, crawl, kind, RowsQuery { limit: Some(ROWS_MAX), ..query }).await;
    }
    let RowBatch { rows, next } = first_batch(&*backend, &crawl, kind, &query).await?;
    let next = next.map(|next| format!("{list}.{next}"));
    let next = serde_json::to_string(&next).unwrap_or_default();
    let body = format!("{{\"rows\":[{}],\"next\":{next}}}", rows.join(","));
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// Returns the name of a list, which its cursors begin with: the place in one list is none in
/// another.
fn list(kind: RowKind, query: &RowsQuery) -> String {
    match query.iteration {
        None => kind.name().to_owned(),
        Some(number) => format!("{}-{number}", kind.name()),
    }
}

/// Returns the place that a cursor names.
///
/// # Errors
/// It belongs to another list.
fn place(list: &str, cursor: &Cursor) -> Result<Cursor, Problem> {
    let place = cursor.as_str().strip_prefix(list).and_then(|rest| rest.strip_prefix('.'));
    place.map(Cursor::new).ok_or_else(foreign_cursor)
}

fn foreign_cursor() -> Problem {
    Problem::bad_request("the cursor is none of this list").with_hint("send `next` of the answer before")
}

/// Checks a number that a request asks for.
///
/// # Errors
/// It is not between 1 and this maximum.
pub(crate) fn within<N: Copy + PartialOrd + From<u8> + Display>(name: &str, count: N, max: N) -> Result<N, Problem> {
    if count < N::from(1) || count > max {
        return Err(Problem::bad_request(format!("`{name}` is not between 1 and {max}")));
    }
    Ok(count)
}

/// Returns the rows after the cursor of a request.
async fn first_batch(
    backend: &dyn Backend,
    crawl: &CrawlId,
    kind: RowKind,
    query: &RowsQuery,
) -> Result<RowBatch, Problem> {
    let batch = backend.rows(crawl, kind, query, query.cursor.clone()).await;
    batch.map_err(|problem| match &query.cursor {
        // What is stored is as good as without a cursor.
        Some(_) if problem.status == StatusCode::INTERNAL_SERVER_ERROR.as_u16() => foreign_cursor(),
        _ => problem,
    })
}

/// Where a stream of rows goes on.
enum Place {
    At(RowBatch),
    After(Cursor),
    End,
}

async fn lines(
    backend: Arc<dyn Backend>,
    crawl: CrawlId,
    kind: RowKind,
    query: RowsQuery,
) -> Result<Response, Problem> {
    // Read before the status is sent, so that what is wrong at once is said.
    let first = Place::At(first_batch(&*backend, &crawl, kind, &query).await?);
    let batches =
        stream::try_unfold((first, backend, crawl, query), move |(place, backend, crawl, query)| async move {
            let RowBatch { rows, next } = match place {
                Place::At(batch) => batch,
                Place::After(after) => {
                    let batch = backend.rows(&crawl, kind, &query, Some(after)).await;
                    // The status is sent already: the client sees that the stream was cut.
                    batch.map_err(|problem| std::io::Error::other(problem.detail))?
                }
                Place::End => return Ok::<_, std::io::Error>(None),
            };
            let text: String = rows.into_iter().map(|row| row + "\n").collect();
            let place = next.map_or(Place::End, Place::After);
            Ok(Some((text, (place, backend, crawl, query))))
        });
    Ok(([(header::CONTENT_TYPE, LINES)], Body::from_stream(batches)).into_response())
}

macro_rules! rows_of_kind {
    ($($(#[doc = $doc:literal])+ $name:ident $id:literal $path:literal $kind:ident;)+) => {$(
        $(#[doc = $doc])+
        #[utoipa::path(
            get, path = $path, operation_id = $id, tag = "results",
            params(("name" = String, Path, description = "The crawl"), RowsQuery),
            responses(
                (status = 200, description = "Rows with `next`, or lines of JSON", body = Rows),
                (status = 404, description = "There is no such crawl", body = Problem),
            )
        )]
        pub(crate) async fn $name(
            State(backend): State<Arc<dyn Backend>>,
            Path(name): Path<String>,
            Query(query): Query<RowsQuery>,
            headers: HeaderMap,
        ) -> Result<Response, Problem> {
            answer(backend, &name, RowKind::$kind, query, &headers).await
        }
    )+};
}

rows_of_kind! {
    /// The pages of a crawl
    pages "listPages" "/crawls/{name}/pages" Pages;
    /// The links of its pages
    links "listLinks" "/crawls/{name}/links" Links;
    /// The items of its pages
    items "listItems" "/crawls/{name}/items" Items;
    /// Every visit of an iteration
    log "listVisits" "/crawls/{name}/log" Log;
    /// Every known URL
    candidates "listCandidates" "/crawls/{name}/candidates" Candidates;
}
