//! Files derived from a crawl: the link graph and the word index. You can delete them; they will be
//! rebuilt. They are kept beside the data, or in the user's cache for a stack and for a directory
//! that cannot be written.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
#[cfg(feature = "stack")]
use std::sync::Arc;

use dragline_domain::ids::CrawlId;
use dragline_graph::{Graph, GraphError};
use dragline_local::{GRAPHS, INDEXES};
#[cfg(feature = "stack")]
use dragline_ports::editions::Editions;
use dragline_ports::reader::Reader;
#[cfg(feature = "stack")]
use dragline_search::{Blocks, Edition};
use dragline_search::{Index, SearchError, UpdateResult};

use crate::crawl_handle::CrawlHandle;
use crate::error::{Failure, while_doing};
use crate::exit::Exit;
use crate::location::CrawlLocation;
use crate::terminal::{Console, plural};

/// How often a file is rebuilt because URLs were forgotten meanwhile.
const MADE_MAX: u32 = 3;

/// Opens the link graph of a crawl, and rebuilds it first if the crawl has progressed.
///
/// # Errors
/// Nothing was crawled yet, the crawl cannot be read, or the file cannot be written.
pub(crate) async fn graph(found: &CrawlHandle<impl Reader>, console: &Console) -> Result<Graph, Failure> {
    rebuild_if_forgotten(found, async || make_graph(found, console).await).await
}

/// Builds the graph if the crawl has progressed, without regard to URLs forgotten meanwhile.
async fn make_graph(found: &CrawlHandle<impl Reader>, console: &Console) -> Result<Graph, Failure> {
    // Fails with a hint if nothing was crawled yet.
    found.iteration(None).await?;
    let path = graph_path(&found.place, &found.crawl);
    let making = || console.say("reading the links of the crawl, once until it goes on");
    let made = Graph::up_to_date(&found.reader, &path, making).await;
    made.map_err(|error| match error {
        GraphError::Reader(error) => found.read_error(error),
        error => error.into(),
    })
}

/// Opens the word index of a crawl, and updates it first if the crawl has progressed.
///
/// # Errors
/// Nothing was crawled yet, the crawl cannot be read, or the folder cannot be written.
pub(crate) async fn index(found: &CrawlHandle<impl Reader>, console: &Console) -> Result<Index, Failure> {
    let folder = index_path(&found.place, &found.crawl);
    let (index, updated) = rebuild_if_forgotten(found, async || {
        let graph = make_graph(found, console).await?;
        let making = || console.say("bringing the word index up to date, once until the crawl goes on");
        let updated = Index::up_to_date(&found.reader, &graph, &folder, making).await;
        updated.map_err(|error| match error {
            SearchError::Reader(error) => found.read_error(error),
            error => error.into(),
        })
    })
    .await?;
    match updated {
        UpdateResult::Already => {}
        UpdateResult::Changed(changes) => console.say(&format!(
            "{} indexed, {} as they were, {} removed",
            plural(changes.written, "page"),
            changes.unchanged,
            changes.removed
        )),
        UpdateResult::ByAnother => {
            console.say("another process is bringing the word index up to date; this is what it was before");
        }
    }
    Ok(index)
}

/// Derives something from a crawl. If URLs were forgotten meanwhile, the result may contain them:
/// it is deleted and rebuilt.
///
/// # Errors
/// The error of `make`, or URLs were forgotten each time.
async fn rebuild_if_forgotten<T>(
    found: &CrawlHandle<impl Reader>,
    make: impl AsyncFn() -> Result<T, Failure>,
) -> Result<T, Failure> {
    for _time in 0..MADE_MAX {
        let before = times_forgotten(found).await?;
        let made = make().await?;
        if times_forgotten(found).await? == before {
            return Ok(made);
        }
        drop(made);
        remove(&found.place, &found.crawl)?;
    }
    Err(forgotten_error(&found.crawl))
}

