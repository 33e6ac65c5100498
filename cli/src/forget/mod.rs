//! `dragline forget`: deletes everything stored about URLs.

use std::io::{self, Write};

use dragline_domain::definition::Condition;
use dragline_domain::frontier::IterationStatus;
use dragline_domain::ids::CrawlId;
use dragline_domain::url::CrawlUrl;
use dragline_local::{Compaction, LocalStore};
use dragline_pipeline::retention::forget as forget_urls;
use dragline_ports::archive::Archive;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Batch, Cursor, Filter, Reader, Rest};
use dragline_ports::retention::{ForgetTotals, Forgetting};
use serde::Serialize;

use crate::args::{Answer, CrawlSource, ForgetArgs};
use crate::crawl_handle::{self, CrawlHandle};
use crate::definition_source::parse_url;
use crate::derived_files;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::location::CrawlLocation;
#[cfg(feature = "stack")]
use crate::stack::StackCrawl;
use crate::terminal::{Console, plural, write_json};
use crate::url_visits;

/// The number of URLs per group. Each group reads the log once, and needs little memory.
const URLS_MAX: usize = 1_000;

/// The result. The field names are those of `--json`.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    place: CrawlLocation,
    crawl: CrawlId,
    urls: u64,
    visits: u64,
    documents: u64,
}

/// Forgets URLs of a crawl, and prints a report on standard output.
///
/// # Errors
/// A URL is not valid, there is no such crawl, one of its iterations is not over, the directory is
/// in use, or something cannot be deleted.
pub(crate) async fn forget(args: &ForgetArgs, console: &Console) -> Result<Exit, Failure> {
    // Reports a mistake in one before deleting anything.
    args.urls.iter().try_for_each(|url| parse_url(url).map(drop))?;
    match args.of.which()? {
        CrawlSource::Directory { data, crawl } => {
            let Some(found) = crawl_handle::in_directory(data, crawl)? else {
                return Err(crawl_handle::no_crawl_error(data));
            };
            let total = {
                let store = args.waiting.open(data.path, console).await?;
                forget_from(&found, &store.retained(), &store.archive(), args).await?
            };
            let CrawlHandle { place, crawl, reader, .. } = found;
            // The database is rewritten, and must not be read meanwhile.
            drop(reader);
            derived_files::remove(&place, &crawl)?;
            args.waiting.when_free(console, || LocalStore::compact(data.path, Compaction::IfOwed)).await?;
            report(args, (place, crawl), total, console)
        }
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => {
            let StackCrawl { found, retained, archive, next_start } = crate::stack::find_retained(crawl, stack).await?;
            let total = forget_from(&found, &retained, &archive, args).await?;
            derived_files::remove(&found.place, &found.crawl)?;
            if let Some(next) = next_start.filter(|_| total.urls > 0) {
                console.hint(&format!(
                    "the schedule of `{}` begins its next crawl at {next}, unless it is changed or removed before",
                    found.crawl
                ));
            }
            report(args, (found.place, found.crawl), total, console)
        }
    }
}

fn report(
    args: &ForgetArgs,
    (place, crawl): (CrawlLocation, CrawlId),
    total: ForgetTotals,
    console: &Console,
) -> Result<Exit, Failure> {
    let ForgetTotals { urls, visits, documents } = total;
    let report = Report { place, crawl, urls, visits, documents };
    print(args.answer(), &report).map_err(while_writing)?;
    if urls > 0 {
        console.hint("a seed, or a URL that a new or changed page links to, is found again by the next crawl unless its definition excludes it");
    }
    Ok(Exit::Done)
}

