//! WARC objects as files below the data directory.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dragline_domain::frontier::ObjectKey;
use dragline_formats::blob::{Blob, Spool};
use dragline_ports::archive::{Archive, PutResult};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};

mod files;
mod listing;

use files::patiently;
pub(crate) use listing::list_files;

/// The folder of the data directory for unnamed objects that are too large for memory.
const SPOOL: &str = "tmp";

/// The most bytes read into memory: a larger object stays in its file.
const MEMORY_BYTES_MAX: u64 = 8 << 20;

/// Marks a file that is still being written. No [`ObjectKey`] contains it.
const UNFINISHED: char = '~';

/// The number of files that this process has begun to write. It makes temporary names unique, so
/// that two puts of one object do not write to the same file.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Stores objects as files whose keys are paths below the data directory.
#[derive(Clone, Debug)]
pub struct DirectoryArchive {
    root: Arc<Path>,
    spool: Spool,
}

impl DirectoryArchive {
    /// Returns the archive below this directory.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.into(), spool: Spool::new(root.join(SPOOL), u64::MAX) }
    }

    /// Returns the path of an object. The database and the lock, beside the objects' directories,
    /// are not objects.
    fn path(&self, key: &ObjectKey) -> Result<PathBuf, Failure> {
        if is_object(key.as_str()) { Ok(self.root.join(key.as_str())) } else { Err(Failure::NoObject) }
    }

    async fn blocking<T: Send + 'static>(
        operation: &'static str,
        subject: String,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> PortResult<T> {
        let result = tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| Err(Failure::Io(io::Error::other(e))));
        result.map_err(|failure| PortError::new(failure.kind(), operation, subject, failure))
    }
}

/// Why reading or writing a file failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("not the key of an object")]
    NoObject,
    #[error("{bytes} bytes, over the limit of {bytes_max}")]
    TooLarge { bytes: u64, bytes_max: u64 },
}

impl Failure {
    fn kind(&self) -> PortErrorKind {
        match self {
            Self::Io(e) if matches!(e.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => PortErrorKind::Full,
            Self::Io(_) => PortErrorKind::Refused,
            Self::NoObject => PortErrorKind::Other,
            Self::TooLarge { .. } => PortErrorKind::TooLarge,
        }
    }
}

impl Archive for DirectoryArchive {
    async fn put_new(&self, key: &ObjectKey, object: Blob) -> PortResult<PutResult> {
        let (root, path) = (Arc::clone(&self.root), self.path(key));
        Self::blocking("put object", key.to_string(), move || Ok(put_new(&root, &path?, &object)?)).await
    }

    async fn replace(&self, key: &ObjectKey, object: Blob) -> PortResult<()> {
        let path = self.path(key);
        Self::blocking("replace object", key.to_string(), move || Ok(replace(&path?, &object)?)).await
    }

    async fn get(&self, key: &ObjectKey, bytes_max: u64) -> PortResult<Option<Blob>> {
        let path = self.path(key);
        Self::blocking("get object", key.to_string(), move || {
            let Some(file) = open(&path?)? else { return Ok(None) };
            let object = Blob::from_file(file)?;
            let bytes = object.len_bytes();
            if bytes > bytes_max {
                return Err(Failure::TooLarge { bytes, bytes_max });
            }
            Ok(Some(in_memory_if_short(object)?))
        })
        .await
    }

    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> PortResult<Option<Blob>> {
        let path = self.path(key);
        Self::blocking("get part of object", key.to_string(), move || {
            let Some(file) = open(&path?)? else { return Ok(None) };
            Ok(Some(in_memory_if_short(Blob::from_file(file)?.part(range))?))
        })
        .await
    }

    async fn list(&self, prefix: &str, after: Option<&ObjectKey>, limit: usize) -> PortResult<Vec<ObjectKey>> {
        let (root, prefix, after) = (Arc::clone(&self.root), prefix.to_owned(), after.cloned());
        Self::blocking("list objects", prefix.clone(), move || {
            let files = list_files(&root, &prefix, after.as_ref().map(ObjectKey::as_str), limit, is_object)?;
            Ok(files.into_iter().filter_map(|file| ObjectKey::try_from(file).ok()).collect())
        })
        .await
    }

    fn spool(&self) -> Spool {
        self.spool.clone()
    }

    async fn delete(&self, key: &ObjectKey) -> PortResult<()> {
        let path = self.path(key);
        Self::blocking("delete object", key.to_string(), move || Ok(delete(&path?)?)).await
    }
}

/// Reads a short object into memory, so that its file is closed.
fn in_memory_if_short(object: Blob) -> io::Result<Blob> {
    if object.len_bytes() <= MEMORY_BYTES_MAX { Ok(object.bytes()?.into()) } else { Ok(object) }
}

/// Whether a path is that of an object, rather than a remnant of a crash or one of the data
/// directory's own files.
fn is_object(path: &str) -> bool {
    path.contains('/') && ObjectKey::try_from(path.to_owned()).is_ok()
}

/// Deletes a file. A missing one counts as deleted.
pub(crate) fn delete(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match patiently(|| File::open(path)) {
        Ok(file) => Ok(Some(file)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Writes a temporary file beside the path, then links it there, which fails if the path exists.
fn put_new(root: &Path, path: &Path, object: &Blob) -> io::Result<PutResult> {
    let parent = path.parent().unwrap_or(root);
    create_directories(root, parent)?;
    if path.try_exists()? {
        return Ok(PutResult::Exists);
    }
    let unfinished = unfinished(path);
    let mut file = patiently(|| File::create(&unfinished))?;
    object.copy_to(&mut file)?;
    file.sync_all()?;
    let put = match fs::hard_link(&unfinished, path) {
        Ok(()) => PutResult::Stored,
        Err(e) if e.kind() == ErrorKind::AlreadyExists => PutResult::Exists,
        // Some file systems do not support links. Only the process that holds the directory's lock
        // writes here.
        Err(_) if !path.try_exists()? => {
            fs::rename(&unfinished, path)?;
            PutResult::Stored
        }
        Err(e) => return Err(e),
    };
    delete(&unfinished)?;
    patiently(|| File::open(parent))?.sync_all()?;
    Ok(put)
}

/// Writes a temporary file beside the path, and renames it.
fn replace(path: &Path, object: &Blob) -> io::Result<()> {
    if !path.try_exists()? {
        return Ok(());
    }
    let unfinished = unfinished(path);
    let mut file = patiently(|| File::create(&unfinished))?;
    object.copy_to(&mut file)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    match path.parent() {
        Some(parent) => patiently(|| File::open(parent))?.sync_all(),
        None => Ok(()),
    }
}

/// Returns a temporary path beside a path, for a file that is being written.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!("{UNFINISHED}{}", BEGUN.fetch_add(1, Ordering::Relaxed)));
    PathBuf::from(name)
}

/// Creates a directory durably: each new one is synced into its parent.
fn create_directories(root: &Path, directory: &Path) -> io::Result<()> {
    let missing: Vec<&Path> =
        directory.ancestors().take_while(|ancestor| *ancestor != root && !ancestor.is_dir()).collect();
    fs::create_dir_all(directory)?;
    for made in missing.into_iter().rev() {
        patiently(|| File::open(made.parent().unwrap_or(root)))?.sync_all()?;
    }
    Ok(())
}
