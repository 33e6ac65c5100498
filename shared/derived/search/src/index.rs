//! The index in its folder: opens and updates it.

use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dragline_domain::document::Document;
use dragline_graph::Graph;
use dragline_ports::reader::{Cursor, DocumentRow, Filter, Reader, WalkEnd, each_row_until};
use serde::{Deserialize, Serialize};
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::LockError;
use tantivy::schema::{IndexRecordOption, Value as _};
use tantivy::{
    BitSet, DocAddress, DocSet as _, IndexReader, IndexWriter, ReloadPolicy, Searcher, TERMINATED, TantivyDocument,
    TantivyError, Term,
};

use crate::blocks::{Blocks, Ranges, RemoteDirectory, no_folder};
use crate::compile::Lookup;
use crate::edition::Edition;
use crate::entry::{Entry, StoredEntry};
use crate::error::{IndexError, SearchError};
use crate::fields::{FORMAT, Fields, schema};
use crate::hot;
use crate::standing::LinkFiguresReader;
use crate::words::{AS_WRITTEN, InLanguages, WordMaker};

/// The number of documents per read.
const BATCH_ROWS: usize = 200;

/// The memory of each writing thread, in bytes.
const WRITER_BYTES: usize = 64 << 20;

/// The maximum number of writing threads.
const WRITERS_MAX: usize = 4;

/// The number of threads that search the segments of a remote index.
const SEARCHERS: usize = 8;

/// The word index of a crawl.
pub struct Index {
    /// Its folder; for a remote index, only a name for messages.
    pub(crate) folder: PathBuf,
    pub(crate) index: tantivy::Index,
    pub(crate) fields: Fields,
    reader: IndexReader,
    /// The data for searches in the current index, by its generation.
    lookup: Mutex<Option<(u64, Arc<Lookup>)>>,
}

/// The result of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateResult {
    /// The index was up to date.
    Already,
    /// New and changed pages were written, and missing ones removed.
    Changed(Changes),
    /// Nothing changed, as another process is updating the index.
    ByAnother,
}

/// The number of pages by what an update did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Pages that were written.
    pub written: u64,
    /// Pages that were unchanged.
    pub unchanged: u64,
    /// Pages that were removed.
    pub removed: u64,
}

/// The input of an index, as recorded in its last commit.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SourceState {
    pub(crate) format: u32,
    pub(crate) from: String,
}

impl SourceState {
    /// Reads the input of an index; `None` if nothing was committed.
    pub(crate) fn load(index: &tantivy::Index) -> Result<Option<Self>, IndexError> {
        let payload = index.load_metas()?.payload;
        Ok(payload.map(|payload| serde_json::from_str(&payload)).transpose()?)
    }
}

impl Index {
    /// Opens the index in a folder, and first updates it from the crawl and the link graph of that
    /// crawl. `making` is called before an update, which may take a while. Readers can use the
    /// earlier index meanwhile.
    ///
    /// # Errors
    /// The crawl or the graph cannot be read, or the index cannot be read or written, or another
    /// process is building it.
    pub async fn up_to_date(
        reader: &impl Reader,
        graph: &Graph,
        folder: &Path,
        making: impl FnOnce(),
    ) -> Result<(Self, UpdateResult), SearchError> {
        let failed = |source: IndexError| SearchError::Index { folder: folder.to_owned(), source };
        let from = SourceState { format: FORMAT, from: graph.source_state().to_owned() };
        let (index, last) = Self::open(folder).map_err(failed)?;
        if last.as_ref() == Some(&from) {
            return Ok((index, UpdateResult::Already));
        }
        let Some(mut update) = Update::begin(&index).map_err(failed)? else {
            let busy = || SearchError::Busy { folder: folder.to_owned() };
            return if last.is_some() { Ok((index, UpdateResult::ByAnother)) } else { Err(busy()) };
        };
        making();
        update.put_documents(reader, graph, None, |_| (), || ControlFlow::Continue(())).await?;
        let changes = update.finish(&from).map_err(failed)?;
        Ok((index, UpdateResult::Changed(changes)))
    }

