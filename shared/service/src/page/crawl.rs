//! One crawl: the figures of an iteration, and the others.

use axum::extract::{Extension, State};
use dragline_domain::ids::{CrawlId, Iteration};
use jiff::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;

use super::actions::Done;
use super::figures::{Updates, button, figures, result, status, times};
use super::home::{begins, schedule_button};
use super::layout::{Section, View, may_change, scroll};
use super::shown::{address, between, target, time_and_distance};
use crate::access::Role;
use crate::backend::{Backend, CrawlStanding, ProgressView, ScheduleState};
use crate::crawls::{Crawls, read_iterations, require};
use crate::extract::{Path, Query};
use crate::problem::Problem;

/// The number of iterations in the list.
const ITERATIONS: u32 = 10;

#[derive(Debug, Default, Deserialize)]
pub(super) struct CrawlQuery {
    iteration: Option<Iteration>,
    before: Option<u32>,
    done: Option<Done>,
}

pub(super) async fn crawl(
    State(backend): Crawls,
    Extension(role): Extension<Role>,
    Path(name): Path<String>,
    Query(CrawlQuery { iteration, before, done }): Query<CrawlQuery>,
) -> Result<View, Problem> {
    let standing = require(&*backend, name.parse()).await?;
    let (name, now) = (&standing.name, backend.now());
    let chosen = backend.iteration(name, iteration).await?;
    if let (Some(number), None) = (iteration, &chosen) {
        return Err(Problem::not_found(format!("`{name}` has no iteration {number}")));
    }
    let chosen = match chosen {
        None => None,
        Some(row) => Some(backend.progress(&row).await?),
    };
    let (list, next) = iterations(&*backend, name, before).await?;
    let main = html! {
        @if let Some(done) = done { (done.message()) }
        (schedule(&standing, role, now))
        @match &chosen {
            None => (not_begun(role)),
            Some(progress) => (iteration_section(&standing, progress, role, now)),
        }
        @if !list.is_empty() {
            section aria-labelledby="iterations" {
                h2 #iterations { "Iterations" }
                (scroll("Iterations", &table(name, &list, chosen.as_ref(), now)))
                @if let Some(next) = next {
                    p { a href=(target(name, "", &[("before", Some(&next.to_string()))])) { "Earlier iterations" } }
                }
            }
        }
        @if role.may_remove().is_ok() && standing.state != ScheduleState::Off { (removal(name)) }
    };
    Ok(View::new(role, name.as_str(), main).within(name, Section::Overview).until(standing.next))
}

async fn iterations(
    backend: &dyn Backend,
    name: &CrawlId,
    before: Option<u32>,
) -> Result<(Vec<ProgressView>, Option<u32>), Problem> {
    let (rows, next) = read_iterations(backend, name, before, ITERATIONS).await?;
    let mut list = Vec::new();
    for row in rows {
        list.push(backend.progress(&row).await?);
    }
    Ok((list, next))
}

fn schedule(standing: &CrawlStanding, role: Role, now: Timestamp) -> Markup {
    let is_running = standing.iteration.as_ref().is_some_and(|latest| latest.closed_at.is_none());
    html! {
        div.schedule {
            p { strong { "Begins " } (begins(standing, now)) }
            @if may_change(role) { div.actions {
                @if !is_running && standing.state != ScheduleState::Off { (button(&standing.name, "run", "Run now", "crawl")) }
                (schedule_button(standing, "crawl"))
                a.button href=(target(&standing.name, "definition", &[])) { "Edit the definition" }
            } }
        }
    }
}

/// The button that removes a crawl, which is only shown to those who ask for it.
fn removal(name: &CrawlId) -> Markup {
    html! {
        details.removal {
            summary { "Remove this crawl" }
            p { "The running iteration is stopped, and no other begins. What it stored stays." }
            (button(name, "remove", "Remove it", "crawl"))
        }
    }
}

fn not_begun(role: Role) -> Markup {
    html! {
        p.lead { "It has not begun, so there is nothing to see yet." }
        @if may_change(role) { p { "Run it now, or look at its definition first." } }
    }
}

fn iteration_section(standing: &CrawlStanding, progress: &ProgressView, role: Role, now: Timestamp) -> Markup {
    let (name, iteration) = (&standing.name, &progress.iteration);
    let number = iteration.iteration.to_string();
    let only = [("iteration", Some(number.as_str()))];
    let output = |path: &str| address(&format!("/crawls/{name}/{path}"), &only);
    html! {
        section aria-labelledby="iteration" {
            div.heading { h2 #iteration { "Iteration " (number) } (status(iteration)) }
            p.quiet { (times(iteration, now)) }
            (figures(progress, Updates::Live))
            @if may_change(role) { div.actions {
                @match iteration.status {
                    "open" => { (button(name, "pause", "Pause", "crawl")) (button(name, "stop", "Stop", "crawl")) },
                    "paused" => { (button(name, "resume", "Resume", "crawl")) (button(name, "stop", "Stop", "crawl")) },
                    _ => {},
                }
            } }
            h3 { "Its results" }
            ul.links {
                li { a href=(output("report")) { "Report" } " on what is there, and what is broken" }
                li { a href=(target(name, "pages", &only)) { "Pages" } " as it saw them" }
                li { a href=(target(name, "log", &only)) { "Log" } " of every visit" }
                li { a href=(target(name, "diff", &[("to", Some(&number))])) { "Changes" } " since the one before" }
                li { a href=(output("archive")) download { "Archive" } " as a WACZ file" }
                li { a href=(format!("/crawls/{name}/definition")) { "Definition" } " as YAML" }
            }
        }
    }
}

fn table(name: &CrawlId, list: &[ProgressView], chosen: Option<&ProgressView>, now: Timestamp) -> Markup {
    html! {
        table {
            thead { tr {
                th.is-number scope="col" { "Iteration" }
                th scope="col" { "State" }
                th scope="col" { "Began" }
                th scope="col" { "Took" }
                th scope="col" { "Result" }
            } }
            tbody {
                @for progress in list {
                    @let iteration = &progress.iteration;
                    @let number = iteration.iteration.to_string();
                    @let is_chosen = chosen.is_some_and(|chosen| chosen.iteration.iteration == iteration.iteration);
                    tr.is-chosen[is_chosen] {
                        th.is-number scope="row" {
                            a href=(target(name, "", &[("iteration", Some(&number))])) aria-current=[is_chosen.then_some("true")] {
                                (number)
                            }
                        }
                        td { (super::figures::status_word(iteration)) }
                        td { (time_and_distance(iteration.started_at, now)) }
                        td { @match iteration.closed_at {
                            Some(closed) => (between(iteration.started_at, closed)),
                            None => span.quiet { "not over" },
                        } }
                        td { (result(progress)) }
                    }
                }
            }
        }
    }
}
