//! The page for people: what runs, and when the rest will.

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use jiff::Timestamp;

use crate::backend::{CrawlStanding, ProgressView, ScheduleState};
use crate::crawls::{Crawls, read_all, require};
use crate::problem::Problem;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("live.js");

/// All crawls.
pub(crate) async fn home(State(backend): Crawls) -> Result<Html<String>, Problem> {
    let crawls = read_all(&*backend).await?;
    let rows: String = crawls.iter().map(row).collect();
    let body = if rows.is_empty() {
        "<p>No crawl yet. Add one: <code>curl -X POST http://localhost:7878/crawls -H 'content-type: application/json' \
         -d '{\"domain_names\": [\"example.org\"]}'</code></p>"
            .to_owned()
    } else {
        format!(
            "<table><caption>Crawls</caption><thead><tr><th scope=col>crawl<th scope=col>state<th scope=col>schedule\
             <th scope=col>next<th scope=col>latest iteration</tr></thead><tbody>{rows}</tbody></table>"
        )
    };
    Ok(page("Crawls", &body))
}

fn row(crawl: &CrawlStanding) -> String {
    let CrawlStanding { name, state, cron_expression, time_zone, next, iteration, .. } = crawl;
    let schedule = match (cron_expression, time_zone) {
        (Some(cron), Some(zone)) => format!("<code>{}</code> {}", text(cron), text(zone)),
        _ => "when started".to_owned(),
    };
    let latest = match iteration {
        None => "not begun".to_owned(),
        Some(latest) => {
            format!("{}: {}, {}", latest.iteration, latest.status, time(latest.closed_at.unwrap_or(latest.started_at)))
        }
    };
    format!(
        "<tr><th scope=row><a href=\"/view/{name}\">{name}</a><td>{}<td>{schedule}<td>{}<td>{latest}</tr>",
        state_name(*state),
        next.map_or_else(String::new, time),
    )
}

const fn state_name(state: ScheduleState) -> &'static str {
    match state {
        ScheduleState::On => "on",
        ScheduleState::Paused => "paused",
        ScheduleState::Off => "removed",
    }
}

/// One crawl.
pub(crate) async fn crawl(State(backend): Crawls, Path(name): Path<String>) -> Result<Html<String>, Problem> {
    let standing = require(&*backend, name.parse()).await?;
    let name = &standing.name;
    let mut body = format!("<p><a href=\"/\">All crawls</a></p><h2>{name}</h2>");
    if let Some(row) = backend.iteration(name, None).await? {
        body += &figures(&backend.progress(&row).await?);
    } else {
        body += "<p>It has not begun.</p>";
    }
    let definition = backend.definition(name).await?.unwrap_or_default();
    let lists = ["iterations", "summary", "pages", "links", "items", "log", "candidates"];
    let links = lists.map(|list| format!("<li><a href=\"/crawls/{name}/{list}\">{list}</a>"));
    body += &format!(
        "<h3>Results</h3><ul>{}</ul><h3>Definition</h3><pre tabindex=0>{}</pre>",
        links.concat(),
        text(&definition)
    );
    Ok(page(name.as_str(), &body))
}

fn figures(progress: &ProgressView) -> String {
    let ProgressView { iteration, found, crawled, processed, stuck, failed, requests, body_bytes, origins_open } =
        progress;
    let figures = [
        ("found", found, "URLs found"),
        ("crawled", crawled, "visited"),
        ("processed", processed, "made into documents"),
        ("failed", failed, "failed"),
        ("stuck", stuck, "stuck"),
        ("requests", requests, "requests"),
        ("body_bytes", body_bytes, "bytes received"),
        ("origins_open", origins_open, "sites with work left"),
    ];
    let list: String = figures
        .iter()
        .map(|(id, value, title)| format!("<div><dt>{title}</dt><dd data-live=\"{id}\">{value}</dd></div>"))
        .collect();
    let source = match iteration.closed_at {
        None => format!(" data-source=\"/crawls/{}/progress?iteration={}\"", iteration.crawl, iteration.iteration),
        Some(_) => String::new(),
    };
    let closed = iteration.closed_at.map_or_else(String::new, |at| format!(", over since {}", time(at)));
    format!(
        "<section{source}><p>Iteration {}, <span data-live=\"status\" role=status>{}</span>, began {}{closed}.</p><dl>{list}</dl></section>",
        iteration.iteration,
        iteration.status,
        time(iteration.started_at)
    )
}

fn page(title: &str, body: &str) -> Html<String> {
    Html(format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>{title} – Dragline</title>\
         <meta name=viewport content=\"width=device-width, initial-scale=1\"><link rel=stylesheet href=/style.css>\
         <script src=/live.js defer></script></head><body><header><h1>Dragline</h1></header><main>{body}</main></body></html>",
        title = text(title)
    ))
}

pub(crate) async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

pub(crate) async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT).into_response()
}

fn time(at: Timestamp) -> String {
    format!("<time>{}</time>", at.strftime("%Y-%m-%d %H:%M UTC"))
}

/// Returns a text as HTML.
fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
