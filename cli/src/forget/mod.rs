//! `dragline forget`: deletes everything that is stored of URLs.

use std::io::{self, Write};
use std::path::Path;

use dragline_domain::definition::Condition;
use dragline_domain::frontier::IterationStatus;
use dragline_domain::ids::CrawlId;
use dragline_domain::url::CrawlUrl;
use dragline_local::{Compaction, LocalStore, SystemClock};
use dragline_pipeline::retention::forget as forget_urls;
use dragline_ports::clock::Clock;
use dragline_ports::frontier::Iterations;
use dragline_ports::reader::{Cursor, Filter, Reader, Rest};
use dragline_ports::retention::Forgotten;
use serde::Serialize;

use crate::args::{Answer, ForgetArgs};
use crate::error::{CliError, while_doing};
use crate::exit::Exit;
use crate::found;
use crate::place::Directory;
use crate::source::parse_url;
use crate::terminal::{Console, plural, write_json};

/// How many URLs are forgotten together: each group reads the log once, and needs little memory.
const URLS_MAX: usize = 1_000;

/// What was forgotten. The field names are those of `--json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    data: &'a Path,
    crawl: CrawlId,
    urls: u64,
    visits: u64,
    documents: u64,
}

/// Forgets URLs of a crawl in a data directory, and prints what was deleted on standard output.
///
/// # Errors
/// A URL is not valid, there is no such crawl, an iteration of it is not over, the directory is in use, or something cannot be deleted.
pub(crate) async fn forget(args: &ForgetArgs, console: &Console) -> Result<Exit, CliError> {
    let named = args.urls.iter().map(|url| parse_url(url)).collect::<Result<Vec<_>, _>>()?;
    let data = args.stored.data();
    let crawls = found::crawls(data)?;
    let Some(crawl) = found::choose(data, &crawls, args.stored.crawl())? else {
        return Err(found::nothing_begun(data));
    };
    let mut total = Forgotten::default();
    {
        let store = LocalStore::open(data, SystemClock::new().now())?;
        let latest = store.frontier().latest_iteration(&crawl).await?;
        if latest.is_some_and(|latest| latest.status != IterationStatus::Closed) {
            return Err(CliError::NotOver { directory: Directory::of(data, &crawl, &crawls), crawl });
        }
        let forget = Forget { store: &store, crawl: &crawl };
        for urls in named.chunks(URLS_MAX) {
            forget.some(urls, &mut total).await?;
        }
        if let Some(condition) = &args.condition {
            forget.matching(data, condition, &mut total).await?;
        }
    }
    if total != Forgotten::default() {
        LocalStore::compact(data, Compaction::Always)?;
    }
    let Forgotten { urls, visits, documents } = total;
    let report = Report { data, crawl, urls, visits, documents };
    print(args.answer(), &report).map_err(while_doing("writing to standard output"))?;
    if urls > 0 {
        console.hint("a seed, or a URL that a new or changed page links to, is found again by the next crawl unless its definition excludes it");
    }
    Ok(Exit::Done)
}

/// Forgetting, group by group.
struct Forget<'s> {
    store: &'s LocalStore,
    crawl: &'s CrawlId,
}

impl Forget<'_> {
    async fn some(&self, urls: &[CrawlUrl], total: &mut Forgotten) -> Result<(), CliError> {
        if urls.is_empty() {
            return Ok(());
        }
        let forgotten = forget_urls(&self.store.retained(), &self.store.archive(), self.crawl, urls).await?;
        total.urls += forgotten.urls;
        total.visits += forgotten.visits;
        total.documents += forgotten.documents;
        Ok(())
    }

    /// Forgets each URL for which the condition holds: those that are known, and those that are only in the log, as a rule forbade them.
    async fn matching(&self, data: &Path, condition: &Condition, total: &mut Forgotten) -> Result<(), CliError> {
        let failed = |source| CliError::Query { data: data.to_owned(), source };
        let reader = LocalStore::open_read_only(data)?.into_reader(self.crawl.clone());
        let filter = Filter::default();
        let mut after: Option<Cursor> = None;
        loop {
            let batch = reader.candidates(&filter, after.as_ref(), URLS_MAX).await.map_err(failed)?;
            let urls = matching(condition, batch.rows.into_iter().map(|row| row.url));
            self.some(&urls, total).await?;
            after = batch.cursor;
            if batch.rest == Rest::Nothing {
                break;
            }
        }
        after = None;
        loop {
            let batch = reader.log(&filter, after.as_ref(), URLS_MAX).await.map_err(failed)?;
            let urls = matching(condition, batch.rows.into_iter().map(|row| row.url));
            self.some(&urls, total).await?;
            after = batch.cursor;
            if batch.rest == Rest::Nothing {
                return Ok(());
            }
        }
    }
}

/// Returns the URLs for which a condition holds, each once.
fn matching(condition: &Condition, urls: impl Iterator<Item = String>) -> Vec<CrawlUrl> {
    let mut matching: Vec<CrawlUrl> =
        urls.filter_map(|url| CrawlUrl::try_from(url).ok()).filter(|url| condition.matches(url)).collect();
    matching.sort_unstable();
    matching.dedup();
    matching
}

fn print(answer: Answer, report: &Report<'_>) -> io::Result<()> {
    match answer {
        Answer::Json => write_json(io::stdout().lock(), report),
        Answer::Text => writeln!(io::stdout().lock(), "{}", text(report)),
    }
}

fn text(report: &Report<'_>) -> String {
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
