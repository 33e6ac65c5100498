//! The results of a crawl as tables: pages, links, items and the log.

use axum::extract::{Extension, State};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::outcome::Outcome;
use dragline_domain::shown::count;
use dragline_domain::url::CrawlUrl;
use dragline_ports::reader::Cursor;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::layout::{Section, View, scroll};
use super::shown::{bytes, line, target};
use crate::access::Role;
use crate::backend::{RowKind, RowsQuery};
use crate::bodies::with_scheme;
use crate::crawls::{Crawls, require};
use crate::extract::{Path, Query};
use crate::problem::Problem;

/// The rows of a table.
const ROWS: usize = 50;

/// The most fields of an item that are shown.
const FIELDS_MAX: usize = 8;

/// What a form sends, in which fields may be empty.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ResultsQuery {
    #[serde(default)]
    url: String,
    #[serde(default)]
    iteration: String,
    cursor: Option<Cursor>,
}

impl ResultsQuery {
    /// Returns which rows are asked for, or the mistakes in URL and iteration.
    fn rows(&self) -> Result<RowsQuery, [Option<String>; 2]> {
        let url = filled(&self.url).map(|url| CrawlUrl::try_from(with_scheme(url))).transpose();
        let iteration = filled(&self.iteration).map(|text| text.parse().ok().and_then(Iteration::new).ok_or(()));
        match (url, iteration.transpose()) {
            (Ok(url), Ok(iteration)) => {
                Ok(RowsQuery { iteration, url, limit: Some(ROWS), cursor: self.cursor.clone(), item_type: None })
            }
            (url, iteration) => Err([
                url.err().map(|error| error.to_string()),
                iteration.err().map(|()| "an iteration is a number from 1".to_owned()),
            ]),
        }
    }
}

/// Returns what a field has; `None` if it is empty.
pub(super) fn filled(field: &str) -> Option<&str> {
    Some(field.trim()).filter(|field| !field.is_empty())
}

macro_rules! tables {
    ($($name:ident $kind:ident;)+) => {$(
        pub(super) async fn $name(
            backend: Crawls,
            role: Extension<Role>,
            name: Path<String>,
            query: Query<ResultsQuery>,
        ) -> Result<View, Problem> {
            results(backend, role, name, query, Section::$kind, RowKind::$kind).await
        }
    )+};
}

tables! {
    pages Pages;
    links Links;
    items Items;
    log Log;
}

async fn results(
    State(backend): Crawls,
    Extension(role): Extension<Role>,
    Path(name): Path<String>,
    Query(query): Query<ResultsQuery>,
    section: Section,
    kind: RowKind,
) -> Result<View, Problem> {
    let name = require(&*backend, name.parse()).await?.name;
    let main = match query.rows() {
        Err(mistakes) => filters(&name, section, &query, &mistakes),
        Ok(rows) => {
            let batch = backend.rows(&name, kind, &rows, rows.cursor.clone()).await?;
            let rows: Vec<Value> = batch.rows.iter().filter_map(|row| serde_json::from_str(row).ok()).collect();
            html! {
                (filters(&name, section, &query, &[None, None]))
                @if rows.is_empty() { (nothing(&name, section, &query)) } @else {
                    (scroll(section.name(), &table(&name, kind, &rows, filled(&query.iteration))))
                }
                nav.paging aria-label="More rows" {
                    @if query.cursor.is_some() { a href=(here(&name, section, &query, None)) { "First rows" } }
                    @if let Some(next) = &batch.next { a rel="next" href=(here(&name, section, &query, Some(next))) { "Next rows" } }
                }
            }
        }
    };
    Ok(View::new(role, section.name(), main).within(&name, section))
}

fn here(name: &CrawlId, section: Section, query: &ResultsQuery, cursor: Option<&Cursor>) -> String {
    let parameters =
        [("url", filled(&query.url)), ("iteration", filled(&query.iteration)), ("cursor", cursor.map(Cursor::as_str))];
    target(name, section.path(), &parameters)
}

fn filters(name: &CrawlId, section: Section, query: &ResultsQuery, mistakes: &[Option<String>; 2]) -> Markup {
    let [url, iteration] = mistakes;
    let label = if section == Section::Links { "URL of the page that has them" } else { "URL, exactly" };
    html! {
        form.filters method="get" action=(target(name, section.path(), &[])) {
            (field("url", label, &query.url, url.as_deref()))
            (field("iteration", "Iteration", &query.iteration, iteration.as_deref()))
            button type="submit" { "Show" }
        }
    }
}

fn field(id: &str, label: &str, value: &str, mistake: Option<&str>) -> Markup {
    let described = mistake.map(|_| format!("{id}-mistake"));
    let is_number = id == "iteration";
    html! {
        div.field.is-short[is_number] {
            label for=(id) { (label) }
            input id=(id) name=(id) value=(value) aria-invalid=[mistake.map(|_| "true")] aria-describedby=[&described]
                inputmode=[is_number.then_some("numeric")];
            @if let (Some(mistake), Some(described)) = (mistake, &described) { p.mistake id=(described) { (mistake) } }
        }
    }
}

fn nothing(name: &CrawlId, section: Section, query: &ResultsQuery) -> Markup {
    let is_filtered = filled(&query.url).is_some() || filled(&query.iteration).is_some();
    html! {
        p.lead { "There are no rows here." }
        @if is_filtered {
            p { "Nothing matches. " a href=(target(name, section.path(), &[])) { "Show all" } }
        } @else if section == Section::Items {
            p {
                "Items are products, articles and the like in the structured data of pages, or fields of your own: see "
                code { "items" } " in the " a href=(target(name, "definition", &[])) { "definition" } "."
            }
        } @else {
            p { "They come with the first iteration: " a href=(target(name, "", &[])) { "run it" } "." }
        }
    }
}

