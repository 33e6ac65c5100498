//! The links to a URL, from a link graph that is made on the function's disk and kept for the next
//! request.

use std::fs;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::http::StatusCode;
use dragline_domain::ids::CrawlId;
use dragline_graph::{BuildResult, Graph, GraphError};
use dragline_ports::clock::Clock;
use dragline_ports::reader::Reader;
use dragline_service::Problem;

use super::printouts::{Lines, TooLarge, url_of_crawl};

/// How long making a graph may take, of the two minutes of a request.
const MAKING: Duration = Duration::from_secs(90);

/// Returns the links of other pages to a URL. `folder` holds the graph of one crawl at a time, for
/// which there is room.
///
/// # Errors
/// The crawl does not know the URL or cannot be read, or its links are too many for the function.
pub(crate) async fn backlinks(
    reader: &impl Reader,
    (crawl, text): (&CrawlId, &str),
    folder: &Path,
    clock: &impl Clock,
) -> Result<Vec<u8>, Problem> {
    let forgotten = reader.times_forgotten().await?;
    let path = graph_path(folder, crawl).map_err(|error| failed(&error))?;
    let graph = graph(reader, &path, clock).await?;
    if reader.times_forgotten().await? != forgotten {
        remove(&path).map_err(|error| failed(&error))?;
        let busy = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "URLs were forgotten meanwhile");
        return Err(busy.with_hint("try again"));
    }
    let url = url_of_crawl(reader, text).await?;
    let unknown = || Problem::not_found(format!("the crawl `{crawl}` does not know {url}"));
    let node = graph.node(url.as_str()).map_err(|error| failed(&error))?.ok_or_else(unknown)?;
    let mut lines = Lines::default();
    graph.links_to(&node.url, |link| lines.add(link)).map_err(|error| failed(&error))?;
    Ok(lines.text)
}

/// Returns the graph of the crawl as it is now.
async fn graph(reader: &impl Reader, path: &Path, clock: &impl Clock) -> Result<Graph, Problem> {
    let until = clock.monotonic() + MAKING;
    let rest = || if clock.monotonic() < until { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    let made = async {
        let now = Graph::current_source_state(reader).await?;
        if Graph::file_source_state(path).as_ref() != Some(&now) {
            remove(path).map_err(|error| GraphError::File { path: path.to_owned(), source: error.into() })?;
        }
        Graph::make_on(reader, path, rest).await
    };
    match made.await {
        Ok(BuildResult::Whole(graph)) => Ok(graph),
        Ok(BuildResult::Unfinished) => {
            remove(path).map_err(|error| failed(&error))?;
            Err(TooLarge::Work.into())
        }
        Err(error) if error.is_too_large() => {
            remove(path).map_err(|error| failed(&error))?;
            Err(TooLarge::Work.into())
        }
        Err(GraphError::NotBegun) => Err(Problem::not_found("the crawl has not begun")),
        Err(GraphError::Reader(error)) => Err(error.into()),
        Err(error) => Err(failed(&error)),
    }
}

/// Returns the path of a crawl's graph, after deleting those of others.
fn graph_path(folder: &Path, crawl: &CrawlId) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("{crawl}.db"));
    for other in fs::read_dir(folder)? {
        let other = other?.path();
        if other != path {
            fs::remove_file(other)?;
        }
    }
    Ok(path)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn failed(error: &dyn std::error::Error) -> Problem {
    tracing::error!(%error, "the link graph cannot be used");
    Problem::internal("the links of the crawl cannot be read; the function's log says why")
}
