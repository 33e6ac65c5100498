//! What the API of a stack prints of a crawl: what can be read row by row. The rest takes the
//! command, which has more memory, disk, time and rights than the function.

use std::ops::ControlFlow;

use axum::body::Bytes;
use axum::http::StatusCode;
use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_lambda::REPLY_BYTES_MAX;
use dragline_ports::reader::Reader;
use dragline_ports::row::{NamedCells, Row};
use dragline_report::diff::{Span, Which, each_item_change, each_link_change, each_page_change};
use dragline_report::visits::{self, Visit};
use dragline_service::{DiffQuery, DiffSubject, DiffWhich, Output, Printout, Problem};
use futures_util::stream;

/// Returns a complete text as an output.
pub(crate) fn output(text: impl Into<Bytes>) -> Output {
    Box::pin(stream::iter([Ok(text.into())]))
}

/// Lines of JSON, up to as many as can be sent.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
}

impl Lines {
    /// Adds a row, and returns whether to go on.
    fn add<R: Row>(&mut self, row: R) -> ControlFlow<()> {
        // Texts, numbers and booleans can always be written.
        let _ = serde_json::to_writer(&mut self.text, &NamedCells(&R::columns(), &row.cells()));
        self.text.push(b'\n');
        // What is longer is refused where it is sent.
        if self.text.len() > REPLY_BYTES_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Returns every visit of a URL.
///
/// # Errors
/// It is no URL, the crawl does not know it or has not visited it yet, or cannot be read.
pub(crate) async fn history(reader: &impl Reader, crawl: &CrawlId, text: &str) -> Result<Output, Problem> {
    let stripped = CrawlUrl::parse(text, &UrlRules::default());
    let stripped = stripped.map_err(|error| Problem::not_found(format!("the URL cannot be crawled: {error}")))?;
    let url = visits::resolve(reader, text, stripped).await?;
    let visits = visits::read(reader, &url).await?;
    if visits.is_empty() {
        return Err(Problem::not_found(match visits::is_known(reader, &url).await? {
            true => format!("the crawl `{crawl}` knows {url}, but has not visited it yet"),
            false => format!("the crawl `{crawl}` does not know {url}"),
        }));
    }
    let mut lines = Lines::default();
    let _ = visits.into_iter().map(Visit::from).try_for_each(|visit| lines.add(visit));
    Ok(output(lines.text))
}

/// Returns the differences of two iterations.
///
/// # Errors
/// There are no such iterations, or they cannot be compared or read.
pub(crate) async fn diff(reader: &impl Reader, crawl: &CrawlId, query: &DiffQuery) -> Result<Output, Problem> {
    let span = span(reader, crawl, query).await?;
    let mut lines = Lines::default();
    match query.subject {
        DiffSubject::Pages => {
            let which = match query.which {
                DiffWhich::Changed => Which::Changed,
                DiffWhich::Visited => Which::Visited,
            };
            each_page_change(reader, span, which, |change| lines.add(change)).await?;
        }
        DiffSubject::Items => each_item_change(reader, span, |change| lines.add(change)).await?,
        DiffSubject::Links => each_link_change(reader, span, |change| lines.add(change)).await?,
    }
    Ok(output(lines.text))
}

/// Returns the iterations to compare, which are both there, and whole as far as that is needed.
async fn span(reader: &impl Reader, crawl: &CrawlId, query: &DiffQuery) -> Result<Span, Problem> {
    let mut latest =
        reader.latest_iteration().await?.ok_or_else(|| Problem::not_found(format!("`{crawl}` has not begun")))?;
    let newest = latest.number;
    for wanted in [query.from, query.to].into_iter().flatten() {
        load(reader, crawl, wanted, newest).await?;
    }
    // A reparse finds no differences.
    while !latest.task.visits()
        && let Some(before) = Iteration::new(latest.number.number() - 1)
    {
        latest = load(reader, crawl, before, newest).await?;
    }
    let not_compared = |error| Problem::not_found(format!("the crawl `{crawl}`: {error}"));
    let span = Span::choose(query.from, query.to, &latest).map_err(not_compared)?;
    let oldest_needed = match query.subject {
        DiffSubject::Pages => span.from().next(),
        DiffSubject::Items | DiffSubject::Links => span.from(),
    };
    match load(reader, crawl, oldest_needed, newest).await?.pruned_at {
        None => Ok(span),
        Some(_) => Err(Problem::not_found(format!("iteration {oldest_needed} of `{crawl}` was pruned"))),
    }
}

/// Returns an iteration.
///
/// # Errors
/// There is no such, or it cannot be read.
async fn load(
    reader: &impl Reader,
    crawl: &CrawlId,
    wanted: Iteration,
    newest: Iteration,
) -> Result<IterationRow, Problem> {
    let missing = || format!("the crawl `{crawl}` has no iteration {wanted}; the latest is {newest}");
    reader.load_iteration(wanted).await?.ok_or_else(|| Problem::not_found(missing()))
}

/// Returns the problem of something that only the command prints of a stack.
pub(crate) fn by_command(stack: &str, crawl: &CrawlId, printout: &Printout) -> Problem {
    let (what, command) = match printout {
        Printout::History { .. } => ("histories", format!("history URL --crawl {crawl}")),
        Printout::Diff(_) => ("differences", format!("diff {crawl}")),
        Printout::Backlinks { .. } => ("links to a URL", format!("links URL --ways in --crawl {crawl}")),
        Printout::Body(_) => ("stored bodies", format!("get URL --crawl {crawl}")),
        Printout::Report(_) => ("such reports", format!("report {crawl}")),
        Printout::Archive(_) => ("archives", format!("archive {crawl} -o site.wacz")),
        Printout::Explain { .. } => ("explanations", format!("explain URL --crawl {crawl}")),
    };
    let detail = format!("{what} are not printed at the URL of a stack");
    let problem = Problem::new(StatusCode::NOT_IMPLEMENTED, "not implemented", detail);
    problem.with_hint(format!("print it by `dragline {command} --stack {stack}`"))
}

#[cfg(test)]
mod tests {
    use dragline_service::{ArchiveQuery, BodyQuery, ReportQuery};

    use super::*;

    #[test]
    fn what_only_the_command_prints_names_the_command() {
        let crawl = "docs".parse().unwrap();
        let url = || "https://a.example/".to_owned();
        for (printout, expected) in [
            (Printout::Backlinks { url: url() }, "dragline links URL --ways in --crawl docs --stack mine"),
            (
                Printout::Body(BodyQuery { url: url(), iteration: None, form: None }),
                "dragline get URL --crawl docs --stack mine",
            ),
            (Printout::Report(ReportQuery::default()), "dragline report docs --stack mine"),
            (Printout::Archive(ArchiveQuery::default()), "dragline archive docs -o site.wacz --stack mine"),
            (Printout::Explain { url: url() }, "dragline explain URL --crawl docs --stack mine"),
        ] {
            let problem = by_command("mine", &crawl, &printout);
            assert_eq!(problem.status, 501);
            assert_eq!(problem.hint.unwrap(), format!("print it by `{expected}`"));
        }
    }
}
