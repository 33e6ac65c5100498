//! An index that is made in parts: each is put away before the next is begun, so none needs room for all. A part ends by what was read for it.

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
use crate::index::{Index, MadeFrom, Update};

/// The field of the index library's list that has the segments.
const SEGMENTS: &str = "segments";

/// Up to how many pages there is a file of what every search reads. It has some 90 bytes of each, and a searcher keeps all of it in memory.
const HOT_PAGES_MAX: u64 = 1_000_000;

/// The parts that are made so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// The index library's list of the last part, whose segments are those of all.
    meta: Option<Value>,
    segments: Vec<Value>,
    files: Vec<IndexFile>,
    hots: Vec<PartHot>,
    pages: u64,
}

impl Parts {
    /// Adds the part in a folder. Returns its files, which whoever calls puts away.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn add(&mut self, part: &Index) -> Result<Vec<IndexFile>, SearchError> {
        let edition = part.edition()?;
        let mut meta: Value = serde_json::from_str(&edition.meta).map_err(|error| part.failed(error))?;
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

    /// The number of pages in all of them.
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
    /// Makes a part of the index in a folder, in place of what is there: of the documents after a place, and at least this many, unless there are no more.
    /// Calls back with each of them. Returns where the next part begins; `None` after the last.
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
        update.finish(&MadeFrom { format: FORMAT, from: graph.made_from().to_owned() }).map_err(failed)?;
        Ok((index, next))
    }
}
