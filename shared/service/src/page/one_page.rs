//! One page: what became of it, as it was, its text, and its links.

use axum::extract::{Extension, State};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::layout::{Section, View, scroll};
use super::outputs::{Extent, Part, read, read_rows};
use super::results::{change, instant, outcome, page_link};
use super::shown::{address, bytes, external, line, target};
use crate::access::Role;
use crate::backend::{Backend, RowKind, RowsQuery};
use crate::crawls::{Crawls, require};
use crate::extract::{Path, Query};
use crate::printouts::{BodyForm, BodyQuery, Printout, checked};
use crate::problem::Problem;

/// The most visits that are listed.
const VISITS_MAX: usize = 200;

/// The most links that are listed, in and out.
const LINKS_MAX: usize = 50;

#[derive(Debug, Deserialize)]
pub(super) struct PageQuery {
    url: String,
    iteration: Option<Iteration>,
    #[serde(default, rename = "as")]
    text: TextForm,
}

/// In which form the text is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TextForm {
    #[default]
    Markdown,
    Text,
}

impl TextForm {
    const fn body_form(self) -> BodyForm {
        match self {
            Self::Markdown => BodyForm::Markdown,
            Self::Text => BodyForm::Text,
        }
    }
}

pub(super) async fn page(
    State(backend): Crawls,
    Extension(role): Extension<Role>,
    Path(name): Path<String>,
    Query(PageQuery { url, iteration, text }): Query<PageQuery>,
) -> Result<View, Problem> {
    let name = require(&*backend, name.parse()).await?.name;
    let url = checked(url)?;
    let visits = read_rows(&*backend, &name, Printout::History { url: url.clone() }, VISITS_MAX).await?;
    let shown = shown_visit(&visits.content, iteration);
    let body = match shown.filter(|visit| !visit["object"].is_null()).and_then(visit_iteration) {
        None => None,
        Some(number) => Some(Body::read(&*backend, &name, &url, number, text).await?),
    };
    let out = links_out(&*backend, &name, &url, shown.and_then(visit_iteration)).await?;
    let links_in = read_rows(&*backend, &name, Printout::Backlinks { url: url.clone() }, LINKS_MAX).await;
    let links_in = links_in.unwrap_or(Part { content: Vec::new(), extent: Extent::All });
    let media_type = shown.map(|visit| visit["content_type"].as_str().unwrap_or("text/html")).unwrap_or_default();
    let main = html! {
        p.address { (external(&url)) }
        @match shown {
            None => { p.lead { "It was not visited in this iteration." } },
            Some(visit) => (verdict(visit)),
        }
        @if let Some(body) = &body { (as_it_was(&name, &url, body, media_type)) }
        section aria-labelledby="visits" {
            h2 #visits { "Visits" }
            (scroll("Visits", &visit_table(&name, &url, &visits.content, shown)))
            @if visits.extent == Extent::Beginning { p.quiet { "Only the first are shown." } }
        }
        div.pair {
            section aria-labelledby="out" { h2 #out { "Links to" } (link_list(&name, &out, "to_url")) }
            section aria-labelledby="in" { h2 #in { "Linked from" } (link_list(&name, &links_in, "from_url")) }
        }
    };
    Ok(View::new(role, format!("Page {}", short(&url)), main).within(&name, Section::Pages))
}

/// Returns the path of a URL, which is enough for a title.
fn short(url: &str) -> String {
    let path = CrawlUrl::try_from(url.to_owned()).map(|url| url.path_and_query().to_owned());
    line(&path.unwrap_or_else(|_| url.to_owned())).chars().take(80).collect()
}

fn visit_iteration(visit: &Value) -> Option<Iteration> {
    Iteration::new(u32::try_from(visit["iteration"].as_u64()?).ok()?)
}

/// Returns the visit to show: the last one of the iteration, or the last of all, those with an
/// answer first.
fn shown_visit(visits: &[Value], iteration: Option<Iteration>) -> Option<&Value> {
    let is_asked = |visit: &&Value| iteration.is_none_or(|number| visit_iteration(visit) == Some(number));
    let asked = || visits.iter().rev().filter(is_asked);
    asked().find(|visit| !visit["object"].is_null()).or_else(|| asked().next())
}

/// Says what became of it.
fn verdict(visit: &Value) -> Markup {
    let code = visit["outcome"].as_i64().and_then(|code| i16::try_from(code).ok());
    let number = visit["iteration"].as_u64().unwrap_or_default();
    html! {
        section.verdict aria-label="What became of it" {
            p.lead { strong { (outcome(visit)) } " in iteration " (number) ", " (instant(visit["at"].as_str().unwrap_or_default())) }
            @if let Some(outcome) = code.and_then(Outcome::from_code) {
                p { (outcome.meaning()) }
                @if !outcome.advice().starts_with("Nothing") { p.quiet { "What to do: " (outcome.advice()) } }
            }
            @if let Some(detail) = visit["detail"].as_str() { p { "Because: " (line(detail)) } }
        }
    }
}

/// A stored body, and its text.
struct Body {
    iteration: Iteration,
    form: TextForm,
    text: Result<Part<String>, Problem>,
}

impl Body {
    async fn read(
        backend: &dyn Backend,
        name: &CrawlId,
        url: &str,
        iteration: Iteration,
        form: TextForm,
    ) -> Result<Self, Problem> {
        let query = BodyQuery { url: url.to_owned(), iteration: Some(iteration), form: Some(form.body_form()) };
        // A picture has no text, for example.
        let text = read(backend, name, Printout::Body(query)).await;
        Ok(Self { iteration, form, text })
    }
}

fn as_it_was(name: &CrawlId, url: &str, body: &Body, media_type: &str) -> Markup {
    let number = body.iteration.to_string();
    let source = address(&format!("/crawls/{name}/body"), &[("url", Some(url)), ("iteration", Some(&number))]);
    let other = |form: &'static str| {
        target(name, "page", &[("url", Some(url)), ("iteration", Some(&number)), ("as", Some(form))])
    };
    let can_be_framed = ["text/", "image/", "application/xhtml"].iter().any(|prefix| media_type.starts_with(prefix));
    html! {
        div.pair {
            section aria-labelledby="then" {
                h2 #then { "As it was" }
                @if can_be_framed {
                    iframe sandbox src=(source) title=(format!("The page as it was in iteration {number}")) loading="lazy" referrerpolicy="no-referrer" {}
                }
                p.quiet {
                    a href=(source) { "The stored answer" } " of iteration " (number)
                    ". Its scripts do not run, and nothing is loaded for it, so pictures are missing."
                }
            }
            section aria-labelledby="text" {
                h2 #text { "Its text" }
                p {
                    @match body.form {
                        TextForm::Markdown => { "Markdown, or " a href=(other("text")) { "plain text" } },
                        TextForm::Text => { "Plain text, or " a href=(other("markdown")) { "Markdown" } },
                    }
                }
                @match &body.text {
                    Err(_) => p { "It has no text that can be read." },
                    Ok(part) if part.content.trim().is_empty() => p { "Its main part is empty." },
                    Ok(part) => {
                        pre.text tabindex="0" role="region" aria-label="Text" { (part.content) }
                        @if part.extent == Extent::Beginning { p.quiet { "Only the beginning is shown." } }
                    },
                }
            }
        }
    }
}

fn visit_table(name: &CrawlId, url: &str, visits: &[Value], shown: Option<&Value>) -> Markup {
    let text = |visit: &Value, column: &str| visit[column].as_str().unwrap_or_default().to_owned();
    html! {
        table {
            thead { tr {
                th.is-number scope="col" { "Iteration" }
                th scope="col" { "Requested" }
                th scope="col" { "Outcome" }
                th.is-number scope="col" { "Status" }
                th.is-number scope="col" { "Size" }
                th scope="col" { "Changed" }
            } }
            tbody { @for visit in visits.iter().rev() {
                @let number = visit["iteration"].as_u64().unwrap_or_default().to_string();
                @let is_shown = shown.is_some_and(|shown| std::ptr::eq(shown, visit));
                tr.is-chosen[is_shown] {
                    th.is-number scope="row" {
                        a href=(target(name, "page", &[("url", Some(url)), ("iteration", Some(&number))]))
                            aria-current=[is_shown.then_some("true")] { (number) }
                    }
                    td { (instant(&text(visit, "at"))) }
                    td { (outcome(visit)) }
                    td.is-number { @if let Some(status) = visit["status"].as_u64() { (status) } }
                    td.is-number { @if let Some(size) = visit["body_bytes"].as_u64() { (bytes(size)) } }
                    td {
                        (change(visit))
                        @if text(visit, "change") == "changed" && number != "1" {
                            br; a href=(target(name, "diff", &[("to", Some(&number)), ("url", Some(url))])) { "Compare" }
                        }
                    }
                }
            } }
        }
    }
}

async fn links_out(
    backend: &dyn Backend,
    name: &CrawlId,
    url: &str,
    iteration: Option<Iteration>,
) -> Result<Part<Vec<Value>>, Problem> {
    let url = CrawlUrl::try_from(url.to_owned()).map_err(|_| Problem::bad_request("that is not a URL"))?;
    let query = RowsQuery { iteration, url: Some(url), limit: Some(LINKS_MAX), ..RowsQuery::default() };
    let batch = backend.rows(name, RowKind::Links, &query, None).await?;
    let rows = batch.rows.iter().filter_map(|row| serde_json::from_str(row).ok()).collect();
    Ok(Part { content: rows, extent: if batch.next.is_some() { Extent::Beginning } else { Extent::All } })
}

fn link_list(name: &CrawlId, links: &Part<Vec<Value>>, end: &str) -> Markup {
    html! {
        @if links.content.is_empty() { p.quiet { "None." } }
        ul.plain { @for link in &links.content {
            @let url = link[end].as_str().unwrap_or_default();
            @let anchor = link["anchor"].as_str().unwrap_or_default();
            li { (page_link(name, url, None)) @if !anchor.is_empty() { " " span.quiet { "“" (line(anchor)) "”" } } }
        } }
        @if links.extent == Extent::Beginning { p.quiet { "Only the first are shown." } }
    }
}
