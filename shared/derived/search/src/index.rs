//! The index in its folder: opening it, and bringing it up to date.

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

use crate::blocks::{Blocks, Elsewhere, Ranges, no_folder};
use crate::compile::Lookup;
use crate::edition::Edition;
use crate::entry::{Entry, Stored};
use crate::error::{IndexError, SearchError};
use crate::fields::{FORMAT, Fields, schema};
use crate::hot;
use crate::standing::Standings;
use crate::words::{AS_WRITTEN, InLanguages, WordMaker};

/// The number of documents in one read.
const BATCH_ROWS: usize = 200;

/// The memory of each thread that writes the index.
const WRITER_BYTES: usize = 64 << 20;

/// The most threads that write it.
const WRITERS_MAX: usize = 4;

/// The threads that search segments of an index that is elsewhere.
const SEARCHERS: usize = 8;

/// The word index of a crawl.
pub struct Index {
    /// Where it is; for messages alone if it is in no folder.
    pub(crate) folder: PathBuf,
    pub(crate) index: tantivy::Index,
    pub(crate) fields: Fields,
    reader: IndexReader,
    /// What searches need of the index as it is, by its generation.
    lookup: Mutex<Option<(u64, Arc<Lookup>)>>,
}

/// What an update did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updated {
    /// Nothing: the index was up to date.
    Already,
    /// It wrote the pages that are new or have changed, and removed those that are gone.
    Changed(Changes),
    /// Nothing, as another process is at it: the index is as it was after an earlier update.
    ByAnother,
}

/// How many pages an update touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Pages that were written.
    pub written: u64,
    /// Pages that were as they are.
    pub unchanged: u64,
    /// Pages that were removed.
    pub removed: u64,
}

/// What an index was made from, as its last commit says.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MadeFrom {
    pub(crate) format: u32,
    pub(crate) from: String,
}

impl MadeFrom {
    /// Reads what an index was made from; `None` if nothing was committed to it.
    pub(crate) fn load(index: &tantivy::Index) -> Result<Option<Self>, IndexError> {
        let payload = index.load_metas()?.payload;
        Ok(payload.map(|payload| serde_json::from_str(&payload)).transpose()?)
    }
}

impl Index {
    /// Opens the index in a folder, and brings it up to date first: with the crawl, and with the link graph that was made of it. `making` is called
    /// before that, as it may take a while. Readers of the index go on reading the earlier one meanwhile.
    ///
    /// # Errors
    /// The crawl or the graph cannot be read, or the index cannot be read or written, or is being made by another process.
    pub async fn up_to_date(
        reader: &impl Reader,
        graph: &Graph,
        folder: &Path,
        making: impl FnOnce(),
    ) -> Result<(Self, Updated), SearchError> {
        let failed = |source: IndexError| SearchError::Index { folder: folder.to_owned(), source };
        let from = MadeFrom { format: FORMAT, from: graph.made_from().to_owned() };
        let (index, last) = Self::open(folder).map_err(failed)?;
        if last.as_ref() == Some(&from) {
            return Ok((index, Updated::Already));
        }
        let Some(mut update) = Update::begin(&index).map_err(failed)? else {
            let busy = || SearchError::Busy { folder: folder.to_owned() };
            return if last.is_some() { Ok((index, Updated::ByAnother)) } else { Err(busy()) };
        };
        making();
        update.put_documents(reader, graph, None, |_| (), || ControlFlow::Continue(())).await?;
        let changes = update.finish(&from).map_err(failed)?;
        Ok((index, Updated::Changed(changes)))
    }

