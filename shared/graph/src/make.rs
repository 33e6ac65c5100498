//! Making the graph of a crawl: from what a reader returns, stream by stream.

use std::ops::ControlFlow;
use std::path::Path;

use dragline_domain::ids::Iteration;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Batch, Cursor, Filter, Reader, each_row};
use rusqlite::Connection;

use crate::error::{FileError, GraphError};
use crate::nodes::Nodes;
use crate::{alike, chains, reach};

/// The number of rows in one read.
const BATCH_ROWS: usize = 500;

/// Changes with the tables, and with what is written to them.
const FORMAT: u32 = 6;

/// What a graph was made from: as long as this is the same, so is the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MadeFrom {
    pub(crate) iteration: Iteration,
    pub(crate) text: String,
}

impl MadeFrom {
    /// Reads how far a crawl is.
    ///
    /// # Errors
    /// Nothing was crawled yet, or the crawl cannot be read.
    pub(crate) async fn now(reader: &impl Reader) -> Result<Self, GraphError> {
        let latest = reader.latest_iteration().await?.ok_or(GraphError::NotBegun)?;
        let progress = reader.progress(latest.number).await?;
        let closed = latest.closed_at.map_or_else(|| "open".to_owned(), |at| at.to_string());
        let text = format!(
            "format {FORMAT}, {} {closed}, {} of {} segments",
            latest.number, progress.parsed, progress.segments
        );
        Ok(Self { iteration: latest.number, text })
    }
}

/// Makes the graph in a new file.
///
/// # Errors
/// The crawl cannot be read, or the file cannot be written.
pub(crate) async fn make(reader: &impl Reader, from: &MadeFrom, path: &Path) -> Result<(), GraphError> {
    let failed = |source: FileError| GraphError::File { path: path.to_owned(), source };
    let db = open(path).map_err(|error| failed(error.into()))?;
    let mut nodes = Nodes::new(db).map_err(failed)?;
    fill(reader, &mut nodes, &failed).await?;
    let db = nodes.finish(from).map_err(failed)?;
    (|| {
        chains::follow(&db)?;
        db.execute_batch(include_str!("views.sql"))?;
        chains::count_links(&db)?;
        reach::measure(&db)?;
        alike::find(&db)?;
        db.execute_batch("COMMIT; PRAGMA optimize;")?;
        Ok(())
    })()
    .map_err(failed)
}

/// Opens a new file. A crash leaves one that nobody opens, so nothing has to be synced.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536; PRAGMA temp_store = FILE; BEGIN;")?;
    db.execute_batch(include_str!("tables.sql"))?;
    Ok(db)
}

async fn fill(
    reader: &impl Reader,
    nodes: &mut Nodes,
    failed: &impl Fn(FileError) -> GraphError,
) -> Result<(), GraphError> {
    let all = &Filter::default();
    let candidates = |after: Option<Cursor>| async move { reader.candidates(all, after.as_ref(), BATCH_ROWS).await };
    each(candidates, |row| nodes.add_candidate(&row)).await?.map_err(failed)?;
    let pages = |after: Option<Cursor>| async move { reader.pages(all, after.as_ref(), BATCH_ROWS).await };
    each(pages, |row| nodes.add_page(&row)).await?.map_err(failed)?;
    let links = |after: Option<Cursor>| async move { reader.links(all, after.as_ref(), BATCH_ROWS).await };
    each(links, |row| nodes.add_link(&row)).await?.map_err(failed)?;
    // The status and the cause of what failed are in the log of the iteration that it failed in.
    for iteration in nodes.iterations_to_look_up().map_err(failed)? {
        let filter = &Filter::of_iteration(iteration);
        let log = |after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), BATCH_ROWS).await };
        each(log, |row| nodes.add_visit(&row)).await?.map_err(failed)?;
    }
    Ok(())
}

/// Writes each row of a stream. The outer error is that of reading, the inner one that of writing.
async fn each<T, F: Future<Output = PortResult<Batch<T>>>>(
    read: impl Fn(Option<Cursor>) -> F,
    mut write: impl FnMut(T) -> Result<(), FileError>,
) -> PortResult<Result<(), FileError>> {
    let mut written = Ok(());
    each_row(read, |row| {
        written = write(row);
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .await?;
    Ok(written)
}
