//! Crawls, their iterations and schedules.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use dragline_domain::command::Command;
use dragline_domain::frontier::{IterationBegun, IterationRow, StatusChange};
use dragline_domain::ids::{CrawlId, CrawlIdError, Iteration};
use dragline_pipeline::schedule::CommandResult;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::access::Role;
use crate::backend::{Backend, CrawlStanding, IterationView, ScheduleState};
use crate::bodies::{AddCrawl, StartCrawling};
use crate::extract::{Body, Path, Query};
use crate::idempotency::Trigger;
use crate::links::{Link, read_definition};
use crate::problem::Problem;
use crate::rows::within;

/// The backend of a request.
pub(crate) type Crawls = State<Arc<dyn Backend>>;

/// The number of iterations in an answer, if none is asked for.
const ITERATIONS: u32 = 20;

/// The most iterations in an answer.
const ITERATIONS_MAX: u32 = 100;

/// Returns the state of a crawl.
///
/// # Errors
/// There is none of this name.
pub(crate) async fn require(
    backend: &dyn Backend,
    name: Result<CrawlId, CrawlIdError>,
) -> Result<CrawlStanding, Problem> {
    let name = name.map_err(|error| Problem::not_found(error.to_string()))?;
    let standing = backend.standing(&name).await?;
    standing
        .ok_or_else(|| Problem::not_found(format!("there is no crawl `{name}`")).with_hint("GET /crawls lists them"))
}

/// All crawls.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CrawlList {
    crawls: Vec<CrawlStanding>,
}

/// Returns the crawls, by name.
///
/// # Errors
/// They cannot be read.
pub(crate) async fn read_all(backend: &dyn Backend) -> Result<Vec<CrawlStanding>, Problem> {
    let mut crawls = Vec::new();
    for name in backend.crawls().await? {
        crawls.extend(backend.standing(&name).await?);
    }
    Ok(crawls)
}

/// The crawls, by name
#[utoipa::path(get, path = "/crawls", operation_id = "listCrawls", tag = "crawls", responses((status = 200, body = CrawlList)))]
pub(crate) async fn list(State(backend): Crawls) -> Result<Json<CrawlList>, Problem> {
    Ok(Json(CrawlList { crawls: read_all(&*backend).await? }))
}

/// Add a crawl, or change it
///
/// The call `addScheduledCrawl`. The crawl begins when its schedule says, or when it is started.
#[utoipa::path(
    post, path = "/crawls", operation_id = "addScheduledCrawl", tag = "crawls", request_body = AddCrawl,
    responses(
        (status = 201, description = "It is added", body = CrawlStanding),
        (status = 200, description = "It was there, and has this definition now", body = CrawlStanding),
        (status = 400, description = "The body is not that of this call", body = Problem),
        (status = 422, description = "The definition is not valid", body = Problem),
    )
)]
pub(crate) async fn add(
    State(backend): Crawls,
    Trigger(trigger): Trigger,
    Body(body): Body<AddCrawl>,
) -> Result<Response, Problem> {
    let call = body;
    let link = call.definition_url.is_some().then(|| call.clone());
    let definition = read_definition(&*backend, call).await?;
    let name = definition.name.clone();
    let was_there = backend.standing(&name).await?;
    let command = Command::PutCrawl(Box::new(definition));
    let stored = backend.command(&command, &trigger).await?;
    let standing = require(&*backend, Ok(name.clone())).await?;
    let version = if let CommandResult::Stored(version) = stored { version } else { standing.version };
    let link = Link { version, call: link };
    let standing = CrawlStanding { definition_url: link.url().map(str::to_owned), ..standing };
    backend.keep_link(&name, link).await?;
    let status = if was_there.is_some() { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, [(header::LOCATION, format!("/crawls/{name}"))], Json(standing)).into_response())
}

/// A crawl, its schedule, and its latest iteration
#[utoipa::path(
    get, path = "/crawls/{name}", operation_id = "getCrawl", tag = "crawls", params(("name" = String, Path, description = "The crawl")),
    responses((status = 200, body = CrawlStanding), (status = 404, body = Problem))
)]
pub(crate) async fn one(State(backend): Crawls, Path(name): Path<String>) -> Result<Json<CrawlStanding>, Problem> {
    Ok(Json(require(&*backend, name.parse()).await?))
}

