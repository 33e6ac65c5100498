//! Searching the pages of a crawl.

use std::num::NonZeroU32;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use dragline_search::{PER_PAGE_MAX, Request, SHOWN_MAX, Typos, check};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::crawls::{Crawls, require};
use crate::extract::{Path, Query};
use crate::problem::Problem;
use crate::rows::within;

/// The default number of results.
const COUNT: u32 = 10;

/// A search.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchQuery {
    /// The words, with operators as in `dragline search`.
    pub(crate) q: String,
    /// The page of results, from 1.
    #[param(value_type = Option<u32>)]
    pub(crate) page: Option<NonZeroU32>,
    /// The results of a page, up to 100.
    pub(crate) per_page: Option<u32>,
    /// Whether words are searched for only as they are written.
    #[serde(default)]
    pub(crate) exact: bool,
}

impl SearchQuery {
    pub(crate) fn request(self) -> Result<Request, Problem> {
        check(&self.q).map_err(|error| {
            let problem = Problem::bad_request(error.to_string());
            match error.hint() {
                Some(hint) => problem.with_hint(hint),
                None => problem,
            }
        })?;
        let page = self.page.unwrap_or(NonZeroU32::MIN);
        let per_page = within("per_page", self.per_page.unwrap_or(COUNT), PER_PAGE_MAX)?;
        if page.get().saturating_mul(per_page) > SHOWN_MAX {
            return Err(Problem::bad_request(format!("results after the first {SHOWN_MAX} are not shown")));
        }
        let typos = if self.exact { Typos::Keep } else { Typos::Correct };
        Ok(Request { query: self.q, page, per_page, typos })
    }
}

/// Search the pages of a crawl
#[utoipa::path(
    get, path = "/crawls/{name}/search", operation_id = "search", tag = "results",
    params(("name" = String, Path, description = "The crawl"), SearchQuery),
    responses(
        (status = 200, description = "What `dragline search --json` prints", body = Object),
        (status = 400, description = "The query is not valid", body = Problem),
        (status = 404, body = Problem),
    )
)]
pub(crate) async fn search(
    State(backend): Crawls,
    Path(name): Path<String>,
    Query(query): Query<SearchQuery>,
) -> Result<Response, Problem> {
    let crawl = require(&*backend, name.parse()).await?.name;
    let request = query.request()?;
    let results = backend.search(&crawl, request).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], results).into_response())
}
