//! The files with records: plain, or stored in packages.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use zip::{CompressionMethod, ZipArchive};

/// The maximum nesting of folders.
const FOLDERS_MAX: usize = 16;

/// The most files of one import.
const FILES_MAX: usize = 100_000;

/// The most bytes read of a package's list of pages.
const PAGES_BYTES_MAX: u64 = 16 << 20;

/// Why archives cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file or folder cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file's name is not that of an archive.
    #[error("{} is not a WARC or WACZ file by its name", .0.display())]
    Kind(PathBuf),
    /// A folder contains no archives.
    #[error("{} holds no file named `*.warc`, `*.warc.gz` or `*.wacz`", .0.display())]
    Empty(PathBuf),
    /// A package is not a ZIP file, or contains no readable WARC file.
    #[error("{} cannot be read as a WACZ file: {why}", path.display())]
    Package {
        /// The package.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// There are too many files, or too many answers in them.
    #[error("there are more than {max} {what} in the archives")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The most that one import takes.
        max: usize,
    },
}

impl ImportError {
    /// Returns what to do about it; `None` if the message is enough.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Kind(_) => Some("name files that end in `.warc`, `.warc.gz` or `.wacz`, or a folder of them"),
            Self::TooMany { .. } => Some("import some of the files at a time, the oldest first"),
            Self::File { .. } | Self::Empty(_) | Self::Package { .. } => None,
        }
    }
}

/// A file of records: a whole file, or a part of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordFile {
    path: PathBuf,
    /// Its name in messages.
    pub(crate) name: String,
    /// The offset of its beginning in the file at the path.
    start: u64,
    length_bytes: u64,
}

impl RecordFile {
    /// Opens it at this offset.
    pub(crate) fn open_at(&self, offset: u64) -> io::Result<Take<File>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.start.saturating_add(offset)))?;
        Ok(file.take(self.length_bytes.saturating_sub(offset)))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The archives of one import.
#[derive(Clone, Debug, Default)]
pub struct Archives {
    pub(crate) files: Arc<Vec<RecordFile>>,
    /// The pages that packages list, starting with the seeds of their crawls.
    pub(crate) pages: Vec<String>,
}

impl Archives {
    /// Finds the files with records: those given, those in given folders, and those in packages.
    ///
    /// # Errors
    /// Returns an [`ImportError`] for the first path that cannot be used.
    pub fn find(paths: &[PathBuf]) -> Result<Self, ImportError> {
        let mut finder = Finder::default();
        for path in paths {
            finder.add(path)?;
        }
        let Finder { files, mut pages } = finder;
        pages.sort_by_key(|page| !page.is_seed);
        Ok(Self { files: Arc::new(files), pages: pages.into_iter().map(|page| page.url).collect() })
    }

    /// Returns the number of files with records.
    #[must_use]
    pub fn files(&self) -> usize {
        self.files.len()
    }
}

/// A line of a package's list of pages. The first line describes the list, and has no URL.
#[derive(Clone, Debug, Deserialize)]
struct Page {
    url: String,
    /// Whether it was a seed of the crawl, according to Browsertrix.
    #[serde(default, rename = "seed")]
    is_seed: bool,
}

/// The type of a file, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Records,
    Package,
}

impl Kind {
    fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        match name {
            name if name.ends_with(".warc") || name.ends_with(".warc.gz") => Some(Self::Records),
            name if name.ends_with(".wacz") => Some(Self::Package),
            _ => None,
        }
    }
}

#[derive(Default)]
struct Finder {
    files: Vec<RecordFile>,
    pages: Vec<Page>,
}

impl Finder {
    fn add(&mut self, path: &Path) -> Result<(), ImportError> {
        let failed = |source| ImportError::File { path: path.to_owned(), source };
        if fs::metadata(path).map_err(failed)?.is_dir() {
            let before = self.files.len();
            self.add_folder(path)?;
            return if self.files.len() > before { Ok(()) } else { Err(ImportError::Empty(path.to_owned())) };
        }
        let kind = Kind::from_path(path).ok_or_else(|| ImportError::Kind(path.to_owned()))?;
        self.add_file(path, kind)
    }

    /// Adds the archives in a folder and its subfolders, in the order of their names. Links are not
    /// followed.
    fn add_folder(&mut self, folder: &Path) -> Result<(), ImportError> {
        let mut folders = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let failed = |source| ImportError::File { path: folder.clone(), source };
            let mut found = Vec::new();
            for entry in fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                found.push((entry.path(), entry.file_type().map_err(failed)?));
            }
            found.sort_by(|(one, _), (other, _)| one.cmp(other));
            for (path, kind) in &found {
                match Kind::from_path(path).filter(|_| kind.is_file()) {
                    Some(kind) => self.add_file(path, kind)?,
                    None if kind.is_dir() && depth < FOLDERS_MAX => folders.push((path.clone(), depth + 1)),
                    None => {}
                }
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, kind: Kind) -> Result<(), ImportError> {
        let failed = |source| ImportError::File { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        match kind {
            Kind::Records => {
                let length_bytes = file.metadata().map_err(failed)?.len();
                self.push(RecordFile {
                    path: path.to_owned(),
                    name: path.display().to_string(),
                    start: 0,
                    length_bytes,
                })
            }
            Kind::Package => self.add_package(path, file),
        }
    }

    /// Adds the WARC files of a package, which must be stored in it uncompressed, and its pages.
    fn add_package(&mut self, path: &Path, file: File) -> Result<(), ImportError> {
        let failed = |why: String| ImportError::Package { path: path.to_owned(), why };
        let mut package = ZipArchive::new(file).map_err(|error| failed(error.to_string()))?;
        let before = self.files.len();
        for number in 0..package.len() {
            let entry = package.by_index_raw(number).map_err(|error| failed(error.to_string()))?;
            let name = entry.name().map_err(|error| failed(error.to_string()))?.into_owned();
            if name.starts_with("archive/") && Kind::from_path(Path::new(&name)) == Some(Kind::Records) {
                let start = entry.data_start().filter(|_| entry.compression() == CompressionMethod::Stored);
                let Some(start) = start.filter(|_| !entry.encrypted()) else {
                    return Err(failed(format!(
                        "`{name}` is compressed once more in it; unpack it, and name its files"
                    )));
                };
                let (name, length_bytes) = (format!("{name} in {}", path.display()), entry.size());
                self.push(RecordFile { path: path.to_owned(), name, start, length_bytes })?;
            } else if name == "pages/pages.jsonl" {
                drop(entry);
                let mut entry = package.by_index(number).map_err(|error| failed(error.to_string()))?;
                self.pages.extend(pages(&mut entry).map_err(|error| failed(format!("`{name}`: {error}")))?);
            }
        }
        if self.files.len() > before {
            Ok(())
        } else {
            Err(failed("there is no WARC file in its `archive/`".to_owned()))
        }
    }

    fn push(&mut self, file: RecordFile) -> Result<(), ImportError> {
        if self.files.len() == FILES_MAX {
            return Err(ImportError::TooMany { what: "files", max: FILES_MAX });
        }
        self.files.push(file);
        Ok(())
    }
}

/// Reads a list of pages. Malformed lines are ignored.
fn pages(list: &mut impl Read) -> io::Result<Vec<Page>> {
    let mut text = Vec::new();
    list.take(PAGES_BYTES_MAX).read_to_end(&mut text)?;
    Ok(text.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}