    /// Opens the index in a folder, as far as it is; one that is damaged, or was made by another version, is made again from the start.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Option<MadeFrom>), IndexError> {
        if let Ok((index, Some(from))) = Self::open_or_create(folder)
            && from.format == FORMAT
        {
            return Ok((index, Some(from)));
        }
        match Self::open_or_create(folder) {
            // Nothing was committed to it.
            Ok((index, None)) => Ok((index, None)),
            _ => {
                fs::remove_dir_all(folder)?;
                Self::open_or_create(folder)
            }
        }
    }

    fn open_or_create(folder: &Path) -> Result<(Self, Option<MadeFrom>), IndexError> {
        fs::create_dir_all(folder)?;
        let (schema, fields) = schema();
        let directory = MmapDirectory::open(folder).map_err(TantivyError::from)?;
        Self::with_fields(tantivy::Index::open_or_create(directory, schema)?, fields, folder.to_owned())
    }

    /// Opens an edition of an index for searching, whose files are elsewhere. What every search reads is read at once, and the rest as it is needed.
    ///
    /// # Errors
    /// It cannot be read, or was written by another version.
    pub fn open_edition(edition: Edition, ranges: Arc<dyn Ranges>, blocks: Arc<Blocks>) -> Result<Self, SearchError> {
        let failed = |source: IndexError| SearchError::Index { folder: no_folder(), source };
        hot::load(&edition, ranges.as_ref(), &blocks).map_err(|error| failed(error.into()))?;
        Self::elsewhere(edition, ranges, blocks).map_err(failed)
    }

    pub(crate) fn elsewhere(
        edition: Edition,
        ranges: Arc<dyn Ranges>,
        blocks: Arc<Blocks>,
    ) -> Result<Self, IndexError> {
        let directory = Elsewhere { edition: Arc::new(edition), ranges, blocks };
        let mut index = tantivy::Index::open(directory)?;
        // Most of their time they wait for blocks.
        index.set_multithread_executor(SEARCHERS)?;
        Self::with_fields(index, schema().1, no_folder()).map(|(index, _)| index)
    }

    fn with_fields(index: tantivy::Index, fields: Fields, folder: PathBuf) -> Result<(Self, Option<MadeFrom>), IndexError> {
        index.tokenizers().register(InLanguages::NAME, InLanguages::default());
        index.tokenizers().register(AS_WRITTEN, WordMaker::with_spaces());
        let from = MadeFrom::load(&index)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok((Self { folder, index, fields, reader, lookup: Mutex::default() }, from))
    }

    /// Returns what is looked up in, as it is now.
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

    /// Returns the entries at these addresses, read at the same time if the index is elsewhere.
    pub(crate) fn entries(&self, searcher: &Searcher, addresses: &[DocAddress]) -> Result<Vec<Entry>, IndexError> {
        let read = |address| Ok(entry(searcher, &self.fields, address));
        self.index.search_executor().map(read, addresses.iter().copied())?.into_iter().collect()
    }

    pub(crate) fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    pub(crate) fn failed(&self, source: impl Into<IndexError>) -> SearchError {
        SearchError::Index { folder: self.folder.clone(), source: source.into() }
    }

    /// Returns the entry of a page; `None` if it is not in the index.
    pub(crate) fn entry_of(&self, searcher: &Searcher, url: &str) -> Result<Option<Entry>, IndexError> {
        let address = find(searcher, &self.fields, url)?;
        address.map(|address| entry(searcher, &self.fields, address)).transpose()
    }

    /// The number of pages in it.
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

/// Returns where a page is.
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

/// An update under way.
pub(crate) struct Update<'i> {
    index: &'i Index,
    searcher: Searcher,
    writer: IndexWriter,
    /// Which pages of each segment were put again, as they were or otherwise: one bit for each.
    dealt_with: Vec<BitSet>,
    changes: Changes,
}

impl<'i> Update<'i> {
    /// Begins an update; `None` if another process is at it.
    pub(crate) fn begin(index: &'i Index) -> Result<Option<Self>, IndexError> {
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(WRITERS_MAX);
        let writer = match index.index.writer_with_num_threads(threads, threads * WRITER_BYTES) {
            Ok(writer) => writer,
            Err(TantivyError::LockFailure(LockError::LockBusy, _)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // Another process may have gone on since the index was opened.
        index.reader.reload()?;
        let searcher = index.searcher();
        let dealt_with =
            searcher.segment_readers().iter().map(|segment| BitSet::with_max_value(segment.max_doc())).collect();
        Ok(Some(Self { index, searcher, writer, dealt_with, changes: Changes::default() }))
    }

    /// Puts the documents of the site as it is now, after a place and until `rest` breaks, which is asked between two batches. Calls back with each of
    /// them. Returns where it goes on; `None` after the last.
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
        let (all, index, standings) = (&Filter::default(), self.index, Standings::load(graph)?);
        let read = |after: Option<Cursor>| async move { reader.shown_documents(all, after.as_ref(), BATCH_ROWS).await };
        let mut put = |document: Document| -> Result<(), SearchError> {
            visit(&document);
            let standing = standings.of_page(document.url.as_str())?;
            let entry = Entry::from_document(document, standing);
            entry.map_or(Ok(()), |entry| self.put(entry)).map_err(|error| index.failed(error))
        };
        let put = |row: DocumentRow| put(row.document).map_or_else(ControlFlow::Break, ControlFlow::Continue);
        match each_row_until(read, after, put, rest).await? {
            WalkEnd::Through => Ok(None),
            WalkEnd::Rested(cursor) => Ok(Some(cursor)),
            WalkEnd::Broken(error) => Err(error),
        }
    }

    /// Writes a page unless it is there as it is.
    pub(crate) fn put(&mut self, entry: Entry) -> Result<(), IndexError> {
        let stored = Stored::from_entry(&entry)?;
        if let Some(there) = find(&self.searcher, &self.index.fields, &entry.url)? {
            self.dealt_with[there.segment_ord as usize].insert(there.doc_id);
            let digests = self.searcher.segment_reader(there.segment_ord).fast_fields().u64("digest")?;
            if digests.first(there.doc_id) == Some(stored.digest) {
                self.changes.unchanged += 1;
                return Ok(());
            }
        }
        // Also if it is not there: a URL that the reader returned twice, while the crawl went on, is there once.
        self.writer.delete_term(Term::from_field_text(self.index.fields.url, &entry.url));
        let document = entry.into_document(&self.index.fields, &stored);
        self.writer.add_document(document)?;
        self.changes.written += 1;
        Ok(())
    }

    /// Removes the pages that were not put, and commits.
    pub(crate) fn finish(mut self, from: &MadeFrom) -> Result<Changes, IndexError> {
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