/// Remove a crawl
///
/// Its running iteration is stopped, and no other begins. What it stored stays.
#[utoipa::path(
    delete, path = "/crawls/{name}", operation_id = "removeCrawl", tag = "crawls", params(("name" = String, Path, description = "The crawl")),
    responses((status = 204, description = "It is removed"), (status = 404, body = Problem))
)]
pub(crate) async fn remove(
    State(backend): Crawls,
    Path(name): Path<String>,
    Trigger(trigger): Trigger,
) -> Result<StatusCode, Problem> {
    let name = require(&*backend, name.parse()).await?.name;
    backend.command(&Command::Remove(name), &trigger).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The definition of a crawl, as YAML
#[utoipa::path(
    get, path = "/crawls/{name}/definition", operation_id = "getDefinition", tag = "crawls",
    params(("name" = String, Path, description = "The crawl")),
    responses(
        (status = 200, description = "A crawl.yaml", body = String, content_type = "application/yaml"),
        (status = 404, body = Problem),
    )
)]
pub(crate) async fn definition(State(backend): Crawls, Path(name): Path<String>) -> Result<Response, Problem> {
    let name = require(&*backend, name.parse()).await?.name;
    let text = backend.definition(&name).await?.unwrap_or_default();
    Ok(([(header::CONTENT_TYPE, "application/yaml")], text).into_response())
}

/// A change of a schedule.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetSchedule {
    state: ScheduleState,
}

/// Follow the schedule of a crawl, or pause it
#[utoipa::path(
    put, path = "/crawls/{name}/schedule", operation_id = "setSchedule", tag = "crawls", request_body = SetSchedule,
    params(("name" = String, Path, description = "The crawl")),
    responses((status = 200, body = CrawlStanding), (status = 404, body = Problem), (status = 409, body = Problem))
)]
pub(crate) async fn set_schedule(
    State(backend): Crawls,
    Path(name): Path<String>,
    Extension(role): Extension<Role>,
    Body(body): Body<SetSchedule>,
) -> Result<Json<CrawlStanding>, Problem> {
    let name = require(&*backend, name.parse()).await?.name;
    let state = body.state;
    if state == ScheduleState::Off {
        role.may_remove()?;
    }
    backend.set_schedule(&name, state).await?;
    Ok(Json(require(&*backend, Ok(name)).await?))
}

/// Which iterations to return.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct IterationsQuery {
    /// Only those before this one.
    before: Option<u32>,
    /// The most in one answer, up to 100.
    limit: Option<u32>,
}

/// Iterations, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct IterationList {
    iterations: Vec<IterationView>,
    /// The value of `before` with which the list goes on; null at its end.
    next: Option<u32>,
}

/// The iterations of a crawl, the newest first
#[utoipa::path(
    get, path = "/crawls/{name}/iterations", operation_id = "listIterations", tag = "iterations",
    params(("name" = String, Path, description = "The crawl"), IterationsQuery),
    responses((status = 200, body = IterationList), (status = 404, body = Problem))
)]
pub(crate) async fn iterations(
    State(backend): Crawls,
    Path(name): Path<String>,
    Query(IterationsQuery { before, limit }): Query<IterationsQuery>,
) -> Result<Json<IterationList>, Problem> {
    let name = require(&*backend, name.parse()).await?.name;
    let count = within("limit", limit.unwrap_or(ITERATIONS), ITERATIONS_MAX)?;
    let (rows, next) = read_iterations(&*backend, &name, before, count).await?;
    Ok(Json(IterationList { iterations: rows.iter().map(IterationView::from).collect(), next }))
}

/// Returns iterations, the newest first, and before which one the list goes on; `None` at its end.
///
/// # Errors
/// They cannot be read.
pub(crate) async fn read_iterations(
    backend: &dyn Backend,
    name: &CrawlId,
    before: Option<u32>,
    count: u32,
) -> Result<(Vec<IterationRow>, Option<u32>), Problem> {
    let latest = backend.iteration(name, None).await?.map_or(0, |row| row.number.number());
    let last = before.map_or(latest, |before| latest.min(before.saturating_sub(1)));
    let first = last.saturating_sub(count);
    let mut rows = Vec::new();
    for number in (first + 1..=last).rev().filter_map(Iteration::new) {
        rows.extend(backend.iteration(name, Some(number)).await?);
    }
    Ok((rows, (first > 0).then_some(first + 1)))
}

