//! A graph that is made by several programs, one after another, as none has time for all.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use dragline_ports::reader::Reader;

use crate::error::{FileError, GraphError};
use crate::make::{MadeFrom, make, make_empty};
use crate::read::Graph;

/// What became of a graph that may be made by several programs, one after another.
#[derive(Debug)]
pub enum Made {
    /// It is done.
    Whole(Graph),
    /// Its file goes on there, wherever it is taken.
    Unfinished,
}

impl Graph {
    /// Makes the graph in a file, or goes on with it if it is unfinished, until `rest` breaks. Each call gets on by one batch of rows at least. A file that is
    /// finished is opened as it is. It says what the crawl was when it began: what is read later is as it is then.
    ///
    /// # Errors
    /// Nothing was crawled yet, the crawl cannot be read, or the file cannot be read or written.
    pub async fn make_on(
        reader: &impl Reader,
        path: &Path,
        rest: impl Fn() -> ControlFlow<()>,
    ) -> Result<Made, GraphError> {
        if let Some(graph) = Self::open_finished(path) {
            return Ok(Made::Whole(graph));
        }
        if make(reader, &MadeFrom::now(reader).await?, path, rest).await?.is_break() {
            return Ok(Made::Unfinished);
        }
        let lost = || io::Error::other("it was changed by another process");
        let graph = Self::open_finished(path);
        graph.map(Made::Whole).ok_or_else(|| GraphError::File { path: path.to_owned(), source: lost().into() })
    }

    /// Returns what the graph in a file was made from; `None` if there is no finished one.
    #[must_use]
    pub fn file_made_from(path: &Path) -> Option<String> {
        Self::open_finished(path).map(|graph| graph.made_from)
    }

    /// Makes a graph of a site that has too many URLs for one: nothing is in it.
    ///
    /// # Errors
    /// As [`Graph::make_on`].
    pub async fn without_links(reader: &impl Reader, path: &Path) -> Result<Self, GraphError> {
        let failed = |source: FileError| GraphError::File { path: path.to_owned(), source };
        make_empty(&MadeFrom::now(reader).await?, path).map_err(failed)?;
        Self::open_finished(path).ok_or_else(|| failed(io::Error::other("it was changed by another process").into()))
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_without_links(&self) -> bool {
        self.db.query_row("SELECT 1 FROM node LIMIT 1", [], |_| Ok(())).is_err()
    }

    /// Returns the number of pages.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn pages(&self) -> Result<u64, GraphError> {
        let sql = "SELECT count(*) FROM node WHERE words IS NOT NULL";
        self.db.query_row(sql, [], |row| row.get(0)).map_err(|error| self.failed(error))
    }
}
