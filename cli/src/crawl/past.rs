//! `dragline reparse --all` in a data directory.

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{IterationStatus, Selection};
use dragline_engine::{begin, local_world};
use dragline_local::DATABASE;
use dragline_ports::remaking::Remaking;

use super::{nothing_to_crawl, stored_crawl};
use crate::args::RunArgs;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::location::{CrawlLocation, Directory};
use crate::notify::CliNotifier;
use crate::past::{self, Report};
use crate::terminal::Console;
use crate::{derived_files, markdown};

/// Rebuilds the documents of all iterations of a crawl in a data directory, and prints a report on
/// standard output.
///
/// # Errors
/// There is no such crawl, one of its iterations is not over, the definition is not valid, or the
/// directory cannot be written.
pub(crate) async fn remake_all(run: &RunArgs<'_>, selection: Selection, console: &Console) -> Result<Exit, Failure> {
    let given = run.definition()?;
    if !run.data.join(DATABASE).is_file() {
        return Err(nothing_to_crawl(run.data));
    }
    let (report, directory) = {
        let store = run.disk.waiting.open(run.data, console).await?;
        let crawls = store.crawls().await?;
        let crawl = stored_crawl(run, &crawls, given.as_ref().map(|given| &given.name).or(run.crawl.as_ref()))?;
        let directory = Directory::locate(run.data, &crawl, &crawls);
        let world = local_world(&store, CliNotifier::printing(console));
        let held = begin::load_crawl(&world, &crawl).await?;
        let latest = held.as_ref().and_then(|held| held.latest.as_ref());
        let (Some(held), Some(latest)) = (&held, latest) else { return Err(directory.not_begun_error()) };
        let place = CrawlLocation::Data(directory.clone());
        if latest.status != IterationStatus::Closed {
            // Checked before the definition is stored, as the open iteration would adopt it.
            return Err(place.not_over_error(&crawl));
        }
        let wanted = match given {
            Some(given) => given,
            None => Definition::new(run.change(held.row.definition.clone().into_draft()))?,
        };
        begin::store(&world, Some(held), &wanted).await?;
        let remaking = store.remaking();
        let (job, done) = past::remake_all(&world, &remaking, (&crawl, &place), selection, console).await?;
        // The derived files may describe pages by the old definition.
        derived_files::remove(&place, &crawl)?;
        remaking.end_remake(&crawl, &job).await?;
        (Report { place, crawl, done }, directory)
    };
    report.print(run.output.answer(), console).map_err(while_writing)?;
    if let Some(pages) = &run.output.markdown {
        markdown::write(pages, &directory.path, &report.crawl, console).await?;
    }
    Ok(report.exit())
}