/// Forgets the named URLs and those that match the condition.
async fn forget_from(
    found: &CrawlHandle<impl Reader>,
    forgetting: &impl Forgetting,
    archive: &impl Archive,
    args: &ForgetArgs,
) -> Result<ForgetTotals, Failure> {
    let latest = async || found.reader.latest_iteration().await.map_err(|error| found.read_error(error));
    let before = latest().await?;
    if before.as_ref().is_some_and(|latest| latest.status != IterationStatus::Closed) {
        return Err(found.place.not_over_error(&found.crawl));
    }
    let (forget, mut total) = (Forget { found, forgetting, archive }, ForgetTotals::default());
    for texts in args.urls.chunks(URLS_MAX) {
        let mut urls = Vec::with_capacity(texts.len());
        for text in texts {
            urls.push(url_visits::resolve_url(found, text).await?);
        }
        forget.some(&urls, &mut total).await?;
    }
    if let Some(condition) = &args.condition {
        forget.matching(condition, &mut total).await?;
    }
    // A data directory is locked, but a stack's schedule may start an iteration at any time.
    if latest().await?.map(|latest| latest.number) != before.map(|before| before.number) {
        let message = "began while its URLs were forgotten, so it may have visited them";
        return Err(Failure::new(format!("an iteration of `{}` {message}", found.crawl))
            .with_hint("run the same command again when that iteration is over"));
    }
    Ok(total)
}

/// The deletion of URLs, group by group.
struct Forget<'s, R, F, A> {
    found: &'s CrawlHandle<R>,
    forgetting: &'s F,
    archive: &'s A,
}

impl<R: Reader, F: Forgetting, A: Archive> Forget<'_, R, F, A> {
    async fn some(&self, urls: &[CrawlUrl], total: &mut ForgetTotals) -> Result<(), Failure> {
        if urls.is_empty() {
            return Ok(());
        }
        let forgotten = forget_urls(self.forgetting, self.archive, &self.found.crawl, urls).await;
        let forgotten = forgotten.map_err(|error| self.found.object_error(error))?;
        total.urls += forgotten.urls;
        total.visits += forgotten.visits;
        total.documents += forgotten.documents;
        Ok(())
    }

    /// Forgets the matching URLs: known ones, and those that are only in the log because a rule
    /// forbade them.
    async fn matching(&self, condition: &Condition, total: &mut ForgetTotals) -> Result<(), Failure> {
        let (filter, reader) = (Filter::default(), &self.found.reader);
        let candidates = async |after: Option<&Cursor>| reader.candidates(&filter, after, URLS_MAX).await;
        self.each(condition, total, candidates, |row| row.url).await?;
        let log = async |after: Option<&Cursor>| reader.log(&filter, after, URLS_MAX).await;
        self.each(condition, total, log, |row| row.url).await
    }

    /// Reads rows batch by batch, and forgets the matching URLs of each batch.
    async fn each<T>(
        &self,
        condition: &Condition,
        total: &mut ForgetTotals,
        read: impl AsyncFn(Option<&Cursor>) -> PortResult<Batch<T>>,
        url: impl Fn(T) -> String,
    ) -> Result<(), Failure> {
        let mut after: Option<Cursor> = None;
        loop {
            let batch = read(after.as_ref()).await.map_err(|error| self.found.read_error(error))?;
            self.some(&matching(condition, batch.rows.into_iter().map(&url)), total).await?;
            after = batch.cursor;
            if batch.rest == Rest::Nothing {
                return Ok(());
            }
        }
    }
}

/// Returns the URLs that match a condition, without duplicates.
fn matching(condition: &Condition, urls: impl Iterator<Item = String>) -> Vec<CrawlUrl> {
    let mut matching: Vec<CrawlUrl> =
        urls.filter_map(|url| CrawlUrl::try_from(url).ok()).filter(|url| condition.matches(url)).collect();
    matching.sort_unstable();
    matching.dedup();
    matching
}

fn print(answer: Answer, report: &Report) -> io::Result<()> {
    match answer {
        Answer::Json => write_json(io::stdout().lock(), report),
        Answer::Text => writeln!(io::stdout().lock(), "{}", text(report)),
    }
}

fn text(report: &Report) -> String {
    let Report { crawl, urls, visits, documents, .. } = report;
    if *urls == 0 {
        return format!("{crawl}: nothing is stored of these URLs");
    }
    format!(
        "{crawl}: {} forgotten, with {} and {}",
        plural(*urls, "URL"),
        plural(*visits, "visit"),
        plural(*documents, "document")
    )
}
