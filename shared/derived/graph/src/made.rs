//! Building a graph in several processes, one after another, none of which has time for all of it.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use dragline_ports::reader::Reader;

use crate::error::{FileError, GraphError};
use crate::make::{SourceState, make, make_empty};
use crate::read::Graph;

/// The result of a call that may leave a graph unfinished.
#[derive(Debug)]
pub enum BuildResult {
    /// It is finished.
    Whole(Graph),
    /// It is unfinished; any process with the file can continue.
    Unfinished,
}

impl Graph {
    /// Builds the graph in a file, or continues an unfinished one, until `rest` breaks. Each call
    /// reads at least one batch of rows. A finished file is opened as it is. The graph records the
    /// state of the crawl when the build began; rows read later may be newer.
    ///
    /// # Errors
    /// Nothing was crawled yet, the crawl cannot be read, or the file cannot be read or written.
    pub async fn make_on(
        reader: &impl Reader,
        path: &Path,
        rest: impl Fn() -> ControlFlow<()>,
    ) -> Result<BuildResult, GraphError> {
        if let Some(graph) = Self::open_finished(path) {
            return Ok(BuildResult::Whole(graph));
        }
        if make(reader, &SourceState::read(reader).await?, path, rest).await?.is_break() {
            return Ok(BuildResult::Unfinished);
        }
        let lost = || io::Error::other("it was changed by another process");
        let graph = Self::open_finished(path);
        graph.map(BuildResult::Whole).ok_or_else(|| GraphError::File { path: path.to_owned(), source: lost().into() })
    }

    /// Returns the state of the crawl that the graph in a file was built from; `None` if there is
    /// no finished one.
    #[must_use]
    pub fn file_source_state(path: &Path) -> Option<String> {
        Self::open_finished(path).map(|graph| graph.made_from)
    }

    /// Creates an empty graph, for a site with too many URLs.
    ///
    /// # Errors
    /// See [`Graph::make_on`].
    pub async fn create_empty(reader: &impl Reader, path: &Path) -> Result<Self, GraphError> {
        let failed = |source: FileError| GraphError::File { path: path.to_owned(), source };
        make_empty(&SourceState::read(reader).await?, path).map_err(failed)?;
        Self::open_finished(path).ok_or_else(|| failed(io::Error::other("it was changed by another process").into()))
    }

    /// Returns whether the graph is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.db.query_row("SELECT 1 FROM node LIMIT 1", [], |_| Ok(())).is_err()
    }

    /// Returns the number of pages.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn pages(&self) -> Result<u64, GraphError> {
        let sql = "SELECT count(*) FROM node WHERE words IS NOT NULL";
        self.db.query_row(sql, [], |row| row.get(0)).map_err(|error| self.file_error(error))
    }
}
