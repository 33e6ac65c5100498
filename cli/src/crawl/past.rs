//! `dragline reparse --all`: makes the documents of all iterations again, without an iteration of its own.

use std::io::{self, Write};

use dragline_domain::definition::Definition;
use dragline_domain::frontier::IterationStatus;
use dragline_domain::ids::CrawlId;
use dragline_domain::remake::Remade;
use dragline_engine::{begin, local_world};
use dragline_local::{DATABASE, LocalStore, SystemClock};
use dragline_pipeline::parse::past::remake;
use dragline_ports::clock::Clock;
use serde::Serialize;

use super::notices::ConsoleNotifier;
use super::{given, which};
use crate::args::{Answer, CrawlArgs, Wish};
use crate::error::{CliError, while_doing};
use crate::exit::Exit;
use crate::place::Place;
use crate::terminal::{Console, Verbosity, plural, write_json};
use crate::{derived, markdown};

/// What was done. The field names are those of `--json`.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    place: Place,
    crawl: CrawlId,
    #[serde(flatten)]
    done: Remade,
}

/// Makes the documents of all iterations of a crawl in a data directory again, and reports what came of it on standard output.
///
/// # Errors
/// There is no such crawl, an iteration of it is not over, the definition is not valid, or the directory cannot be written.
pub(crate) async fn remake_all(args: &CrawlArgs, console: &Console) -> Result<Exit, CliError> {
    let data = args.data.as_path();
    let Wish::Reparse(selection) = args.wish()? else { return Ok(Exit::Done) };
    let given = given(args)?;
    if !data.join(DATABASE).is_file() {
        return Err(CliError::NothingToCrawl { data: data.to_owned() });
    }
    let (report, directory) = {
        let store = LocalStore::open(data, SystemClock::new().now())?;
        let (crawl, directory) = which(&store, given.as_ref(), None, args).await?;
        let world = local_world(&store, ConsoleNotifier::new(console.clone()));
        let held = begin::held(&world, &crawl).await?;
        let latest = held.as_ref().and_then(|held| held.latest.as_ref());
        let (Some(held), Some(latest)) = (&held, latest) else { return Err(CliError::NotBegun(directory)) };
        if latest.status != IterationStatus::Closed {
            return Err(CliError::NotOver { place: Place::Data(directory), crawl });
        }
        let wanted = match given {
            Some(given) => given,
            None => Definition::new(args.change(held.row.definition.clone().into_draft()))?,
        };
        begin::store(&world, Some(held), &wanted).await?;
        console.say(&format!("{crawl}: making the documents of all kept iterations again"));
        let done = remake(&world, &store.remaking(), &crawl, selection, env!("CARGO_PKG_VERSION")).await?;
        (Report { place: Place::Data(directory.clone()), crawl, done }, directory)
    };
    // What it says of pages may be that of another definition.
    derived::remove(&report.place, &report.crawl)?;
    print(args, &report, console).map_err(while_doing("writing to standard output"))?;
    if let Some(pages) = &args.output.markdown {
        markdown::write(pages, &directory.path, &report.crawl, console).await?;
    }
    Ok(if report.done.kept == 0 && report.done.misfits == 0 { Exit::Done } else { Exit::NotAllWell })
}

fn print(args: &CrawlArgs, report: &Report, console: &Console) -> io::Result<()> {
    match args.output.answer() {
        Answer::Json => write_json(io::stdout().lock(), report),
        Answer::Text if console.verbosity() == Verbosity::Quiet => Ok(()),
        Answer::Text => writeln!(io::stdout().lock(), "{}", text(report)),
    }
}

fn text(report: &Report) -> String {
    let Report { crawl, done: Remade { remade, different, misfits, kept }, .. } = report;
    let mut said =
        format!("{crawl}: {} made again, {different} of them with another content", plural(*remade, "document"));
    if *misfits > 0 {
        said.push_str(&format!("; {misfits} do not fit the definition's types"));
    }
    if *kept > 0 {
        said.push_str(&format!("; {kept} stay as they were, as their answers are missing or cannot be read"));
    }
    said
}
