//! All crawls: what runs, and what waits and why.

use axum::extract::{Extension, State};
use jiff::Timestamp;
use maud::{Markup, html};

use super::actions::{Done, DoneQuery};
use super::figures::{Updates, button, figures, result, status, times};
use super::layout::{View, may_change, scroll};
use super::shown::{target, time_and_distance};
use crate::access::Role;
use crate::backend::{CrawlStanding, ProgressView, ScheduleState};
use crate::crawls::{Crawls, read_all};
use crate::extract::Query;
use crate::problem::Problem;

/// The most iterations whose figures change by themselves: a browser opens six connections.
const LIVE_MAX: usize = 4;

/// A crawl, and the figures of its latest iteration.
struct Row {
    standing: CrawlStanding,
    progress: Option<ProgressView>,
}

impl Row {
    fn is_running(&self) -> bool {
        self.progress.as_ref().is_some_and(|progress| progress.iteration.closed_at.is_none())
    }
}

/// Whom and when a view is for.
#[derive(Clone, Copy)]
struct Reading {
    role: Role,
    now: Timestamp,
}

pub(super) async fn home(
    State(backend): Crawls,
    Extension(role): Extension<Role>,
    Query(DoneQuery { done }): Query<DoneQuery>,
) -> Result<View, Problem> {
    let reading = Reading { role, now: backend.now() };
    let mut rows = Vec::new();
    for standing in read_all(&*backend).await? {
        let latest = backend.iteration(&standing.name, None).await?;
        let progress = match latest {
            Some(row) => Some(backend.progress(&row).await?),
            None => None,
        };
        rows.push(Row { standing, progress });
    }
    let next = rows.iter().filter_map(|row| row.standing.next).min();
    let (running, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(Row::is_running);
    let (removed, waiting): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|row| row.standing.state == ScheduleState::Off);
    let is_empty = running.is_empty() && waiting.is_empty() && removed.is_empty();
    let main = html! {
        @if let Some(done) = done { (done.message()) }
        @if is_empty { (first_steps(role)) } @else {
            section aria-labelledby="running" {
                h2 #running { "Running now" }
                @if running.is_empty() { p.quiet { "Nothing runs. " (quiet_until(next, reading.now)) } }
                div.cards {
                    @for (place, row) in running.iter().enumerate() { (card(row, place, reading)) }
                }
            }
            @if !waiting.is_empty() {
                section aria-labelledby="waiting" {
                    h2 #waiting { "Waiting" }
                    (scroll("Crawls that wait", &table(&waiting, reading)))
                }
            }
            @if !removed.is_empty() {
                section aria-labelledby="removed" {
                    h2 #removed { "Removed" }
                    p.quiet { "Nothing of them begins. What they stored is still there." }
                    (scroll("Removed crawls", &table(&removed, reading)))
                }
            }
        }
    };
    Ok(View::new(role, "Crawls", main).until(next))
}

fn quiet_until(next: Option<Timestamp>, now: Timestamp) -> Markup {
    html! { @if let Some(next) = next { "The next iteration begins at " (time_and_distance(next, now)) "." } }
}

fn first_steps(role: Role) -> Markup {
    html! {
        p.lead { "There is no crawl yet." }
        @if may_change(role) {
            p { a.button href="/add" { "Add a crawl" } }
            p { "It takes an address. Before anything is requested you see what would be crawled." }
        } @else {
            p { "Somebody with the token of an editor can add one." }
        }
        p { "A file works as well: " code { "dragline schedule add crawl.yaml" } }
    }
}

fn card(row: &Row, place: usize, reading: Reading) -> Markup {
    let Some(progress) = &row.progress else { return Markup::default() };
    let (name, iteration) = (&row.standing.name, &progress.iteration);
    let updates = if place < LIVE_MAX { Updates::Live } else { Updates::OnReload };
    html! {
        article.card aria-labelledby=(format!("crawl-{place}")) {
            header {
                h3 id=(format!("crawl-{place}")) { a href=(target(name, "", &[])) { (name) } }
                (status(iteration))
            }
            p.quiet { "Iteration " (iteration.iteration) ", " (times(iteration, reading.now)) }
            (figures(progress, updates))
            @if may_change(reading.role) { div.actions {
                @match iteration.status {
                    "open" => { (button(name, "pause", "Pause", "home")) (button(name, "stop", "Stop", "home")) },
                    "paused" => { (button(name, "resume", "Resume", "home")) (button(name, "stop", "Stop", "home")) },
                    _ => {},
                }
            } }
        }
    }
}

fn table(rows: &[Row], reading: Reading) -> Markup {
    html! {
        table {
            thead { tr {
                th scope="col" { "Crawl" }
                th scope="col" { "Begins" }
                th scope="col" { "Latest result" }
                @if may_change(reading.role) { th scope="col" { "Actions" } }
            } }
            tbody { @for row in rows { (line(row, reading)) } }
        }
    }
}

fn line(row: &Row, reading: Reading) -> Markup {
    let CrawlStanding { name, state, .. } = &row.standing;
    html! {
        tr {
            th scope="row" { a href=(target(name, "", &[])) { (name) } }
            td { (begins(&row.standing, reading.now)) }
            td { @match &row.progress {
                None => { span.quiet { "has not begun" } },
                Some(progress) => {
                    (result(progress)) br;
                    @let latest = &progress.iteration;
                    span.quiet {
                        "iteration " (latest.iteration) ", "
                        (time_and_distance(latest.closed_at.unwrap_or(latest.started_at), reading.now))
                    }
                },
            } }
            @if may_change(reading.role) { td { div.actions {
                @if *state != ScheduleState::Off { (button(name, "run", "Run now", "home")) }
                (schedule_button(&row.standing, "home"))
            } } }
        }
    }
}

/// Says when a crawl begins, and why not before.
pub(super) fn begins(standing: &CrawlStanding, now: Timestamp) -> Markup {
    let CrawlStanding { state, cron_expression, time_zone, next, .. } = standing;
    html! {
        @match (state, next) {
            (ScheduleState::Off, _) => { "never: it is removed" },
            (ScheduleState::Paused, _) => { "when it is run: its schedule is paused" },
            (ScheduleState::On, Some(next)) => { (time_and_distance(*next, now)) },
            (ScheduleState::On, None) => { "when it is run: it has no schedule" },
        }
        @if let (Some(cron), Some(zone)) = (cron_expression, time_zone) {
            br; span.quiet { "by " code { (cron) } " in " (zone) }
        }
    }
}

/// Returns the button that pauses the schedule of a crawl, or follows it again.
pub(super) fn schedule_button(standing: &CrawlStanding, from: &str) -> Markup {
    let CrawlStanding { name, state, cron_expression, .. } = standing;
    html! {
        @match (state, cron_expression) {
            (ScheduleState::Off, _) => { (button(name, "follow", "Restore", from)) },
            (ScheduleState::Paused, _) => { (button(name, "follow", "Resume schedule", from)) },
            (ScheduleState::On, Some(_)) => { (button(name, "hold", "Pause schedule", from)) },
            (ScheduleState::On, None) => {},
        }
    }
}

impl Done {
    /// Returns what was done, as a message.
    pub(super) fn message(self) -> Markup {
        html! { p.message role="status" { (self.words()) } }
    }
}
