//! Editions: an index as immutable files, which can be stored as objects and restored in another
//! folder.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tantivy::index::SegmentComponent;

use crate::error::{IndexError, SearchError};
use crate::fields::FORMAT;
use crate::hot;
use crate::index::{Index, SourceState};

/// The index library's list of segments. It is the one file that changes; an edition contains its
/// text.
pub(crate) const META: &str = "meta.json";

/// A snapshot of an index. Its files never change: a name always has the same content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edition {
    /// The version of the index's format.
    pub(crate) format: u32,
    /// The text of [`META`].
    pub(crate) meta: String,
    /// The index's files.
    pub(crate) files: Vec<IndexFile>,
    /// A further file with the hot blocks of these files, which every search reads.
    pub(crate) hot: Option<IndexFile>,
    /// The same for each part of an index that was built in parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hots: Vec<PartHot>,
}

/// The hot blocks of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartHot {
    /// The position of the part's first file in the edition.
    pub(crate) first_file: usize,
    /// The file.
    pub(crate) file: IndexFile,
}

/// A file of an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IndexFile {
    /// Its name: letters, digits, hyphens and dots.
    pub name: String,
    /// Its size, in bytes.
    pub bytes: u64,
}

impl Edition {
    /// Returns an edition without an index.
    #[must_use]
    pub const fn none() -> Self {
        Self { format: FORMAT, meta: String::new(), files: Vec::new(), hot: None, hots: Vec::new() }
    }

    /// Parses an edition written by [`Edition::to_json`]; `None` if it has no index that this
    /// program can read.
    #[must_use]
    pub fn from_json(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok().filter(|edition: &Self| edition.format == FORMAT && !edition.meta.is_empty())
    }

    /// Serialises the edition.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// Returns the state of the crawl that it was built from
    /// ([`dragline_graph::Graph::made_from`]); `None` without an index.
    #[must_use]
    pub fn source_state(&self) -> Option<String> {
        let meta: Value = serde_json::from_str(&self.meta).ok()?;
        let made: SourceState = serde_json::from_str(meta.get("payload")?.as_str()?).ok()?;
        Some(made.from)
    }

    /// Returns all its files.
    pub fn all_files(&self) -> impl Iterator<Item = &IndexFile> {
        self.files.iter().chain(&self.hot).chain(self.hots.iter().map(|hot| &hot.file))
    }

    /// Prepares a folder for this edition's index, and returns the missing files, which the caller
    /// puts there. Files of other editions or of none are deleted.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn restore(&self, folder: &Path) -> Result<Vec<&IndexFile>, SearchError> {
        let failed = |source: io::Error| SearchError::Index { folder: folder.to_owned(), source: source.into() };
        self.restore_files(folder).map_err(failed)
    }

    fn restore_files(&self, folder: &Path) -> io::Result<Vec<&IndexFile>> {
        fs::create_dir_all(folder)?;
        let mut missing: BTreeSet<&IndexFile> = self.files.iter().collect();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let there =
                IndexFile { name: entry.file_name().to_string_lossy().into_owned(), bytes: entry.metadata()?.len() };
            if !missing.remove(&there) {
                fs::remove_file(entry.path())?;
            }
        }
        if !self.meta.is_empty() {
            fs::write(folder.join(META), &self.meta)?;
        }
        Ok(missing.into_iter().collect())
    }
}