/// Checks that no URL was forgotten since the count `before` was read. Call it before writing
/// anything read since.
///
/// # Errors
/// URLs were forgotten, or the count cannot be read.
pub(crate) async fn check_forgotten(found: &CrawlHandle<impl Reader>, before: u64) -> Result<(), Failure> {
    if times_forgotten(found).await? == before { Ok(()) } else { Err(forgotten_error(&found.crawl)) }
}

fn forgotten_error(crawl: &CrawlId) -> Failure {
    let message = "were forgotten meanwhile, so what was made may have them, and is not kept";
    Failure::new(format!("URLs of `{crawl}` {message}")).with_hint("run the same command again")
}

impl From<GraphError> for Failure {
    fn from(error: GraphError) -> Self {
        let hint = match &error {
            GraphError::File { path, .. } => Some(rebuild_hint(path)),
            GraphError::Reader(_) | GraphError::NotBegun => None,
        };
        Self::from_error(&error).with_hints(hint)
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        let failure = Self::from_error(&error);
        match &error {
            SearchError::Index { folder, .. } => failure.with_hint(rebuild_hint(folder)),
            SearchError::Busy { .. } => Self { exit: Exit::InUse, ..failure }.with_hint("try again when it is done"),
            SearchError::Reader(_) | SearchError::Graph(_) | SearchError::Query(_) => failure,
        }
    }
}

/// Returns the hint for a derived file that is damaged or cannot be written.
fn rebuild_hint(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path).display();
    format!("you can delete it, and it will be rebuilt; {folder} must be writable")
}

/// Returns how many times URLs were forgotten in the store of a crawl.
pub(crate) async fn times_forgotten(found: &CrawlHandle<impl Reader>) -> Result<u64, Failure> {
    found.reader.times_forgotten().await.map_err(|error| found.read_error(error))
}

/// The size of the cache for blocks of a published index, in bytes.
#[cfg(feature = "stack")]
const BLOCKS_BYTES_MAX: u64 = 64 << 20;

/// Opens the word index of a crawl that a stack published, in place. If there is none that this
/// program can read, builds one as for a data directory.
///
/// # Errors
/// Nothing was crawled yet, the crawl cannot be read, or the folder cannot be written.
#[cfg(feature = "stack")]
pub(crate) async fn published_index(
    found: &CrawlHandle<impl Reader>,
    editions: &impl Editions,
    console: &Console,
) -> Result<Index, Failure> {
    found.iteration(None).await?;
    let stored = editions.newest_edition(&found.crawl).await.map_err(|error| found.read_error(error))?;
    let Some(edition) = stored.and_then(|stored| Edition::from_json(&stored.text)) else {
        return index(found, console).await;
    };
    let index = Index::open_published(editions, &found.crawl, edition, Arc::new(Blocks::new(BLOCKS_BYTES_MAX))).await?;
    let now = Graph::current_source_state(&found.reader).await?;
    if !index.is_built_from(&now)? {
        console.say(
            "the crawl has gone on since its word index was published; the next one follows when an iteration is over",
        );
    }
    Ok(index)
}

/// Deletes the derived files of a crawl, as they may contain forgotten URLs. They will be rebuilt
/// on demand.
///
/// # Errors
/// A file cannot be deleted.
pub(crate) fn remove(place: &CrawlLocation, crawl: &CrawlId) -> Result<(), Failure> {
    let unless_missing = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    };
    for folder in folders(place) {
        let graph = folder.join(GRAPHS).join(graph_file_name(crawl));
        unless_missing(fs::remove_file(graph)).map_err(while_doing("deleting the link graph"))?;
        let index = folder.join(INDEXES).join(crawl.as_str());
        unless_missing(fs::remove_dir_all(index)).map_err(while_doing("deleting the word index"))?;
    }
    Ok(())
}

/// Returns the path of a crawl's graph.
fn graph_path(place: &CrawlLocation, crawl: &CrawlId) -> PathBuf {
    writable_folder(place, GRAPHS).join(graph_file_name(crawl))
}

/// Returns the path of a crawl's word index.
fn index_path(place: &CrawlLocation, crawl: &CrawlId) -> PathBuf {
    writable_folder(place, INDEXES).join(crawl.as_str())
}

