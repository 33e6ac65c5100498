//! The page for people: crawls, their results, the archive, and adding crawls.
//!
//! Views are made here from what the backend returns, and need no script: `live.js` only keeps
//! figures up to date. All HTML is written by `maud`, which escapes every text.

mod actions;
mod add;
mod add_fields;
mod changes;
mod crawl;
mod definition;
mod figures;
mod home;
mod layout;
mod one_page;
mod outputs;
mod problems;
mod results;
mod scope_words;
mod search;
mod shown;
mod side_by_side;

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::{get, post};

use crate::backend::Backend;

pub(crate) use problems::show_problems;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("live.js");

/// Returns the routes of the page.
pub(crate) fn routes() -> Router<Arc<dyn Backend>> {
    Router::new()
        .route("/", get(home::home))
        .route("/add", get(add::form).post(add::add))
        .route("/view/{name}", get(crawl::crawl))
        .route("/view/{name}/do/{action}", post(actions::act))
        .route("/view/{name}/definition", get(definition::show).post(definition::change))
        .route("/view/{name}/pages", get(results::pages))
        .route("/view/{name}/links", get(results::links))
        .route("/view/{name}/items", get(results::items))
        .route("/view/{name}/log", get(results::log))
        .route("/view/{name}/page", get(one_page::page))
        .route("/view/{name}/search", get(search::search))
        .route("/view/{name}/diff", get(changes::changes))
        .route("/style.css", get(style))
        .route("/live.js", get(script))
}

async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)
}

async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT)
}