impl Index {
    /// Returns the edition of the index in its folder, after writing the file of hot blocks.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn edition(&self) -> Result<Edition, SearchError> {
        self.as_edition().map_err(|error| self.index_error(error))
    }

    fn as_edition(&self) -> Result<Edition, IndexError> {
        let mut files = Vec::new();
        for segment in self.index.load_metas()?.segments {
            let deleted = segment.has_deletes().then_some(SegmentComponent::Delete);
            let components = [
                SegmentComponent::Terms,
                SegmentComponent::Postings,
                SegmentComponent::Positions,
                SegmentComponent::FastFields,
                SegmentComponent::FieldNorms,
                SegmentComponent::Store,
            ];
            for path in components.into_iter().chain(deleted).map(|component| segment.relative_path(component)) {
                let bytes = fs::metadata(self.folder.join(&path))?.len();
                files.push(IndexFile { name: path.to_string_lossy().into_owned(), bytes });
            }
        }
        let meta = fs::read_to_string(self.folder.join(META))?;
        let mut edition = Edition { format: FORMAT, meta, files, hot: None, hots: Vec::new() };
        edition.hot = Some(hot::write(&edition, &self.folder)?);
        Ok(edition)
    }

    /// Returns the path of a file of the index.
    #[must_use]
    pub fn file_path(&self, file: &IndexFile) -> PathBuf {
        self.folder.join(&file.name)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};

    use tempfile::TempDir;

    use super::*;
    use crate::blocks::{Blocks, Ranges};
    use crate::entry::Entry;
    use crate::hot::read_file;
    use crate::tests::{build_index, found, page, update};

    /// Objects by name, with a count of reads.
    #[derive(Clone)]
    struct Objects {
        folder: Arc<TempDir>,
        reads: Arc<AtomicU64>,
        names: Arc<Mutex<Vec<String>>>,
    }

    impl Objects {
        fn new() -> Self {
            Self { folder: Arc::new(tempfile::tempdir().unwrap()), reads: Arc::default(), names: Arc::default() }
        }

        /// Puts the files of an index that are missing, and returns their number.
        fn publish(&self, index: &Index) -> (Edition, usize) {
            let edition = index.edition().unwrap();
            let mut put = 0;
            for file in edition.all_files() {
                let object = self.folder.path().join(&file.name);
                if !object.exists() {
                    fs::copy(index.file_path(file), object).unwrap();
                    put += 1;
                }
            }
            (edition, put)
        }

        fn open(&self, edition: &Edition, bytes_max: u64) -> Index {
            let edition = Edition::from_json(&edition.to_json().unwrap()).unwrap();
            Index::open_edition(edition, Arc::new(self.clone()), Arc::new(Blocks::new(bytes_max))).unwrap()
        }

        fn restore(&self, edition: &Edition, folder: &Path) -> usize {
            let missing = edition.restore(folder).unwrap();
            for file in &missing {
                fs::copy(self.folder.path().join(&file.name), folder.join(&file.name)).unwrap();
            }
            missing.len()
        }

        fn reads(&self) -> u64 {
            self.reads.swap(0, Ordering::SeqCst)
        }
    }

    impl Ranges for Objects {
        fn read(&self, file: &str, range: Range<u64>) -> io::Result<Vec<u8>> {
            self.reads.fetch_add(1, Ordering::SeqCst);
            self.names.lock().unwrap().push(format!("{file} {range:?}"));
            read_file(&self.folder.path().join(file), &range)
        }
    }

    /// Returns pages with words of their own, too many for one block of a file.
    fn pages(count: usize) -> Vec<Entry> {
        let text = |n: usize| (0..400).map(|word| format!("w{} ", (n * 31 + word * 17) % 4_000)).collect::<String>();
        (0..count).map(|n| page(&format!("page{n}"), &format!("Page number{n}"), &text(n))).collect()
    }

    const QUERIES: [&str; 7] =
        ["w17", "number7", "w17 w34", "\"w31 w48\"", "numbr7", "w17 -w34 OR number3", "site:a.example title:number5*"];

    #[test]
    fn a_remote_edition_has_the_same_results() {
        let objects = Objects::new();
        let (_folder, index) = build_index(&pages(300));
        let (edition, _) = objects.publish(&index);
        for (bytes_max, why) in [(u64::MAX, "all is kept"), (3 << 16, "three blocks are kept")] {
            let elsewhere = objects.open(&edition, bytes_max);
            assert_eq!(elsewhere.pages(), 300);
            for query in QUERIES {
                assert_eq!(found(&elsewhere, query), found(&index, query), "{query}: {why}");
            }
            let url = "https://a.example/page7";
            assert_eq!(elsewhere.similar(url, 5).unwrap(), index.similar(url, 5).unwrap(), "{why}");
        }
    }

    #[test]
    fn hot_blocks_are_read_at_once_and_others_are_cached() {
        let objects = Objects::new();
        let (_folder, index) = build_index(&pages(300));
        let (edition, _) = objects.publish(&index);
        let elsewhere = objects.open(&edition, u64::MAX);
        assert_eq!(objects.reads(), 1, "a single read opens it: {:?}", objects.names.lock().unwrap());
        found(&elsewhere, "qqq");
        assert_eq!(objects.reads(), 0, "that nothing has a word is known by then");
        found(&elsewhere, "w17");
        assert!(objects.reads() > 0, "postings and the pages found are read");
        found(&elsewhere, "w17");
        assert_eq!(objects.reads(), 0, "and kept");
    }

    #[test]
    fn an_update_in_another_folder_only_adds_files() {
        let objects = Objects::new();
        let (_folder, index) = build_index(&pages(200));
        let (first, put) = objects.publish(&index);
        assert_eq!(put, first.all_files().count());

        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join("leftover"), "of something else").unwrap();
        assert_eq!(objects.restore(&first, other.path()), first.files.len(), "nothing is there yet");
        assert_eq!(objects.restore(&first, other.path()), 0, "all is there");
        assert!(!other.path().join("leftover").exists());
        let (restored, last) = Index::open(other.path()).unwrap();
        assert!(last.is_some(), "it knows what it was made from");
        let changes = update(&restored, &pages(201));
        assert_eq!((changes.written, changes.unchanged), (1, 200));
        let (second, put) = objects.publish(&restored);
        assert!(put < second.all_files().count(), "files of the first edition are in the second: {second:?}");
        assert_eq!(found(&objects.open(&second, u64::MAX), "number200"), "page200");
        assert_eq!(found(&objects.open(&first, u64::MAX), "number200"), "", "which stays as it is");
    }

    #[test]
    fn an_edition_without_an_index_is_not_read() {
        let none = Edition::none();
        assert_eq!(Edition::from_json(&none.to_json().unwrap()), None);
        assert_eq!(Edition::from_json(b""), None);
        assert_eq!(none.all_files().count(), 0);
        let folder = tempfile::tempdir().unwrap();
        let (_other, index) = build_index(&pages(3));
        fs::copy(index.file_path(&index.edition().unwrap().files[0]), folder.path().join("left")).unwrap();
        assert_eq!(none.restore(folder.path()).unwrap(), Vec::<&IndexFile>::new());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "what it may not hold any more is deleted");
        let later = Edition { format: FORMAT + 1, ..index.edition().unwrap() };
        assert_eq!(Edition::from_json(&later.to_json().unwrap()), None, "another version's");
    }

    #[test]
    fn an_index_without_pages_is_an_index() {
        let (_folder, index) = build_index(&[]);
        let objects = Objects::new();
        let (edition, _) = objects.publish(&index);
        let elsewhere = objects.open(&edition, u64::MAX);
        assert_eq!((elsewhere.pages(), found(&elsewhere, "anything").as_str()), (0, ""));
        let other = tempfile::tempdir().unwrap();
        objects.restore(&edition, other.path());
        assert!(Index::open(other.path()).unwrap().1.is_some(), "that knows what it was made from");
    }
}