/// Returns the name of a graph's file. Crawl names are valid file names.
fn graph_file_name(crawl: &CrawlId) -> String {
    format!("{crawl}.db")
}

/// Returns a writable folder of this kind: beside the data if possible, otherwise in the user's
/// cache. A data directory that is not writable itself is left alone, even if a folder in it is.
fn writable_folder(place: &CrawlLocation, kind: &str) -> PathBuf {
    let mut folders = folders(place).into_iter();
    let is_writable = |folder: &Path| tempfile::tempfile_in(folder).is_ok();
    let first = folders.next().unwrap_or_default();
    let of_kind = first.join(kind);
    match folders.next() {
        Some(cached) if !(is_writable(&first) && fs::create_dir_all(&of_kind).is_ok() && is_writable(&of_kind)) => {
            cached.join(kind)
        }
        _ => of_kind,
    }
}

/// Returns the candidate folders for a crawl's derived files, the best first.
fn folders(place: &CrawlLocation) -> Vec<PathBuf> {
    match place {
        CrawlLocation::Data(directory) => {
            let path = directory.path.canonicalize().unwrap_or_else(|_| directory.path.clone());
            let beneath = path.strip_prefix("/").map_or(path.as_path(), |beneath| beneath);
            // The whole path, so that no two directories share a folder.
            let cached = |cache: PathBuf| cache.join("data").join(beneath);
            match &directory.cache {
                Some(cache) => vec![cached(cache.clone())],
                None => vec![directory.path.clone(), cached(cache().join("dragline"))],
            }
        }
        #[cfg(feature = "stack")]
        CrawlLocation::Stack(stack) => vec![cache().join("dragline").join(stack.to_string())],
    }
}

/// Returns the user's cache folder, by the XDG base directory specification.
fn cache() -> PathBuf {
    let given = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache"))).unwrap_or_else(std::env::temp_dir)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use dragline_domain::definition::{Nofollow, Noindex};
    use dragline_local::{DATABASE, LocalStore, SystemClock};
    use dragline_ports::clock::Clock as _;

    use super::*;
    use crate::crawl_handle::Certificates;
    use crate::location::Directory;

    #[tokio::test]
    async fn urls_forgotten_during_a_build_are_not_in_the_result() {
        let data = tempfile::tempdir().unwrap();
        drop(LocalStore::open(data.path(), SystemClock::new().now()).unwrap());
        let crawl: CrawlId = "docs".parse().unwrap();
        let found = CrawlHandle {
            reader: LocalStore::open_read_only(data.path()).unwrap().into_reader(crawl.clone()),
            place: CrawlLocation::Data(Directory::with_only_crawl(data.path())),
            certificates: Certificates::Checked,
            ignored_robots: Vec::new(),
            nofollow: Nofollow::default(),
            noindex: Noindex::default(),
            crawl,
        };
        let path = graph_path(&found.place, &found.crawl);
        let forget = |times: u32| {
            let db = rusqlite::Connection::open(data.path().join(DATABASE)).unwrap();
            let sql = "INSERT OR REPLACE INTO setting (name, value) VALUES ('forgotten', ?1)";
            db.execute(sql, [times.to_string()]).unwrap();
        };
        for (forgotten_for, expected, why) in
            [(0, Some(1), "nothing was forgotten"), (1, Some(2), "made again"), (MADE_MAX, None, "each time")]
        {
            forget(0);
            let times = Cell::new(0);
            let made = rebuild_if_forgotten(&found, async || {
                assert!(times.get() == 0 || !path.exists(), "{why}: what was made before is gone");
                times.set(times.get() + 1);
                fs::write(&path, "a page").unwrap();
                if times.get() <= forgotten_for {
                    forget(times.get());
                }
                Ok(times.get())
            })
            .await;
            assert_eq!(made.ok(), expected, "{why}");
            assert_eq!(path.exists(), expected.is_some(), "{why}");
        }
    }
}