/// Returns the text of a cell; empty if it is missing.
fn text<'v>(row: &'v Value, column: &str) -> &'v str {
    row[column].as_str().unwrap_or_default()
}

fn number(row: &Value, column: &str) -> String {
    row[column].as_u64().map_or_else(String::new, count)
}

/// Returns an outcome in words.
pub(super) fn outcome(row: &Value) -> Markup {
    let code = row["outcome"].as_i64().and_then(|code| i16::try_from(code).ok());
    let outcome = code.and_then(Outcome::from_code);
    html! {
        @match outcome {
            Some(outcome) => {
                span class=(format!("is-{}", outcome.class().name())) title=(outcome.meaning()) {
                    (outcome.name().replace('_', " "))
                }
            },
            None => { (line(text(row, "outcome_name"))) },
        }
    }
}

/// Returns a time as the database has it.
pub(super) fn instant(text: &str) -> Markup {
    html! { @if let Ok(at) = text.parse() { (super::shown::time(at)) } @else { (line(text)) } }
}

/// Returns a link to the view of a page.
pub(super) fn page_link(name: &CrawlId, url: &str, iteration: Option<&str>) -> Markup {
    html! { a href=(target(name, "page", &[("url", Some(url)), ("iteration", iteration)])) { (line(url)) } }
}

fn table(name: &CrawlId, kind: RowKind, rows: &[Value], iteration: Option<&str>) -> Markup {
    let heads: &[&str] = match kind {
        RowKind::Pages => &["Page", "Outcome", "Status", "Type", "Size", "Requested"],
        RowKind::Links => &["From", "To", "Text", "Kind", "What was done"],
        RowKind::Items => &["Page", "Type", "Fields"],
        RowKind::Log | RowKind::Candidates => &["Requested", "URL", "Outcome", "Status", "Size", "Took", "Changed"],
    };
    let size = |row: &Value| row["body_bytes"].as_u64().map_or_else(String::new, bytes);
    let status = |row: &Value| row["status"].as_u64().map_or_else(String::new, |status| status.to_string());
    html! {
        table.rows {
            thead { tr { @for head in heads { th scope="col" .is-number[is_number(head)] { (head) } } } }
            tbody {
                @for row in rows {
                    tr {
                        @match kind {
                            RowKind::Pages => {
                                td.is-wide {
                                    @if !text(row, "title").is_empty() { strong { (line(text(row, "title"))) } br; }
                                    (page_link(name, text(row, "url"), iteration))
                                }
                                td { (outcome(row)) }
                                td.is-number { (status(row)) }
                                td { (line(text(row, "content_type"))) }
                                td.is-number { (size(row)) }
                                td { (instant(text(row, "at"))) }
                            },
                            RowKind::Links => {
                                td.is-wide { (page_link(name, text(row, "from_url"), iteration)) }
                                td.is-wide { (page_link(name, text(row, "to_url"), iteration)) }
                                td { (line(text(row, "anchor"))) }
                                td { (line(text(row, "kind"))) }
                                td { (line(&text(row, "disposition").replace('_', " "))) }
                            },
                            RowKind::Items => {
                                td.is-wide { (page_link(name, text(row, "url"), iteration)) }
                                td { (line(text(row, "types"))) }
                                td.is-wide { (fields(row)) }
                            },
                            RowKind::Log | RowKind::Candidates => {
                                td { (instant(text(row, "at"))) }
                                td.is-wide {
                                    (page_link(name, text(row, "url"), iteration))
                                    @if !text(row, "detail").is_empty() { br; span.quiet { (line(text(row, "detail"))) } }
                                }
                                td { (outcome(row)) @if row["final"] == Value::Bool(false) { br; span.quiet { "was tried again" } } }
                                td.is-number { (status(row)) }
                                td.is-number { (size(row)) }
                                td.is-number { (number(row, "duration_ms")) @if !row["duration_ms"].is_null() { " ms" } }
                                td { (change(row)) }
                            },
                        }
                    }
                }
            }
        }
    }
}

fn is_number(head: &str) -> bool {
    matches!(head, "Status" | "Size" | "Took")
}

/// Returns how a visit changed the page, and in which parts.
pub(super) fn change(row: &Value) -> Markup {
    let parts = text(row, "changed_parts").replace(',', ", ");
    html! {
        (line(&text(row, "change").replace('_', " ")))
        @if !parts.is_empty() { " " span.quiet { "(" (line(&parts)) ")" } }
    }
}

/// Returns the first fields of an item: what is neither its page nor its type.
fn fields(row: &Value) -> Markup {
    const OTHERS: [&str; 7] = ["crawl", "iteration", "url", "at", "n", "types", "item_id"];
    let cells = row.as_object().into_iter().flatten();
    let cells = cells.filter(|(name, value)| !OTHERS.contains(&name.as_str()) && !value.is_null());
    html! {
        ul.plain {
            @for (name, value) in cells.take(FIELDS_MAX) {
                li {
                    span.quiet { (line(name)) ": " }
                    @match value { Value::String(value) => (line(value)), other => (line(&other.to_string())) }
                }
            }
        }
    }
}
