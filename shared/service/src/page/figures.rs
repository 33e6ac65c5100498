//! The figures of an iteration, which change by themselves while it runs.

use dragline_domain::ids::CrawlId;
use dragline_domain::shown::{count, plural};
use jiff::Timestamp;
use maud::{Markup, html};

use super::shown::{address, between, bytes, time_and_distance};
use crate::backend::{IterationView, ProgressView};

/// Whether figures are kept up to date. A browser opens few connections to one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Updates {
    Live,
    OnReload,
}

/// Returns the figures of an iteration.
pub(super) fn figures(progress: &ProgressView, updates: Updates) -> Markup {
    let ProgressView {
        iteration,
        found,
        crawled,
        waiting,
        processed,
        stuck,
        failed,
        requests,
        body_bytes,
        origins_open,
    } = progress;
    let source = (updates == Updates::Live && iteration.closed_at.is_none()).then(|| progress_address(iteration));
    let counts = [
        ("crawled", *crawled, "visited"),
        ("waiting", *waiting, "waiting"),
        ("found", *found, "found anew"),
        ("processed", *processed, "answers read"),
        ("failed", *failed, "failed"),
        ("stuck", *stuck, "stuck"),
        ("requests", *requests, "requests sent"),
        ("origins_open", *origins_open, "sites left"),
    ];
    let done = u32::try_from(crawled.saturating_mul(1_000) / (crawled + waiting).max(1)).unwrap_or(1_000);
    let is_running = iteration.closed_at.is_none();
    html! {
        div.figures data-source=[source] {
            @if is_running {
                p.waits data-live="waits" { (waits(progress)) }
                // Known pages that are visited again are not counted as waiting.
                progress max="1000" value=(done) hidden[*waiting == 0] aria-label="Visited, of what is known so far" data-live="done" {}
            }
            dl {
                @for (name, number, words) in counts {
                    div.is-zero[number == 0 && !is_running] {
                        dt { (words) }
                        dd data-live=(name) { (count(number)) }
                    }
                }
                div { dt { "received" } dd data-live="body_bytes" { (bytes(*body_bytes)) } }
            }
        }
    }
}

fn progress_address(iteration: &IterationView) -> String {
    let number = iteration.iteration.to_string();
    address(&format!("/crawls/{}/progress", iteration.crawl), &[("iteration", Some(&number))])
}

/// Says what an iteration that is not over waits for. `live.js` says the same.
fn waits(progress: &ProgressView) -> String {
    let ProgressView { iteration, waiting, origins_open, crawled, processed, .. } = progress;
    match (iteration.status, *waiting, *origins_open) {
        ("paused", ..) => "Paused: it waits until it is resumed.".to_owned(),
        ("stopping", ..) => "Stopping: it finishes the requests under way.".to_owned(),
        (_, 0, _) if crawled > processed => "It reads the last answers.".to_owned(),
        (_, 0, sites) => format!("It visits known pages again, or waits for answers, at {}.", plural(sites, "site")),
        (_, waiting, sites) => format!(
            "{} {} for their turn at {}: each site is asked at its own pace.",
            plural(waiting, "URL"),
            if waiting == 1 { "waits" } else { "wait" },
            plural(sites, "site"),
        ),
    }
}

/// Returns when an iteration began and ended.
pub(super) fn times(iteration: &IterationView, now: Timestamp) -> Markup {
    html! {
        @match iteration.closed_at {
            None => { "began " (time_and_distance(iteration.started_at, now)) },
            Some(closed) => {
                "ended " (time_and_distance(closed, now)) ", after " (between(iteration.started_at, closed))
            },
        }
    }
}

/// Returns the status of an iteration in words.
pub(super) const fn status_word(iteration: &IterationView) -> &'static str {
    match iteration.status.as_bytes() {
        b"open" => "running",
        b"paused" => "paused",
        b"stopping" => "stopping",
        _ => "over",
    }
}

/// Returns the same, marked by colour as well.
pub(super) fn status(iteration: &IterationView) -> Markup {
    let word = status_word(iteration);
    html! { span class=(format!("badge is-{word}")) { (word) } }
}

/// A result in a few words: what a person looks for first.
pub(super) fn result(progress: &ProgressView) -> Markup {
    html! {
        (count(progress.crawled)) " visited"
        @if progress.failed > 0 { ", " strong.is-bad { (count(progress.failed)) " failed" } }
        @if progress.stuck > 0 { ", " strong.is-bad { (count(progress.stuck)) " stuck" } }
        ", " (bytes(progress.body_bytes))
    }
}

/// A button that does something with a crawl.
pub(super) fn button(crawl: &CrawlId, action: &str, words: &str, from: &str) -> Markup {
    html! {
        form.inline method="post" action=(format!("/view/{crawl}/do/{action}")) {
            input type="hidden" name="from" value=(from);
            button type="submit" { (words) span.unseen { " (" (crawl) ")" } }
        }
    }
}
