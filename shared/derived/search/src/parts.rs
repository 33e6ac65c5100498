//! Builds an index in parts: each is stored before the next is begun, so the disk need not hold all
//! of them. A part ends by the documents read for it.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;

use dragline_domain::document::Document;
use dragline_graph::Graph;
use dragline_ports::reader::{Cursor, Reader};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::edition::{Edition, IndexFile, PartHot};
use crate::error::{IndexError, SearchError};
use crate::fields::FORMAT;
use crate::index::{Index, SourceState, Update};

/// The name of the segments in the index library's list.
const SEGMENTS: &str = "segments";

/// The maximum number of pages with a file of hot blocks. It has some 90 bytes per page, all of
/// which a searcher keeps in memory.
const HOT_PAGES_MAX: u64 = 1_000_000;

/// The finished parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// The index library's list of the last part, with the segments of all.
    meta: Option<Value>,
    segments: Vec<Value>,
    files: Vec<IndexFile>,
    hots: Vec<PartHot>,
    pages: u64,
}

impl Parts {
    /// Adds the part in a folder. Returns its files, which the caller stores.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn add(&mut self, part: &Index) -> Result<Vec<IndexFile>, SearchError> {
        let edition = part.edition()?;
        let mut meta: Value = serde_json::from_str(&edition.meta).map_err(|error| part.index_error(error))?;
        if let Some(Value::Array(segments)) = meta.get_mut(SEGMENTS).map(Value::take) {
            self.segments.extend(segments);
        }
        self.meta = Some(meta);
        self.pages += part.pages();
        let mut put: Vec<IndexFile> = edition.files.clone();
        if let Some(hot) = edition.hot.filter(|_| self.pages <= HOT_PAGES_MAX) {
            put.push(hot.clone());
            self.hots.push(PartHot { first_file: self.files.len(), file: hot });
        }
        self.files.extend(edition.files);
        Ok(put)
    }

    /// Returns the number of pages in all parts.
    #[must_use]
    pub const fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the index of all parts; `None` if there is no part.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn edition(&self) -> Result<Option<Edition>, serde_json::Error> {
        let Some(mut meta) = self.meta.clone() else { return Ok(None) };
        meta[SEGMENTS] = Value::Array(self.segments.clone());
        let (meta, files, hots) = (serde_json::to_string(&meta)?, self.files.clone(), self.hots.clone());
        Ok(Some(Edition { format: FORMAT, meta, files, hot: None, hots }))
    }
}

impl Index {
    /// Builds a part of the index in a folder, in place of its contents: of the documents after a
    /// cursor, and at least this many, unless there are no more. Calls back with each document.
    /// Returns the start of the next part; `None` after the last.
    ///
    /// # Errors
    /// The crawl or the graph cannot be read, or the folder cannot be written.
    pub async fn make_part(
        reader: &impl Reader,
        graph: &Graph,
        folder: &Path,
        (after, documents): (Option<Cursor>, u64),
        mut visit: impl FnMut(&Document),
    ) -> Result<(Self, Option<Cursor>), SearchError> {
        let failed = |source: IndexError| SearchError::Index { folder: folder.to_owned(), source };
        Edition::none().restore(folder)?;
        let (index, _) = Self::open(folder).map_err(failed)?;
        let busy = || SearchError::Busy { folder: folder.to_owned() };
        let mut update = Update::begin(&index).map_err(failed)?.ok_or_else(busy)?;
        let read = Cell::new(0);
        let count = |document: &Document| {
            read.set(read.get() + 1);
            visit(document);
        };
        let rest = || if read.get() >= documents { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let next = update.put_documents(reader, graph, after, count, rest).await?;
        update.finish(&SourceState { format: FORMAT, from: graph.source_state().to_owned() }).map_err(failed)?;
        Ok((index, next))
    }
}
