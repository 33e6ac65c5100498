//! What changed between two iterations.

use axum::extract::{Extension, State};
use dragline_domain::ids::{CrawlId, Iteration};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::layout::{Section, View, scroll};
use super::outputs::{Extent, Part, read, read_rows};
use super::results::{filled, instant, outcome, page_link};
use super::shown::{external, line, target};
use super::side_by_side;
use crate::access::Role;
use crate::backend::Backend;
use crate::crawls::{Crawls, require};
use crate::extract::{Path, Query};
use crate::printouts::{BodyForm, BodyQuery, DiffQuery, DiffSubject, DiffWhich, Printout, checked};
use crate::problem::Problem;

/// The most changes in the list.
const CHANGES_MAX: usize = 500;

/// What a form sends, in which fields may be empty.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ChangesQuery {
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    url: Option<String>,
}

/// Two iterations, the earlier one first.
#[derive(Clone, Copy)]
struct Pair {
    from: Iteration,
    to: Iteration,
}

pub(super) async fn changes(
    State(backend): Crawls,
    Extension(role): Extension<Role>,
    Path(name): Path<String>,
    Query(query): Query<ChangesQuery>,
) -> Result<View, Problem> {
    let name = require(&*backend, name.parse()).await?.name;
    let Some(pair) = pair(&*backend, &name, &query).await? else {
        let main = html! {
            p.lead { "There is nothing to compare yet." }
            p { "That takes two iterations that are over: " a href=(target(&name, "", &[])) { "run it again" } "." }
        };
        return Ok(View::new(role, Section::Changes.name(), main).within(&name, Section::Changes));
    };
    let Pair { from, to } = pair;
    let (title, main) = match query.url {
        None => (format!("Changes from {from} to {to}"), list(&*backend, &name, pair).await?),
        Some(url) => {
            let url = checked(url)?;
            let shown = line(&url).chars().take(80).collect::<String>();
            (format!("Changes of {shown} from {from} to {to}"), texts(&*backend, &name, pair, &url).await?)
        }
    };
    Ok(View::new(role, title, main).within(&name, Section::Changes))
}

/// Returns the iterations that are compared: without others, the latest that is over and the one
/// before. `None` if there are not two.
async fn pair(backend: &dyn Backend, name: &CrawlId, query: &ChangesQuery) -> Result<Option<Pair>, Problem> {
    let number = |field: &str| match filled(field) {
        None => Ok(None),
        Some(text) => text.parse().ok().and_then(Iteration::new).map(Some).ok_or_else(|| {
            Problem::bad_request(format!("`{}` is not an iteration: it is a number from 1", line(text)))
        }),
    };
    let (from, to) = (number(&query.from)?, number(&query.to)?);
    let to = match to {
        Some(to) => Some(to),
        None => latest_closed(backend, name).await?,
    };
    let Some(to) = to else { return Ok(None) };
    let from = from.or_else(|| Iteration::new(to.number() - 1));
    match from {
        Some(from) if from < to => Ok(Some(Pair { from, to })),
        Some(_) => Err(Problem::bad_request("the iteration to begin with is not before the other one")),
        None => Ok(None),
    }
}

async fn latest_closed(backend: &dyn Backend, name: &CrawlId) -> Result<Option<Iteration>, Problem> {
    let Some(latest) = backend.iteration(name, None).await? else { return Ok(None) };
    Ok(match latest.closed_at {
        Some(_) => Some(latest.number),
        None => Iteration::new(latest.number.number() - 1),
    })
}

async fn list(backend: &dyn Backend, name: &CrawlId, pair: Pair) -> Result<Markup, Problem> {
    let Pair { from, to } = pair;
    let query = DiffQuery { from: Some(from), to: Some(to), subject: DiffSubject::Pages, which: DiffWhich::Changed };
    let rows: Part<Vec<Value>> = read_rows(backend, name, Printout::Diff(query), CHANGES_MAX).await?;
    Ok(html! {
        (choice(name, pair))
        @if rows.content.is_empty() { p.lead { "No page has changed." } } @else {
            (scroll("Changed pages", &table(name, pair, &rows.content)))
        }
        @if rows.extent == Extent::Beginning {
            p.quiet { "Only the first are shown. All: " a href=(format!("/crawls/{name}/diff?from={from}&to={to}")) { "as JSON" } }
        }
    })
}

