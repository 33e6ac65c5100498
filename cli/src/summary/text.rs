//! The summary as text.

use std::time::Duration;

use dragline_domain::change::{ChangeKind, changes_in_words};
use dragline_domain::definition::Key;
use dragline_domain::frontier::{IterationStatus, Task};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_domain::time::between;
use dragline_report::{ScriptedPages, Slow};

use super::{Age, Summary};
use crate::crawl_handle::Certificates;
use crate::terminal::{Colour, Shade, bytes, count, duration, plural, safe};

/// The column in which the numbers of a list end.
const NUMBER_WIDTH: usize = 11;

const BODY: &str = Key::FetchBodyBytesMax.name();
const DECODED: &str = Key::FetchDecodedBytesMax.name();

/// Returns the summary as text, without a final line break. `go_on` is the command that resumes an
/// unfinished iteration; `None` if the caller shows it.
pub(crate) fn text(summary: &Summary, go_on: Option<&str>, colour: Colour) -> String {
    let mut text = Text { text: String::new(), colour };
    text.line(&headline(summary));
    text.line(&format!(
        "{}, {} waiting, {}",
        plural(summary.figures.pages, "page"),
        count(summary.figures.waiting),
        bytes(summary.figures.body_bytes)
    ));
    if let Some(changes) = changes_in_words(&summary.figures.changes) {
        text.line(&changes);
    }
    if let Some(unvisited @ 1..) = summary.figures.unvisited {
        text.line(&format!("still unvisited: {}; the next run goes on with them", plural(unvisited, "known URL")));
    }
    if summary.figures.remade > 0 {
        text.line(&format!("documents made again from the archive: {}", count(summary.figures.remade)));
    }
    if let Some(line) = drifted(summary) {
        text.line(&line);
    }
    if summary.figures.bodies_cut > 0 {
        let cut = plural(summary.figures.bodies_cut, "answer");
        text.line(&format!("{cut} cut at a limit of size: raise `{BODY}`, or `{DECODED}` for compressed ones"));
    }
    if summary.certificates == Certificates::NotChecked {
        text.line("certificates were not checked");
    }
    if !summary.ignored_robots.is_empty() {
        let hosts: Vec<String> = summary.ignored_robots.iter().map(ToString::to_string).collect();
        text.line(&format!("robots.txt was not obeyed on {} (--ignore-robots)", hosts.join(", ")));
    }
    if !summary.nofollow.is_obeyed() {
        text.line("nofollow links were followed (--follow-nofollow)");
    }
    if !summary.noindex.is_obeyed() {
        text.line("pages that ask for noindex were kept (--noindex keep)");
    }
    if summary.age == Age::Earlier {
        text.line("not known of an earlier iteration: captures that broke the parser or were lost, stripped URLs, links that were not followed");
    }
    if let Some(urls_stripped @ 1..) = summary.figures.urls_stripped {
        let urls = plural(urls_stripped, "URL");
        text.line(&format!("{urls} found with query parameters that were stripped (strip_query_parameters)"));
    }
    text.section("nothing was crawled", nothing_fetched_lines(summary, colour));
    text.section("outcomes", outcomes(summary));
    text.section("canonical links that are not believed", doubted_canonical_lines(summary, colour));
    text.section("pages that need JavaScript", scripted_page_lines(summary, colour));
    text.section("not requested", not_crawled(summary));
    text.section("left over, and due in the next iteration", leftovers(summary));
    text.section("slowest", slowest(summary));
    text.section("what next", next(summary, go_on));
    text.text.truncate(text.text.trim_end().len());
    text.text
}

struct Text {
    text: String,
    colour: Colour,
}

impl Text {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds a heading with lines below it, if there are any lines.
    fn section(&mut self, head: &str, lines: Vec<String>) {
        if lines.is_empty() {
            return;
        }
        let head = self.colour.paint(Shade::Head, head);
        self.line(&format!("\n{head}"));
        for line in lines {
            self.line(&line);
        }
    }
}

