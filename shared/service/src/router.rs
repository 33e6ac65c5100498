//! The routes.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::{Router, middleware};
use dragline_ports::clock::Rng;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{Access, admit};
use crate::backend::Backend;
use crate::etag::tag;
use crate::extract::BODY_BYTES_MAX;
use crate::guard::{HostCheck, guard};
use crate::idempotency::read_key;
use crate::limiter::{Limiter, limit};
use crate::mcp::{self, Crawling};
use crate::openapi::describe;
use crate::problem::Problem;
use crate::{crawls, metrics, page, printouts, progress, rows, search};

/// What the router answers from.
pub struct Service {
    /// The crawls.
    pub backend: Arc<dyn Backend>,
    /// Who may call.
    pub access: Access,
    /// The names of the server.
    pub hosts: HostCheck,
    /// Which crawls agents may begin at `/mcp`.
    pub crawling: Crawling,
    /// Where the boundaries around what agents are shown of the web come from.
    pub rng: Arc<dyn Rng>,
}

fn routes() -> OpenApiRouter<Arc<dyn Backend>> {
    OpenApiRouter::new()
        .routes(routes!(crawls::list, crawls::add))
        .routes(routes!(crawls::one, crawls::remove))
        .routes(routes!(crawls::definition))
        .routes(routes!(crawls::set_schedule))
        .routes(routes!(crawls::iterations, crawls::start))
        .routes(routes!(crawls::change))
        .routes(routes!(crawls::iteration))
        .routes(routes!(progress::progress))
        .routes(routes!(progress::summary))
        .routes(routes!(rows::pages))
        .routes(routes!(rows::links))
        .routes(routes!(rows::items))
        .routes(routes!(rows::log))
        .routes(routes!(rows::candidates))
        .routes(routes!(search::search))
        .routes(routes!(search::similar))
        .routes(routes!(printouts::history))
        .routes(routes!(printouts::backlinks))
        .routes(routes!(printouts::diff))
        .routes(routes!(printouts::body))
        .routes(routes!(printouts::report))
        .routes(routes!(printouts::archive))
        .routes(routes!(printouts::explain))
        .routes(routes!(metrics::healthz))
        .routes(routes!(metrics::metrics))
}

/// Returns what the handlers say of themselves.
#[cfg(test)]
pub(crate) fn description() -> utoipa::openapi::OpenApi {
    routes().into_openapi()
}

/// Returns the router of a service. `/openapi.json` describes it, from its code.
pub fn router(service: Service) -> Router {
    let Service { backend, access, hosts, crawling, rng } = service;
    let (access, hosts, limiter) = (Arc::new(access), Arc::new(hosts), Arc::new(Limiter::default()));
    let protect = |routes: Router| {
        routes
            .layer(middleware::from_fn_with_state(Arc::clone(&access), admit))
            .layer(middleware::from_fn_with_state((Arc::clone(&limiter), Arc::clone(&access)), limit))
            .layer(middleware::from_fn_with_state(Arc::clone(&hosts), guard))
            .layer(middleware::from_fn(page::show_problems))
    };
    let (api, openapi) = routes().split_for_parts();
    let description = describe(&openapi).to_string();
    let routes = api
        .merge(page::routes())
        .with_state(backend)
        .route(
            "/openapi.json",
            axum::routing::get(|| async move { ([(header::CONTENT_TYPE, "application/json")], description) }),
        )
        .fallback(nothing)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn(read_key))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn(tag));
    let routes = protect(routes);
    // An agent passes the checks twice: as it calls the protocol, and for each call of a tool.
    routes.clone().merge(protect(mcp::route(routes, crawling, rng, BODY_BYTES_MAX)))
}

async fn nothing() -> impl IntoResponse {
    Problem::not_found("there is nothing here").with_hint("/openapi.json lists what there is")
}

async fn wrong_method() -> impl IntoResponse {
    let problem =
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed", "this is not answered by that method");
    problem.with_hint("/openapi.json lists the methods")
}