fn choice(name: &CrawlId, Pair { from, to }: Pair) -> Markup {
    html! {
        form.filters method="get" action=(target(name, "diff", &[])) {
            div.field.is-short { label for="from" { "From iteration" } input #from name="from" value=(from) inputmode="numeric"; }
            div.field.is-short { label for="to" { "to iteration" } input #to name="to" value=(to) inputmode="numeric"; }
            button type="submit" { "Compare" }
        }
    }
}

fn table(name: &CrawlId, pair: Pair, rows: &[Value]) -> Markup {
    let text = |row: &Value, column: &str| row[column].as_str().unwrap_or_default().to_owned();
    html! {
        table.rows {
            thead { tr {
                th scope="col" { "Page" }
                th scope="col" { "Change" }
                th scope="col" { "Parts" }
                th scope="col" { "Outcome" }
                th scope="col" { "Requested" }
            } }
            tbody { @for row in rows { tr {
                td.is-wide {
                    (page_link(name, &text(row, "url"), None))
                    @if let Some(to) = row["redirects_to"].as_str() { br; span.quiet { "leads to " (line(to)) } }
                }
                td { (change(name, pair, row)) }
                td { (line(&text(row, "changed_parts").replace(',', ", "))) }
                td { (outcome(row)) }
                td { (instant(&text(row, "at"))) }
            } } }
        }
    }
}

fn change(name: &CrawlId, pair: Pair, row: &Value) -> Markup {
    let (sign, words) = match row["change"].as_str().unwrap_or_default() {
        "new" => ("+", "new"),
        "back" => ("+", "is back"),
        "gone" => ("−", "gone"),
        "changed" => ("~", "changed"),
        "moved" => ("→", "moved"),
        other => ("", other),
    };
    let (from, to) = (pair.from.to_string(), pair.to.to_string());
    let parameters = [("from", Some(from.as_str())), ("to", Some(to.as_str())), ("url", row["url"].as_str())];
    html! {
        span class=(format!("change is-{}", line(words).replace(' ', "-"))) { span.sign aria-hidden="true" { (sign) } (line(words)) }
        @if words == "changed" { br; a href=(target(name, "diff", &parameters)) { "Compare" } }
    }
}

/// Returns the texts of a page side by side.
async fn texts(backend: &dyn Backend, name: &CrawlId, pair: Pair, url: &str) -> Result<Markup, Problem> {
    let text = |iteration| async move {
        let form = Some(BodyForm::Text);
        read(backend, name, Printout::Body(BodyQuery { url: url.to_owned(), iteration: Some(iteration), form })).await
    };
    let (before, after) = (text(pair.from).await, text(pair.to).await);
    let (from, to) = (pair.from.to_string(), pair.to.to_string());
    let back = target(name, "diff", &[("from", Some(&from)), ("to", Some(&to))]);
    Ok(html! {
        p.address { (external(url)) }
        p { a href=(back) { "All changes" } ", " a href=(target(name, "page", &[("url", Some(url))])) { "this page" } }
        @match (&before, &after) {
            (Ok(before), Ok(after)) => {
                @if before.content == after.content {
                    p.lead { "Its text is the same in both." }
                    p { "Something else has changed, such as its links, its title or its form." }
                } @else {
                    (scroll("Its text in both iterations", &html! {
                        table.both {
                            thead { tr {
                                th scope="col" { "Iteration " (from) }
                                th scope="col" { "Iteration " (to) }
                            } }
                            tbody { (side_by_side::rows(&before.content, &after.content)) }
                        }
                    }))
                    @if [before.extent, after.extent].contains(&Extent::Beginning) {
                        p.quiet { "Only the beginnings are compared." }
                    }
                }
            },
            (before, after) => {
                @for (number, side) in [(&from, before), (&to, after)] {
                    @if let Err(problem) = side {
                        p.lead { "It has no text in iteration " (number) ": " (line(&problem.detail)) "." }
                    }
                }
            },
        }
    })
}