/// An iteration
#[utoipa::path(
    get, path = "/crawls/{name}/iterations/{number}", operation_id = "getIteration", tag = "iterations",
    params(
        ("name" = String, Path, description = "The crawl"),
        ("number" = u32, Path, description = "The iteration, from 1"),
    ),
    responses((status = 200, body = IterationView), (status = 404, body = Problem))
)]
pub(crate) async fn iteration(
    State(backend): Crawls,
    Path((name, number)): Path<(String, String)>,
) -> Result<Json<IterationView>, Problem> {
    let name = require(&*backend, name.parse()).await?.name;
    let missing = || Problem::not_found(format!("`{name}` has no iteration {number}"));
    let asked = number.parse().ok().and_then(Iteration::new).ok_or_else(missing)?;
    let row = backend.iteration(&name, Some(asked)).await?.ok_or_else(missing)?;
    Ok(Json(IterationView::from(&row)))
}

/// Begin an iteration
///
/// The call `startCrawling`. One that is running is not disturbed: it is what is returned.
#[utoipa::path(
    post, path = "/crawls/{name}/iterations", operation_id = "startCrawling", tag = "iterations", request_body = StartCrawling,
    params(("name" = String, Path, description = "The crawl")),
    responses(
        (status = 202, description = "It has begun", body = IterationView),
        (status = 200, description = "It had begun before, or another one is running", body = IterationView),
        (status = 404, body = Problem),
        (status = 409, description = "It cannot begin now", body = Problem),
    )
)]
pub(crate) async fn start(
    State(backend): Crawls,
    Path(name): Path<String>,
    Trigger(trigger): Trigger,
    Body(call): Body<StartCrawling>,
) -> Result<Response, Problem> {
    let standing = require(&*backend, name.parse()).await?;
    let name = standing.name;
    let latest = standing.iteration.as_ref().map_or(0, |latest| latest.iteration);
    if let Some(wanted) = call.iteration.map(Iteration::number) {
        if wanted <= latest {
            let begun = Iteration::new(wanted);
            let row = backend.iteration(&name, begun).await?;
            let row = row.ok_or_else(|| Problem::not_found(format!("there is no iteration {wanted}")))?;
            return Ok(Json(IterationView::from(&row)).into_response());
        }
        if wanted > latest + 1 {
            let detail = format!("iteration {wanted} cannot begin: the next one is {}", latest + 1);
            return Err(Problem::conflict(detail));
        }
    }
    if let Some(changed) = call.change(&backend.definition(&name).await?.unwrap_or_default())? {
        if changed.name != name {
            return Err(Problem::bad_request("the definition has no name of its own, and other hosts would rename it"));
        }
        backend.command(&Command::PutCrawl(Box::new(changed)), &backend.fresh_trigger()).await?;
    }
    let trigger = call.start_type.trigger(call.iteration).unwrap_or(trigger);
    let command = Command::Start { crawl: name.clone(), trigger: Some(trigger.clone()) };
    let (status, row) = match backend.command(&command, &trigger).await? {
        CommandResult::Started(IterationBegun::Iteration(row)) if row.trigger == trigger => (StatusCode::ACCEPTED, row),
        CommandResult::Started(IterationBegun::Iteration(row) | IterationBegun::Busy(row)) => (StatusCode::OK, row),
        _ => {
            let row = backend.iteration(&name, None).await?;
            let row = row.ok_or_else(|| Problem::conflict("no iteration has begun"))?;
            (StatusCode::OK, row)
        }
    };
    let place = format!("/crawls/{name}/iterations/{}", row.number);
    Ok((status, [(header::LOCATION, place)], Json(IterationView::from(&row))).into_response())
}

/// A change of a running iteration.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeIteration {
    change: Change,
}

#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Change {
    Pause,
    Resume,
    Stop,
}

/// Pause, resume or stop the running iteration
#[utoipa::path(
    put, path = "/crawls/{name}/running", operation_id = "changeRunning", tag = "iterations", request_body = ChangeIteration,
    params(("name" = String, Path, description = "The crawl")),
    responses((status = 200, body = IterationView), (status = 404, body = Problem), (status = 409, body = Problem))
)]
pub(crate) async fn change(
    State(backend): Crawls,
    Path(name): Path<String>,
    Trigger(trigger): Trigger,
    Body(body): Body<ChangeIteration>,
) -> Result<Json<IterationView>, Problem> {
    let crawl = require(&*backend, name.parse()).await?.name;
    let change = match body.change {
        Change::Pause => StatusChange::Pause,
        Change::Resume => StatusChange::Resume,
        Change::Stop => StatusChange::Stop,
    };
    backend.command(&Command::Change { crawl: crawl.clone(), change }, &trigger).await?;
    let row = backend.iteration(&crawl, None).await?;
    row.as_ref().map(|row| Json(row.into())).ok_or_else(|| Problem::conflict("no iteration is running"))
}
