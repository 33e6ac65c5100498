//! What the API of a stack prints of a crawl: rows and bodies, as far as they can be sent. The
//! command prints what is longer.

use std::ops::ControlFlow;

use axum::body::Bytes;
use axum::http::StatusCode;
use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_lambda::REPLY_BYTES_MAX;
use dragline_ports::archive::Archive;
use dragline_ports::reader::{LogRow, Reader};
use dragline_ports::row::{NamedCells, Row};
use dragline_report::diff::{Span, Which, each_item_change, each_link_change, each_page_change};
use dragline_report::visits::{self, Visit};
use dragline_service::stored::{self, BodyLimits, StoredError};
use dragline_service::{BodyQuery, DiffQuery, DiffSubject, DiffWhich, Output, Printout, Problem};
use futures_util::stream;

/// The limits of a body in an answer.
const BODY_LIMITS: BodyLimits = BodyLimits { answer_bytes_max: REPLY_BYTES_MAX, decoded_bytes_max: 100 << 20 };

/// Why a function prints less than the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooLarge {
    /// The answer cannot be sent.
    Answer,
    /// Finding it takes more time or disk than there is.
    Work,
}

impl From<TooLarge> for Problem {
    fn from(why: TooLarge) -> Self {
        let (title, detail) = match why {
            TooLarge::Answer => {
                ("answer too large", "the answer is longer than the 6 MB that the URL of a function can send")
            }
            TooLarge::Work => ("crawl too large", "the crawl is too large for the time and the disk of a function"),
        };
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, title, detail)
    }
}

/// Returns a complete text as an output.
///
/// # Errors
/// It is too long to be sent.
pub(crate) fn output(text: impl Into<Bytes>) -> Result<Output, Problem> {
    let text = text.into();
    if text.len() > REPLY_BYTES_MAX {
        return Err(TooLarge::Answer.into());
    }
    Ok(Box::pin(stream::iter([Ok(text)])))
}

/// Lines of JSON, up to as many as can be sent.
#[derive(Default)]
pub(crate) struct Lines {
    pub(crate) text: Vec<u8>,
}

impl Lines {
    /// Adds a row, and returns whether to go on.
    pub(crate) fn add<R: Row>(&mut self, row: R) -> ControlFlow<()> {
        // Texts, numbers and booleans can always be written.
        let _ = serde_json::to_writer(&mut self.text, &NamedCells(&R::columns(), &row.cells()));
        self.text.push(b'\n');
        // What is longer is refused where it is sent.
        if self.text.len() > REPLY_BYTES_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Returns the URL of a crawl that a text means.
///
/// # Errors
/// It is no URL, or the crawl cannot be read.
pub(crate) async fn url_of_crawl(reader: &impl Reader, text: &str) -> Result<CrawlUrl, Problem> {
    let stripped = CrawlUrl::parse(text, &UrlRules::default());
    let stripped = stripped.map_err(|error| Problem::not_found(format!("the URL cannot be crawled: {error}")))?;
    Ok(visits::resolve(reader, text, stripped).await?)
}

/// Returns the visits of the URL that a text means, the oldest first. There is at least one.
async fn visits_of_url(reader: &impl Reader, crawl: &CrawlId, text: &str) -> Result<(CrawlUrl, Vec<LogRow>), Problem> {
    let url = url_of_crawl(reader, text).await?;
    let visits = visits::read(reader, &url).await?;
    if visits.is_empty() {
        return Err(Problem::not_found(match visits::is_known(reader, &url).await? {
            true => format!("the crawl `{crawl}` knows {url}, but has not visited it yet"),
            false => format!("the crawl `{crawl}` does not know {url}"),
        }));
    }
    Ok((url, visits))
}

/// Returns every visit of a URL.
///
/// # Errors
/// It is no URL, the crawl does not know it or has not visited it yet, or cannot be read.
pub(crate) async fn history(reader: &impl Reader, crawl: &CrawlId, text: &str) -> Result<Vec<u8>, Problem> {
    let (_, visits) = visits_of_url(reader, crawl, text).await?;
    let mut lines = Lines::default();
    let _ = visits.into_iter().map(Visit::from).try_for_each(|visit| lines.add(visit));
    Ok(lines.text)
}

/// Returns the stored body of a URL.
///
/// # Errors
/// There is no such answer, it cannot be read or has no such form, or it is too long to be sent.
pub(crate) async fn body(
    (reader, archive): (&impl Reader, &impl Archive),
    crawl: &CrawlId,
    BodyQuery { url, iteration, form }: &BodyQuery,
) -> Result<Vec<u8>, Problem> {
    let row = known_iteration(reader, crawl, *iteration).await?;
    if row.pruned_at.is_some() {
        return Err(Problem::not_found(format!("iteration {} of `{crawl}` was pruned", row.number)));
    }
    let visits = visits_of_url(reader, crawl, url).await?;
    stored::body(archive, visits, (*iteration, *form), BODY_LIMITS).await.map_err(|error| match error {
        StoredError::Port(error) => error.into(),
        StoredError::TooLong => TooLarge::Answer.into(),
        error => Problem::not_found(error.to_string()),
    })
}

/// Returns the differences of two iterations.
///
/// # Errors
/// There are no such iterations, or they cannot be compared or read.
pub(crate) async fn diff(reader: &impl Reader, crawl: &CrawlId, query: &DiffQuery) -> Result<Vec<u8>, Problem> {
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
    Ok(lines.text)
}

/// Returns the iterations to compare, which are both there, and whole as far as that is needed.
async fn span(reader: &impl Reader, crawl: &CrawlId, query: &DiffQuery) -> Result<Span, Problem> {
    let mut latest = known_iteration(reader, crawl, None).await?;
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

/// Returns an iteration, or the latest.
///
/// # Errors
/// There is no such iteration, or it cannot be read.
pub(crate) async fn known_iteration(
    reader: &impl Reader,
    crawl: &CrawlId,
    wanted: Option<Iteration>,
) -> Result<IterationRow, Problem> {
    let latest = reader.latest_iteration().await?;
    let latest = latest.ok_or_else(|| Problem::not_found(format!("`{crawl}` has not begun")))?;
    match wanted.filter(|wanted| *wanted != latest.number) {
        Some(wanted) => load(reader, crawl, wanted, latest.number).await,
        None => Ok(latest),
    }
}

async fn load(
    reader: &impl Reader,
    crawl: &CrawlId,
    wanted: Iteration,
    newest: Iteration,
) -> Result<IterationRow, Problem> {
    let missing = || format!("the crawl `{crawl}` has no iteration {wanted}; the latest is {newest}");
    reader.load_iteration(wanted).await?.ok_or_else(|| Problem::not_found(missing()))
}

/// Returns the command that prints the same of a stack, and more of it than can be sent.
pub(crate) fn command(stack: &str, crawl: &CrawlId, printout: &Printout) -> String {
    let command = match printout {
        Printout::History { .. } => format!("history URL --crawl {crawl}"),
        Printout::Diff(_) => format!("diff {crawl}"),
        Printout::Backlinks { .. } => format!("links URL --ways in --crawl {crawl}"),
        Printout::Body(_) => format!("get URL --crawl {crawl}"),
        Printout::Report(_) => format!("report {crawl}"),
        Printout::Archive(_) => format!("archive {crawl} -o site.wacz"),
        Printout::Explain { .. } => format!("explain URL --crawl {crawl}"),
    };
    format!("dragline {command} --stack {stack}")
}
