//! Builds the graph of a crawl from a reader, stream by stream. It can be interrupted between two
//! batches: the file records the position.

use std::ops::ControlFlow;
use std::path::Path;

use dragline_domain::ids::Iteration;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Batch, Cursor, Filter, Reader, WalkEnd, each_row_until};
use rusqlite::Connection;

use crate::error::{FileError, GraphError};
use crate::nodes::GraphWriter;
use crate::place::{BuildPosition, Stream};
use crate::{alike, chains, markup, reach};

/// The number of rows per read.
const BATCH_ROWS: usize = 500;

/// The format's version. It changes with the tables and their contents.
const FORMAT: u32 = 9;

/// The state of the crawl that a graph was built from. While it is the same, the graph is up to
/// date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceState {
    pub(crate) iteration: Iteration,
    pub(crate) text: String,
}

impl SourceState {
    /// Reads the progress of a crawl, and how often URLs of it were forgotten.
    ///
    /// # Errors
    /// Nothing was crawled yet, or the crawl cannot be read.
    pub(crate) async fn read(reader: &impl Reader) -> Result<Self, GraphError> {
        // Read first: if URLs are forgotten from now on, they are not read, or the graph that has
        // them counts as out of date.
        let forgotten = match reader.times_forgotten().await? {
            0 => String::new(),
            times => format!(", {times} times forgotten"),
        };
        let latest = reader.latest_iteration().await?.ok_or(GraphError::NotBegun)?;
        let progress = reader.progress(latest.number).await?;
        let closed = latest.closed_at.map_or_else(|| "open".to_owned(), |at| at.to_string());
        let text = format!(
            "format {FORMAT}, {} {closed}, {} of {} segments{forgotten}",
            latest.number, progress.parsed, progress.segments
        );
        Ok(Self { iteration: latest.number, text })
    }
}

/// Builds the graph in a new file, or continues an unfinished one, until `rest` breaks, which is
/// called after each batch. Breaks if the graph is unfinished.
///
/// # Errors
/// The crawl cannot be read, or the file cannot be read or written.
pub(crate) async fn make(
    reader: &impl Reader,
    from: &SourceState,
    path: &Path,
    rest: impl Fn() -> ControlFlow<()>,
) -> Result<ControlFlow<()>, GraphError> {
    let failed = |source: FileError| GraphError::File { path: path.to_owned(), source };
    let (mut nodes, mut place) = begin(path, from).map_err(failed)?;
    if fill(reader, &mut nodes, &mut place, (&failed, &rest)).await?.is_break() {
        nodes.interrupt(&place).map_err(failed)?;
        return Ok(ControlFlow::Break(()));
    }
    finish(nodes, &place.from).map_err(failed)?;
    Ok(ControlFlow::Continue(()))
}

/// Creates an empty graph in a new file.
pub(crate) fn make_empty(from: &SourceState, path: &Path) -> Result<(), FileError> {
    let (nodes, _) = begin(path, from)?;
    finish(nodes, from)
}

fn finish(nodes: GraphWriter, from: &SourceState) -> Result<(), FileError> {
    let db = nodes.finish(from)?;
    chains::follow(&db)?;
    markup::check_fragments(&db)?;
    db.execute_batch(include_str!("views.sql"))?;
    chains::count_links(&db)?;
    reach::measure(&db)?;
    alike::find(&db)?;
    db.execute_batch("COMMIT; PRAGMA optimize;")?;
    Ok(())
}

/// Opens a new file, or an unfinished one at its position. Nothing is synced, as nobody opens the
/// file that a crash leaves.
fn begin(path: &Path, from: &SourceState) -> Result<(GraphWriter, BuildPosition), FileError> {
    let db = Connection::open(path)?;
    db.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536; PRAGMA temp_store = FILE; BEGIN;")?;
    match BuildPosition::load(&db)? {
        Some(place) => Ok((GraphWriter::resume(db, place.page.as_deref())?, place)),
        None => {
            db.execute_batch(include_str!("tables.sql"))?;
            Ok((GraphWriter::new(db)?, BuildPosition::beginning(from.clone())))
        }
    }
}

type Stops<'s, F, R> = (&'s F, &'s R);

async fn fill<F: Fn(FileError) -> GraphError, R: Fn() -> ControlFlow<()>>(
    reader: &impl Reader,
    nodes: &mut GraphWriter,
    place: &mut BuildPosition,
    (failed, rest): Stops<'_, F, R>,
) -> Result<ControlFlow<()>, GraphError> {
    let all = &Filter::default();
    loop {
        let after = place.after.take();
        let end = match place.stream {
            Stream::Candidates => {
                let read =
                    |after: Option<Cursor>| async move { reader.candidates(all, after.as_ref(), BATCH_ROWS).await };
                each(read, after, rest, |row| nodes.add_candidate(&row)).await?
            }
            Stream::Pages => {
                let read = |after: Option<Cursor>| async move { reader.pages(all, after.as_ref(), BATCH_ROWS).await };
                each(read, after, rest, |row| nodes.add_page(&row)).await?
            }
            Stream::Links => {
                let read = |after: Option<Cursor>| async move { reader.links(all, after.as_ref(), BATCH_ROWS).await };
                each(read, after, rest, |row| nodes.add_link(&row)).await?
            }
            // The status and the error of a failed visit are in the log of its iteration.
            Stream::Log(iteration) => {
                let filter = &Filter::by_iteration(iteration);
                let read = |after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), BATCH_ROWS).await };
                each(read, after, rest, |row| nodes.add_visit(&row)).await?
            }
        };
        match end {
            WalkEnd::Broken(error) => return Err(failed(error)),
            WalkEnd::Rested(cursor) => {
                place.after = Some(cursor);
                return Ok(ControlFlow::Break(()));
            }
            WalkEnd::Through => match place.stream.next(|| nodes.iterations_to_look_up()).map_err(failed)? {
                Some(next) => place.stream = next,
                None => return Ok(ControlFlow::Continue(())),
            },
        }
    }
}

/// Writes the rows of a stream after a cursor, until there is no time for more.
async fn each<T, F: Future<Output = PortResult<Batch<T>>>>(
    read: impl Fn(Option<Cursor>) -> F,
    after: Option<Cursor>,
    rest: &impl Fn() -> ControlFlow<()>,
    mut write: impl FnMut(T) -> Result<(), FileError>,
) -> PortResult<WalkEnd<FileError>> {
    let visit = |row| write(row).map_or_else(ControlFlow::Break, ControlFlow::Continue);
    each_row_until(read, after, visit, rest).await
}