    /// Opens the index in a folder without updating it. One that is damaged or from another version
    /// is replaced by an empty one.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Option<SourceState>), IndexError> {
        if let Ok((index, Some(from))) = Self::open_or_create(folder)
            && from.format == FORMAT
        {
            return Ok((index, Some(from)));
        }
        match Self::open_or_create(folder) {
            // Nothing was committed.
            Ok((index, None)) => Ok((index, None)),
            _ => {
                fs::remove_dir_all(folder)?;
                Self::open_or_create(folder)
            }
        }
    }

    fn open_or_create(folder: &Path) -> Result<(Self, Option<SourceState>), IndexError> {
        fs::create_dir_all(folder)?;
        let (schema, fields) = schema();
        let directory = MmapDirectory::open(folder).map_err(TantivyError::from)?;
        Self::with_fields(tantivy::Index::open_or_create(directory, schema)?, fields, folder.to_owned())
    }

    /// Opens an edition of a remote index for searching. Hot blocks are read at once, the rest on
    /// demand.
    ///
    /// # Errors
    /// It cannot be read, or is from another version.
    pub fn open_edition(edition: Edition, ranges: Arc<dyn Ranges>, blocks: Arc<Blocks>) -> Result<Self, SearchError> {
        let failed = |source: IndexError| SearchError::Index { folder: no_folder(), source };
        hot::load(&edition, ranges.as_ref(), &blocks).map_err(|error| failed(error.into()))?;
        Self::open_remote(edition, ranges, blocks).map_err(failed)
    }

    pub(crate) fn open_remote(
        edition: Edition,
        ranges: Arc<dyn Ranges>,
        blocks: Arc<Blocks>,
    ) -> Result<Self, IndexError> {
        let directory = RemoteDirectory { edition: Arc::new(edition), ranges, blocks };
        let mut index = tantivy::Index::open(directory)?;
        // They mostly wait for blocks.
        index.set_multithread_executor(SEARCHERS)?;
        Self::with_fields(index, schema().1, no_folder()).map(|(index, _)| index)
    }

    fn with_fields(
        index: tantivy::Index,
        fields: Fields,
        folder: PathBuf,
    ) -> Result<(Self, Option<SourceState>), IndexError> {
        index.tokenizers().register(InLanguages::NAME, InLanguages::default());
        index.tokenizers().register(AS_WRITTEN, WordMaker::with_spaces());
        let from = SourceState::load(&index)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok((Self { folder, index, fields, reader, lookup: Mutex::default() }, from))
    }

    /// Returns the lookup of the current index.
    pub(crate) fn lookup(&self) -> Result<Arc<Lookup>, IndexError> {
        let searcher = self.searcher();
        let generation = searcher.generation().generation_id();
        let mut last = self.lookup.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((of, lookup)) if *of == generation => Ok(Arc::clone(lookup)),
            _ => {
                let lookup = Arc::new(Lookup::new(searcher, self.fields.clone())?);
                *last = Some((generation, Arc::clone(&lookup)));
                Ok(lookup)
            }
        }
    }

    /// Returns the entries at these addresses, read concurrently from a remote index.
    pub(crate) fn entries(&self, searcher: &Searcher, addresses: &[DocAddress]) -> Result<Vec<Entry>, IndexError> {
        let read = |address| Ok(entry(searcher, &self.fields, address));
        self.index.search_executor().map(read, addresses.iter().copied())?.into_iter().collect()
    }

    pub(crate) fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    pub(crate) fn index_error(&self, source: impl Into<IndexError>) -> SearchError {
        SearchError::Index { folder: self.folder.clone(), source: source.into() }
    }

    /// Returns the entry of a page; `None` if it is not in the index.
    pub(crate) fn entry_by_url(&self, searcher: &Searcher, url: &str) -> Result<Option<Entry>, IndexError> {
        let address = find(searcher, &self.fields, url)?;
        address.map(|address| entry(searcher, &self.fields, address)).transpose()
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.searcher().num_docs()
    }
}

/// Returns the entry at an address.
pub(crate) fn entry(searcher: &Searcher, fields: &Fields, address: DocAddress) -> Result<Entry, IndexError> {
    let document: TantivyDocument = searcher.doc(address)?;
    let text = document.get_first(fields.shown).and_then(|value| value.as_str()).unwrap_or_default();
    Ok(serde_json::from_str(text)?)
}

/// Returns the address of a page.
fn find(searcher: &Searcher, fields: &Fields, url: &str) -> Result<Option<DocAddress>, TantivyError> {
    let term = Term::from_field_text(fields.url, url);
    for (segment, reader) in (0..).zip(searcher.segment_readers()) {
        let Some(mut postings) = reader.inverted_index(fields.url)?.read_postings(&term, IndexRecordOption::Basic)?
        else {
            continue;
        };
        while postings.doc() != TERMINATED {
            if !reader.is_deleted(postings.doc()) {
                return Ok(Some(DocAddress::new(segment, postings.doc())));
            }
            postings.advance();
        }
    }
    Ok(None)
}

