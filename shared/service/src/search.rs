//! Searching the pages of a crawl, and pages that are similar to one.

use std::num::NonZeroU32;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use dragline_domain::ids::{CrawlId, CrawlIdError};
use dragline_search::{PER_PAGE_MAX, Request, SHOWN_MAX, Typos, check};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::backend::Backend;
use crate::crawls::{Crawls, require};
use crate::extract::{Path, Query};
use crate::printouts::checked;
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
    let request = query.request()?;
    let crawl = parsed(&name)?;
    let results = backend.search(&crawl, request).await;
    answer(&*backend, &crawl, results).await
}

fn parsed(name: &str) -> Result<CrawlId, Problem> {
    name.parse().map_err(|error: CrawlIdError| Problem::not_found(error.to_string()))
}

/// Returns what the word index answered. Only if there is none, it is checked whether there is such
/// a crawl: that would be most of the work of a search.
async fn answer(backend: &dyn Backend, crawl: &CrawlId, results: Result<String, Problem>) -> Result<Response, Problem> {
    if results.as_ref().is_err_and(|problem| problem.status == StatusCode::NOT_FOUND.as_u16()) {
        require(backend, Ok(crawl.clone())).await?;
    }
    Ok(([(header::CONTENT_TYPE, "application/json")], results?).into_response())
}

/// Which pages to look for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct SimilarQuery {
    /// The URL of the page.
    url: String,
    /// The most pages, up to 100.
    count: Option<u32>,
}

/// Pages that are similar to another one
#[utoipa::path(
    get, path = "/crawls/{name}/similar", operation_id = "listSimilarPages", tag = "results",
    params(("name" = String, Path, description = "The crawl"), SimilarQuery),
    responses(
        (status = 200, description = "What `dragline similar --json` prints", body = Object),
        (status = 404, description = "There is no such crawl, or the page is not indexed", body = Problem),
    )
)]
pub(crate) async fn similar(
    State(backend): Crawls,
    Path(name): Path<String>,
    Query(SimilarQuery { url, count }): Query<SimilarQuery>,
) -> Result<Response, Problem> {
    let url = checked(url)?;
    let count = within("count", count.unwrap_or(COUNT), PER_PAGE_MAX)?;
    let crawl = parsed(&name)?;
    let pages = backend.similar(&crawl, url, count).await;
    answer(&*backend, &crawl, pages).await
}
