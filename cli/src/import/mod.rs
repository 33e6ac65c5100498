//! `dragline import`: turns the archives of other programs into a crawl.

mod rounds;
mod said;

use std::ops::ControlFlow;
use std::path::Path;

use dragline_domain::definition::{Definition, Draft};
use dragline_domain::frontier::{IterationRow, IterationStatus, Task};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_engine::begin::{self, StoredCrawl};
use dragline_engine::local_world;
use dragline_import::{Archives, ImportError, Index};
use dragline_local::SystemClock;
use dragline_ports::clock::Clock as _;
use dragline_ports::error::{PortError, PortErrorKind};
use dragline_ports::reader::{Cursor, Filter, LogRow, Reader, each_row};
use jiff::Timestamp;

use crate::args::{Answer, ImportArgs};
use crate::crawl_handle;
use crate::definition_source::read_definition;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::location::Directory;
use crate::notify::CliNotifier;
use crate::summary;
use crate::terminal::{Console, write_json};

use rounds::Rounds;
use said::Report;

/// The number of visits per read.
const BATCH_ROWS: usize = 1_000;

/// Imports archives.
///
/// # Errors
/// The archives cannot be read or hold no answer, an iteration of the crawl is not over, or the
/// store failed.
pub(crate) async fn import(args: &ImportArgs, console: &Console) -> Result<Exit, Failure> {
    let archives = Archives::find(&args.files)?;
    // Reports a mistake before creating the directory.
    let given = args.definition.as_deref().map(definition_in).transpose()?;
    let rules = given.as_ref().map(|given| given.strip_query_parameters.clone()).unwrap_or_default();
    let mut index = read(&archives, &rules)?;
    let Some(first) = index.first(&archives, &rules) else {
        return Err(no_answers(&index));
    };
    let data = args.data();
    let crawl = given.as_ref().map(|given| given.name.clone()).or_else(|| args.crawl.clone());
    let crawl = crawl.unwrap_or_else(|| CrawlId::for_origin(&first.origin()));
    let store = args.waiting.open(data, console).await?;
    let directory = Directory::locate(data, &crawl, &store.crawls().await?);
    let world = local_world(&store, CliNotifier::printing(console));
    let held = begin::load_crawl(&world, &crawl).await?;
    let unfinished = interrupted_import(held.as_ref(), &directory)?;
    let wanted = match (given, &held) {
        (Some(given), _) => given,
        (None, Some(held)) => held.row.definition.clone(),
        (None, None) => definition(&crawl, first)?,
    };
    if wanted.strip_query_parameters != rules {
        index = read(&archives, &wanted.strip_query_parameters)?;
    }
    let mut report = Report::new((data, &crawl), &archives, &index);
    report.print_faults(console);
    let digest = index.digest();
    if held.is_some() {
        index.leave_out_known(visits(data, &crawl).await?.into_iter());
    }
    begin::store(&world, held.as_ref(), &wanted).await?;
    drop(world);
    let (captures, left_out) = index.into_rounds();
    report.left_out = said::by_reason(&left_out);
    if let Some(left_out) = said::describe_skipped(&left_out) {
        console.say(&format!("left out: {left_out}"));
    }
    let is_new = !captures.is_empty() || unfinished.is_some();
    let rounds = Rounds { store: &store, archives: &archives, directory: &directory, digest, console };
    for taken in rounds.take(&crawl, unfinished, captures).await? {
        report.iterations.push(taken.iteration.number());
        report.taken += taken.answers;
    }
    if args.answer() == Answer::Json {
        write_json(std::io::stdout().lock(), &report).map_err(while_writing)?;
    } else if is_new {
        let summary = summary::read_latest(data, &crawl).await?;
        console.say(&summary::text(&summary, None, console.colour()));
    } else {
        console.say("nothing is new: the crawl stays as it is");
    }
    Ok(if report.is_all_well() { Exit::Done } else { Exit::NotAllWell })
}

fn read(archives: &Archives, rules: &UrlRules) -> Result<Index, ImportError> {
    Index::read(archives, rules, SystemClock::new().now())
}

fn no_answers(index: &Index) -> Failure {
    let found = said::describe_skipped(&index.left_out).map(|found| format!("records {found}"));
    let parts: Vec<String> = found.into_iter().chain(index.faults.iter().cloned()).collect();
    let because = if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) };
    Failure::new(format!("there is no answer to import in the archives{because}"))
        .with_hints(said::remedy(&index.faults))
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        Self::from_error(&error).with_hints(error.hint())
    }
}

/// Returns the interrupted import; `None` if there is none.
fn interrupted_import(held: Option<&StoredCrawl>, directory: &Directory) -> Result<Option<IterationRow>, Failure> {
    let latest = held.and_then(|held| held.latest.clone());
    match latest.filter(|latest| latest.status != IterationStatus::Closed) {
        Some(row) if row.task != Task::Import || row.status == IterationStatus::Stopping => {
            Err(directory.unfinished_error(&row.crawl, row.number))
        }
        unfinished => Ok(unfinished),
    }
}

/// Returns the definition in a file.
fn definition_in(path: &Path) -> Result<Definition, Failure> {
    Ok(Definition::new(read_definition(path)?)?)
}

/// Returns the definition of a new crawl, whose seed is the first page of the archives.
fn definition(crawl: &CrawlId, first: CrawlUrl) -> Result<Definition, Failure> {
    Ok(Definition::new(Draft { name: crawl.clone(), ..Draft::for_seeds(vec![first]) })?)
}

/// Returns the URLs and times of all visits of a crawl.
async fn visits(data: &Path, crawl: &CrawlId) -> Result<Vec<(CrawlUrl, Timestamp)>, Failure> {
    let Some(found) = crawl_handle::in_directory(data, Some(crawl))? else { return Ok(Vec::new()) };
    let (reader, filter, mut visits) = (&found.reader, &Filter::default(), Vec::new());
    let mut damaged = None;
    let batch = |after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), BATCH_ROWS).await };
    let add = |row: LogRow| match CrawlUrl::parse(&row.url, &UrlRules::keep_all()) {
        Ok(url) => {
            visits.push((url, row.at));
            ControlFlow::Continue(())
        }
        Err(_) => {
            damaged = Some(PortError::new(PortErrorKind::Corrupt, "read the log", &row.url, "not a visit of a URL"));
            ControlFlow::Break(())
        }
    };
    each_row(batch, add).await.map_err(|error| found.read_error(error))?;
    damaged.map_or(Ok(visits), |error| Err(found.read_error(error)))
}
