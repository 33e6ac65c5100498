//! What is derived from a crawl, and can be made again at any time: the link graph and the word index. They are kept with the data, or for a stack in
//! the user's cache.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
#[cfg(feature = "stack")]
use std::sync::Arc;

use dragline_domain::ids::CrawlId;
use dragline_graph::{Graph, GraphError};
#[cfg(feature = "stack")]
use dragline_ports::editions::Editions;
use dragline_ports::reader::Reader;
#[cfg(feature = "stack")]
use dragline_search::{Blocks, Edition};
use dragline_search::{Index, SearchError, Updated};

use crate::error::{CliError, while_doing};
use crate::found::Found;
use crate::place::Place;
use crate::terminal::{Console, plural};

/// Opens the graph of a crawl, which is made first if the crawl has gone on.
///
/// # Errors
/// Nothing was crawled yet, the crawl cannot be read, or the file cannot be written.
pub(crate) async fn graph(found: &Found<impl Reader>, console: &Console) -> Result<Graph, CliError> {
    // Which tells what to do if nothing was crawled yet.
    found.iteration(None).await?;
    let making = || console.say("reading the links of the crawl, once until it goes on");
    Graph::up_to_date(&found.reader, &graph_path(&found.place, &found.crawl), making).await.map_err(|error| match error
    {
        GraphError::Reader(error) => found.failed(error),
        error => error.into(),
    })
}

/// Opens the word index of a crawl, which is brought up to date first if the crawl has gone on.
///
/// # Errors
/// Nothing was crawled yet, the crawl cannot be read, or the folder cannot be written.
pub(crate) async fn index(found: &Found<impl Reader>, console: &Console) -> Result<Index, CliError> {
    let graph = graph(found, console).await?;
    let making = || console.say("bringing the word index up to date, once until the crawl goes on");
    let folder = index_path(&found.place, &found.crawl);
    let updated = Index::up_to_date(&found.reader, &graph, &folder, making).await;
    let (index, updated) = updated.map_err(|error| match error {
        SearchError::Reader(error) => found.failed(error),
        error => error.into(),
    })?;
    match updated {
        Updated::Already => {}
        Updated::Changed(changes) => console.say(&format!(
            "{} indexed, {} as they were, {} removed",
            plural(changes.written, "page"),
            changes.unchanged,
            changes.removed
        )),
        Updated::ByAnother => {
            console.say("another process is bringing the word index up to date; this is what it was before");
        }
    }
    Ok(index)
}

/// How much of what was read of a published index is kept in memory, in bytes.
#[cfg(feature = "stack")]
const BLOCKS_BYTES_MAX: u64 = 64 << 20;

/// Opens the word index that a stack published of a crawl, where it is. Without one that this program can read, it is made as that of a data directory.
///
/// # Errors
/// Nothing was crawled yet, the crawl cannot be read, or the folder cannot be written.
#[cfg(feature = "stack")]
pub(crate) async fn published_index(
    found: &Found<impl Reader>,
    editions: &impl Editions,
    console: &Console,
) -> Result<Index, CliError> {
    found.iteration(None).await?;
    let stored = editions.newest_edition(&found.crawl).await.map_err(|error| found.failed(error))?;
    let Some(edition) = stored.and_then(|stored| Edition::from_json(&stored.text)) else {
        return index(found, console).await;
    };
    let index = Index::open_published(editions, &found.crawl, edition, Arc::new(Blocks::new(BLOCKS_BYTES_MAX))).await?;
    let now = Graph::made_from_now(&found.reader).await?;
    if !index.is_made_from(&now)? {
        console.say(
            "the crawl has gone on since its word index was published; the next one follows when an iteration is over",
        );
    }
    Ok(index)
}

/// Deletes what is derived from a crawl, as what it says of a URL may not be kept. It is made again when it is asked for.
///
/// # Errors
/// It cannot be deleted.
pub(crate) fn remove(place: &Place, crawl: &CrawlId) -> Result<(), CliError> {
    let unless_missing = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    };
    unless_missing(fs::remove_file(graph_path(place, crawl))).map_err(while_doing("deleting the link graph"))?;
    unless_missing(fs::remove_dir_all(index_path(place, crawl))).map_err(while_doing("deleting the word index"))
}

/// Returns the file of a crawl's graph. Names of crawls and stacks can be names of files.
fn graph_path(place: &Place, crawl: &CrawlId) -> PathBuf {
    let folder = match place {
        Place::Data(directory) => directory.path.join("graph"),
        #[cfg(feature = "stack")]
        Place::Stack(stack) => cache().join("dragline").join(stack.to_string()),
    };
    folder.join(format!("{crawl}.db"))
}

/// Returns the folder of a crawl's word index.
fn index_path(place: &Place, crawl: &CrawlId) -> PathBuf {
    let folder = match place {
        Place::Data(directory) => directory.path.join("search"),
        #[cfg(feature = "stack")]
        Place::Stack(stack) => cache().join("dragline").join(stack.to_string()).join("search"),
    };
    folder.join(crawl.to_string())
}

/// Returns the folder for what can be made again, as the XDG base directory specification names it.
#[cfg(feature = "stack")]
fn cache() -> PathBuf {
    let given = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache"))).unwrap_or_else(std::env::temp_dir)
}
