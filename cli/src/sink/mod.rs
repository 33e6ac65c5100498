//! Results in a database or in Parquet files, as definitions and `--sink` say
//! (docs/reference/sink.md).

mod place;
mod progress;
mod upkeep;

use std::path::{Path, PathBuf};
use std::time::Duration;

use dragline_domain::definition::Draft;
use dragline_domain::ids::CrawlId;
use dragline_domain::shown;
use dragline_local::LocalStore;
use dragline_sink::Destination;

use crate::args::SinkArgs;
use crate::crawl_handle::cannot_query;
use crate::error::Failure;
use crate::terminal::Console;

pub(crate) use place::parse_place;
pub(crate) use progress::{SinkProgress, sink_failure};
pub(crate) use upkeep::keep_all;

use place::Directories;

/// How long a run waits at its end for a database that does not answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the results of a data directory's crawls are written, besides there.
#[derive(Clone)]
pub(crate) struct Sinks {
    data: PathBuf,
    /// The destinations of all crawls.
    everywhere: Vec<Destination>,
    directories: Directories,
}

impl Sinks {
    /// Returns the destinations of a command that the definition's author runs.
    ///
    /// # Errors
    /// A place is not valid, or the variable or the file with its address cannot be read.
    pub(crate) fn for_run(args: &SinkArgs, data: &Path) -> Result<Self, Failure> {
        Self::new(args, data, Directories::Any)
    }

    /// Returns the destinations of a server.
    ///
    /// # Errors
    /// A place is not valid, or the variable or the file with its address cannot be read.
    pub(crate) fn for_server(args: &SinkArgs, data: &Path) -> Result<Self, Failure> {
        Self::new(args, data, Directories::InData)
    }

    fn new(args: &SinkArgs, data: &Path, directories: Directories) -> Result<Self, Failure> {
        let everywhere = args.places.iter().map(|place| parse_place(place, "--sink")).collect::<Result<_, _>>()?;
        Ok(Self { data: data.to_owned(), everywhere, directories })
    }

    /// Returns the destinations of a crawl: those of its definition, and of all crawls.
    ///
    /// # Errors
    /// A reference names nothing that can be read, or a directory is none that it may name.
    pub(crate) fn destinations(&self, definition: &Draft) -> Result<Vec<Destination>, Failure> {
        let mut all = place::places_in_definition(definition, &self.data, self.directories)?;
        all.extend(self.everywhere.iter().cloned());
        Ok(all)
    }
}

/// Writes what is new in a crawl to its destinations, and says how much that was.
///
/// # Errors
/// The crawl cannot be read, or its results cannot be written somewhere.
pub(crate) async fn write_all(
    destinations: Vec<Destination>,
    (data, crawl): (&Path, &CrawlId),
    console: &Console,
) -> Result<(), Failure> {
    for destination in destinations {
        let destination = match destination {
            Destination::Database(mut target) => {
                target.patience = PATIENCE;
                Destination::Database(target)
            }
            directory @ Destination::Directory(_) => directory,
        };
        let reader = LocalStore::open_read_only(data)?.into_reader(crawl.clone());
        let progress = SinkProgress::new(console);
        let written = destination.write(&reader, crawl, &|event| progress.show(&event)).await;
        let totals = written.map_err(|error| {
            let failure = sink_failure(error, cannot_query(data));
            Failure {
                message: format!("the results are stored, but not in {destination}: {}", failure.message),
                ..failure
            }
        })?;
        console.say(&format!(
            "{} written to {destination}, {} removed",
            shown::plural(totals.changed, "row"),
            shown::count(totals.removed)
        ));
    }
    Ok(())
}