fn headline(summary: &Summary) -> String {
    let crawl = &summary.standing.crawl;
    let number = numbered_task(summary.standing.iteration, &summary.standing.task);
    match summary.standing.closed_at {
        Some(closed_at) => {
            format!(
                "{crawl}: iteration {number} is over, after {}",
                duration(between(summary.standing.started_at, closed_at))
            )
        }
        None => {
            let state = match summary.standing.status {
                IterationStatus::Open => "is not finished",
                IterationStatus::Paused => "is paused",
                IterationStatus::Stopping | IterationStatus::Closed => "is being ended",
            };
            format!("{crawl}: iteration {number} {state}, since {:.0}", summary.standing.started_at)
        }
    }
}

/// Returns the number of an iteration, and its task unless that is to crawl: `3 (reparse)`.
pub(crate) fn numbered_task(number: Iteration, task: &Task) -> String {
    match task {
        Task::Crawl => number.to_string(),
        Task::Demand | Task::Import | Task::Reparse(_) => format!("{number} ({})", task.name()),
    }
}

fn numbered(number: u64, what: &str) -> String {
    format!("{:>NUMBER_WIDTH$}  {what}", count(number))
}

/// Describes why nothing was crawled and what to do about it.
fn nothing_fetched_lines(summary: &Summary, colour: Colour) -> Vec<String> {
    let Some(why) = summary.why_nothing() else { return Vec::new() };
    let hint = |hint: &String| format!("{} {}", colour.paint(Shade::Hint, "hint:"), safe(hint));
    let lines = why.lines(numbered);
    let lines = if lines.is_empty() { vec!["  no URL had its turn".to_owned()] } else { lines };
    lines.into_iter().chain(why.hints().iter().map(hint)).collect()
}

/// An explanation of stuck pages.
const STUCK: &str = "stuck: the parser broke, or the pages do not fit `items`";

/// Describes pages that are stuck or have changed fields, one line for each kind; empty if there
/// are none.
pub(crate) fn changed_page_lines(summary: &Summary) -> Vec<String> {
    let stuck = summary.figures.stuck.filter(|stuck| *stuck > 0);
    stuck.map(|stuck| format!("{} {STUCK}", plural(stuck, "page"))).into_iter().chain(drifted(summary)).collect()
}

fn drifted(summary: &Summary) -> Option<String> {
    let drifted = summary.figures.drifted.filter(|drifted| *drifted > 0)?;
    let since = summary.standing.iteration.number().saturating_sub(1);
    let arguments = summary.place.arguments(&summary.standing.crawl);
    let pages = plural(drifted, "page");
    Some(format!("{pages} changed what their items have: `dragline schema --since {since}{arguments}`"))
}

fn outcomes(summary: &Summary) -> Vec<String> {
    let stuck = summary.figures.stuck.filter(|stuck| *stuck > 0);
    let stuck = stuck.map(|stuck| numbered(stuck, STUCK));
    let lines = summary.figures.outcomes.iter().flat_map(|counted| {
        let is_refused = counted.outcome == Outcome::BlockedAtRequestOfRemote.code();
        let refusals = summary.figures.refusals.iter().filter(move |_| is_refused);
        let refusals = refusals
            .map(|(refusal, urls)| format!("{:NUMBER_WIDTH$}    {} of them: {}", "", count(*urls), refusal.words()));
        [numbered(counted.urls, &counted.name)].into_iter().chain(refusals)
    });
    lines.chain(stuck).collect()
}

/// Describes implausible canonical links, and what to do about them.
fn doubted_canonical_lines(summary: &Summary, colour: Colour) -> Vec<String> {
    let doubted = &summary.figures.canonicals_doubted;
    let lines = doubted.iter().flat_map(|doubted| {
        let named = format!("{} of them to {}", count(doubted.named_by), safe(&doubted.canonical));
        [numbered(doubted.pages, doubted.why.words()), format!("{:NUMBER_WIDTH$}    {named}", "")]
    });
    let hint = doubted.first().map(|_| {
        "the pages stand for themselves; if a template is at fault, mend it, and see `canonical` in docs/reference/definition.md"
    });
    lines.chain(hint.map(|hint| format!("{} {hint}", colour.paint(Shade::Hint, "hint:")))).collect()
}

/// Describes pages that are nearly empty without scripts, and what to do about them.
fn scripted_page_lines(summary: &Summary, colour: Colour) -> Vec<String> {
    let ScriptedPages { pages, examples } = &summary.figures.scripted;
    if *pages == 0 {
        return Vec::new();
    }
    let example = |url: &String| format!("{:NUMBER_WIDTH$}    such as {}", "", safe(url));
    let hint = "their scripts bring text and links: `--render auto` runs them in a browser (docs/guide/rendering.md)";
    let lines = std::iter::once(numbered(*pages, "next to nothing is in the page")).chain(examples.iter().map(example));
    lines.chain([format!("{} {hint}", colour.paint(Shade::Hint, "hint:"))]).collect()
}