/// An update in progress.
pub(crate) struct Update<'i> {
    index: &'i Index,
    searcher: Searcher,
    writer: IndexWriter,
    /// The pages of each segment that were put again, changed or not: one bit each.
    dealt_with: Vec<BitSet>,
    changes: Changes,
}

impl<'i> Update<'i> {
    /// Begins an update; `None` if another process is updating.
    pub(crate) fn begin(index: &'i Index) -> Result<Option<Self>, IndexError> {
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(WRITERS_MAX);
        let writer = match index.index.writer_with_num_threads(threads, threads * WRITER_BYTES) {
            Ok(writer) => writer,
            Err(TantivyError::LockFailure(LockError::LockBusy, _)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // Another process may have updated the index since it was opened.
        index.reader.reload()?;
        let searcher = index.searcher();
        let dealt_with =
            searcher.segment_readers().iter().map(|segment| BitSet::with_max_value(segment.max_doc())).collect();
        Ok(Some(Self { index, searcher, writer, dealt_with, changes: Changes::default() }))
    }

    /// Puts the documents of the current site after a cursor, until `rest` breaks, which is called
    /// between batches. Calls back with each document. Returns where to continue; `None` after the
    /// last.
    ///
    /// # Errors
    /// The crawl or the graph cannot be read, or the folder cannot be written.
    pub(crate) async fn put_documents(
        &mut self,
        reader: &impl Reader,
        graph: &Graph,
        after: Option<Cursor>,
        mut visit: impl FnMut(&Document),
        rest: impl Fn() -> ControlFlow<()>,
    ) -> Result<Option<Cursor>, SearchError> {
        let (all, index, standings) = (&Filter::default(), self.index, LinkFiguresReader::load(graph)?);
        let read = |after: Option<Cursor>| async move { reader.shown_documents(all, after.as_ref(), BATCH_ROWS).await };
        let mut put = |document: Document| -> Result<(), SearchError> {
            visit(&document);
            let standing = standings.page_figures(document.url.as_str())?;
            let entry = Entry::from_document(document, standing);
            entry.map_or(Ok(()), |entry| self.put(entry)).map_err(|error| index.index_error(error))
        };
        let put = |row: DocumentRow| put(row.document).map_or_else(ControlFlow::Break, ControlFlow::Continue);
        match each_row_until(read, after, put, rest).await? {
            WalkEnd::Through => Ok(None),
            WalkEnd::Rested(cursor) => Ok(Some(cursor)),
            WalkEnd::Broken(error) => Err(error),
        }
    }

    /// Writes a page unless it is unchanged.
    pub(crate) fn put(&mut self, entry: Entry) -> Result<(), IndexError> {
        let stored = StoredEntry::from_entry(&entry)?;
        if let Some(there) = find(&self.searcher, &self.index.fields, &entry.url)? {
            self.dealt_with[there.segment_ord as usize].insert(there.doc_id);
            let digests = self.searcher.segment_reader(there.segment_ord).fast_fields().u64("digest")?;
            if digests.first(there.doc_id) == Some(stored.digest) {
                self.changes.unchanged += 1;
                return Ok(());
            }
        }
        // Even if it is not there: the reader may return a URL twice while the crawl progresses.
        self.writer.delete_term(Term::from_field_text(self.index.fields.url, &entry.url));
        let document = entry.into_document(&self.index.fields, &stored);
        self.writer.add_document(document)?;
        self.changes.written += 1;
        Ok(())
    }

    /// Removes the pages that were not put, and commits.
    pub(crate) fn finish(mut self, from: &SourceState) -> Result<Changes, IndexError> {
        for (segment, reader) in (0..).zip(self.searcher.segment_readers()) {
            let dealt_with = &self.dealt_with[segment as usize];
            for id in reader.doc_ids_alive().filter(|id| !dealt_with.contains(*id)) {
                let gone = entry(&self.searcher, &self.index.fields, DocAddress::new(segment, id))?;
                self.writer.delete_term(Term::from_field_text(self.index.fields.url, &gone.url));
                self.changes.removed += 1;
            }
        }
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&serde_json::to_string(from)?);
        commit.commit()?;
        self.writer.wait_merging_threads()?;
        self.index.reader.reload()?;
        Ok(self.changes)
    }
}
