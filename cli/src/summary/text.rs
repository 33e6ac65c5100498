//! The summary in words.

use std::fmt::Write;
use std::time::Duration;

use dragline_domain::frontier::IterationStatus;
use dragline_domain::time::between;

use super::Summary;
use crate::args::data_flag;
use crate::crawl::leftover_why;
use crate::terminal::{Colour, Shade, bytes, count, duration, safe};

/// Where the numbers of a list end.
const NUMBER_WIDTH: usize = 11;

/// The summary in words, without a line break at its end.
pub(crate) fn text(summary: &Summary, colour: Colour) -> String {
    let mut text = Text { text: String::new(), colour };
    text.line(&headline(summary));
    text.line(&format!(
        "{} pages, {} waiting, {}",
        count(summary.pages),
        count(summary.waiting),
        bytes(summary.body_bytes)
    ));
    text.section("outcomes", outcomes(summary));
    text.section("not asked for", not_crawled(summary));
    text.section("left over, and due in the next iteration", leftovers(summary));
    text.section("slowest", slowest(summary));
    text.section("what next", next(summary));
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

    /// A head with lines below it; nothing where there are none.
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
    let (crawl, number) = (&summary.crawl, summary.iteration);
    match summary.closed_at {
        Some(closed_at) => {
            format!("{crawl}: iteration {number} is over, after {}", duration(between(summary.started_at, closed_at)))
        }
        None => {
            let state = match summary.status {
                IterationStatus::Open => "is not finished",
                IterationStatus::Paused => "is paused",
                IterationStatus::Stopping | IterationStatus::Closed => "is being ended",
            };
            format!("{crawl}: iteration {number} {state}, since {:.0}", summary.started_at)
        }
    }
}

fn numbered(number: u64, what: &str) -> String {
    format!("{:>NUMBER_WIDTH$}  {what}", count(number))
}

fn outcomes(summary: &Summary) -> Vec<String> {
    let stuck = (summary.stuck > 0).then(|| numbered(summary.stuck, "stuck: broke the parser"));
    summary.outcomes.iter().map(|counted| numbered(counted.count, counted.outcome)).chain(stuck).collect()
}

fn not_crawled(summary: &Summary) -> Vec<String> {
    let lines = summary.not_crawled.iter().flat_map(|reason| {
        let detail = reason.detail.as_deref().map_or_else(String::new, |detail| format!(": {}", safe(detail)));
        let example = format!("{:NUMBER_WIDTH$}    such as {}", "", safe(&reason.example));
        [numbered(reason.count, &format!("{}{detail}", reason.outcome)), example]
    });
    lines.collect()
}

fn leftovers(summary: &Summary) -> Vec<String> {
    summary.leftovers.iter().map(|left| numbered(left.count, leftover_why(left.reason))).collect()
}

fn slowest(summary: &Summary) -> Vec<String> {
    let line = |slow: &super::Slow| {
        let elapsed = duration(Duration::from_millis(slow.elapsed_ms));
        format!("{elapsed:>NUMBER_WIDTH$}  {}", safe(&slow.url))
    };
    summary.slowest.iter().map(line).collect()
}

fn next(summary: &Summary) -> Vec<String> {
    let (data, flag) = (summary.data.display().to_string(), data_flag(&summary.data));
    let mut lines = Vec::new();
    let mut line = |command: String, what: &str| {
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = write!(line, "  {}", safe(&command));
        lines.push(format!("{line:<70}  {what}"));
    };
    line(format!("dragline export --what pages --format csv{flag}"), "the pages as a table");
    line(format!("dragline status{flag}"), "this summary");
    line(format!("sqlite3 {data}/dragline.db 'SELECT * FROM failed'"), "what failed; docs/database.md");
    line(format!("ls {data}/raw"), "the bodies, as WARC");
    lines
}
