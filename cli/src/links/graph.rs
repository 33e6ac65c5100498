//! Where the link graph is kept: with the data, or for a stack in the user's cache.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use dragline_domain::ids::CrawlId;
use dragline_graph::{Graph, GraphError};
use dragline_ports::reader::Reader;

use crate::args::Of;
use crate::error::{CliError, while_doing};
use crate::found::{self, Found};
use crate::place::Place;
use crate::terminal::Console;

/// Opens the graph of the crawl that arguments name.
///
/// # Errors
/// There is no such crawl, or as [`open`].
pub(super) async fn of(crawl: Of<'_>, console: &Console) -> Result<Graph, CliError> {
    match crawl {
        Of::Directory { data, crawl } => match found::in_directory(data, crawl)? {
            Some(found) => open(&found, console).await,
            None => Err(found::nothing_begun(data)),
        },
        #[cfg(feature = "stack")]
        Of::Stack { crawl, stack } => open(&crate::stack::find(crawl, stack).await?, console).await,
    }
}

/// Opens the graph of a crawl, which is made first if the crawl has gone on.
///
/// # Errors
/// Nothing was crawled yet, the crawl cannot be read, or the file cannot be written.
pub(crate) async fn open(found: &Found<impl Reader>, console: &Console) -> Result<Graph, CliError> {
    // Which tells what to do if nothing was crawled yet.
    found.iteration(None).await?;
    let making = || console.say("reading the links of the crawl, once until it goes on");
    Graph::up_to_date(&found.reader, &path_of(&found.place, &found.crawl), making).await.map_err(|error| match error {
        GraphError::Reader(error) => found.failed(error),
        error => error.into(),
    })
}

/// Deletes the graph of a crawl, as what it says of a URL may not be kept. It is made again when it is asked for.
///
/// # Errors
/// It cannot be deleted.
pub(crate) fn remove(place: &Place, crawl: &CrawlId) -> Result<(), CliError> {
    match fs::remove_file(path_of(place, crawl)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(while_doing("deleting the link graph")(error)),
        _ => Ok(()),
    }
}

/// Returns the file of a crawl's graph. Names of crawls and stacks can be names of files.
fn path_of(place: &Place, crawl: &CrawlId) -> PathBuf {
    let folder = match place {
        Place::Data(directory) => directory.path.join("graph"),
        #[cfg(feature = "stack")]
        Place::Stack(stack) => cache().join("dragline").join(stack.to_string()),
    };
    folder.join(format!("{crawl}.db"))
}

/// Returns the folder for what can be made again, as the XDG base directory specification names it.
#[cfg(feature = "stack")]
fn cache() -> PathBuf {
    let given = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache"))).unwrap_or_else(std::env::temp_dir)
}