fn not_crawled(summary: &Summary) -> Vec<String> {
    let lines = summary.figures.not_crawled.iter().flat_map(|reason| {
        let detail = reason.detail.as_deref().map_or_else(String::new, |detail| format!(": {}", safe(detail)));
        let example = format!("{:NUMBER_WIDTH$}    such as {}", "", safe(&reason.example));
        [numbered(reason.urls, &format!("{}{detail}", reason.name)), example]
    });
    let beyond = summary.figures.links_beyond_budget.filter(|links| *links > 0);
    let beyond = beyond.map(|links| {
        numbered(
            links,
            "links not followed: enough URLs wait for the page budget, or their page leads to too many origins",
        )
    });
    let nofollow = summary.figures.links_nofollow.filter(|links| *links > 0);
    let nofollow = nofollow.map(|links| numbered(links, "links not followed: their pages ask for that (nofollow)"));
    lines.chain(beyond).chain(nofollow).collect()
}

fn leftovers(summary: &Summary) -> Vec<String> {
    summary.figures.leftovers.iter().map(|(reason, urls)| numbered(*urls, reason.words())).collect()
}

fn slowest(summary: &Summary) -> Vec<String> {
    let line = |slow: &Slow| {
        let elapsed = duration(Duration::from_millis(slow.duration_ms));
        format!("{elapsed:>NUMBER_WIDTH$}  {}", safe(&slow.url))
    };
    summary.figures.slowest.iter().map(line).collect()
}

/// Returns the commands that suit what was crawled, one a line.
fn next(summary: &Summary, go_on: Option<&str>) -> Vec<String> {
    let mut commands = suitable(summary);
    if let Some(command) = go_on.filter(|_| summary.standing.closed_at.is_none()) {
        commands.insert(0, (command.to_owned(), "resume, unless it is running"));
    }
    let width = commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
    commands.iter().map(|(command, what)| format!("  {:<width$}   {what}", safe(command))).collect()
}

/// Returns the commands, and what they show.
fn suitable(summary: &Summary) -> Vec<(String, &'static str)> {
    let (figures, place, crawl) = (&summary.figures, &summary.place, &summary.standing.crawl);
    let is_latest = summary.age == Age::Latest;
    let iteration = if is_latest { String::new() } else { format!(" --iteration {}", summary.standing.iteration) };
    let (of, flags) = (format!("{}{iteration}", place.arguments(crawl)), place.flags(crawl));
    let log = (format!("dragline export --what log --format csv{of} > log.csv"), "how each URL ended, and why");
    if !figures.has_content() {
        return vec![log, (format!("dragline status{of}"), "this summary")];
    }
    let has = |class: &str| figures.outcomes.iter().any(|count| count.class == class && count.urls > 0);
    let has_files = figures.outcomes.iter().any(|count| count.outcome == Outcome::StoredNotRead.code());
    let is_change = |(kind, urls): (&ChangeKind, &u64)| *kind != ChangeKind::Unchanged && *urls > 0;
    let has_changed = summary.standing.iteration > Iteration::FIRST && figures.changes.iter().any(is_change);
    let report = (format!("dragline report{of} -o report.html"), "the site on one page: figures and findings");
    let broken = (format!("dragline broken{of}"), "broken links, and the pages that have them");
    let diff = (format!("dragline diff{of}"), "what changed since the last iteration");
    let search = (format!("dragline search WORDS{flags}"), "the pages with these words");
    let pages = (format!("dragline export --what pages --format csv{of} > pages.csv"), "the pages as a table");
    let archive = (format!("dragline archive{of} -o site.wacz"), "the site to replay in a browser");
    let commands = [
        (true, report),
        (is_latest && has("missing"), broken),
        (is_latest && has_changed, diff),
        (is_latest, search),
        (true, pages),
        (is_latest && has_files, archive),
        (has("failed"), log),
    ];
    commands.into_iter().filter_map(|(is_suitable, command)| is_suitable.then_some(command)).collect()
}
