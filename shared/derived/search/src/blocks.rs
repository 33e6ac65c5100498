//! A remote index, whose files are read in blocks. The most recently used blocks are cached.

use std::fmt;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use tantivy::HasLen;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, OwnedBytes, WatchCallback, WatchHandle, WritePtr,
};

use crate::edition::{Edition, META};

/// The size of a block, in bytes: a request for it takes little longer than for a single byte.
const BLOCK_BYTES: u64 = 64 << 10;

/// A reader of a remote index's files.
pub trait Ranges: Send + Sync + 'static {
    /// Reads a range of a file, which must be within the file. May block.
    ///
    /// # Errors
    /// The file is gone ([`ErrorKind::NotFound`]), or cannot be read for another reason.
    fn read(&self, file: &str, range: Range<u64>) -> io::Result<Vec<u8>>;
}

/// A cache of blocks, of limited size. It serves all indexes of a process, as no two files have the
/// same name.
#[derive(Debug)]
pub struct Blocks {
    kept: Mutex<LruCache<Place, OwnedBytes>>,
    count_max: u64,
}

/// A block of a file, by its number.
type Place = (Arc<str>, u64);

impl Blocks {
    /// Returns a cache for up to this many bytes. Memory is allocated as needed.
    #[must_use]
    pub fn new(bytes_max: u64) -> Self {
        Self { kept: Mutex::new(LruCache::unbounded()), count_max: (bytes_max / BLOCK_BYTES).max(1) }
    }

    fn get(&self, place: &Place) -> Option<OwnedBytes> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(place).cloned()
    }

    pub(crate) fn put(&self, place: Place, block: OwnedBytes) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.put(place, block);
        if kept.len() as u64 > self.count_max {
            kept.pop_lru();
        }
    }
}

/// The files of an edition, read-only.
#[derive(Clone)]
pub(crate) struct RemoteDirectory {
    pub(crate) edition: Arc<Edition>,
    pub(crate) ranges: Arc<dyn Ranges>,
    pub(crate) blocks: Arc<Blocks>,
}

impl fmt::Debug for RemoteDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elsewhere").finish_non_exhaustive()
    }
}

fn read_only() -> io::Error {
    io::Error::new(ErrorKind::ReadOnlyFilesystem, "this index can only be read")
}

impl Directory for RemoteDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let file = self.edition.files.iter().find(|file| Path::new(&file.name) == path);
        let file = file.ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))?;
        let name = Arc::from(file.name.as_str());
        Ok(Arc::new(File {
            name,
            bytes: file.bytes,
            ranges: Arc::clone(&self.ranges),
            blocks: Arc::clone(&self.blocks),
        }))
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(path == Path::new(META) || self.edition.files.iter().any(|file| Path::new(&file.name) == path))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        if path == Path::new(META) {
            Ok(self.edition.meta.clone().into_bytes())
        } else {
            Err(OpenReadError::FileDoesNotExist(path.to_owned()))
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_owned() })
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_owned() })
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        // Nobody deletes files of an edition while it is read.
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// A remote file.
struct File {
    name: Arc<str>,
    bytes: u64,
    ranges: Arc<dyn Ranges>,
    blocks: Arc<Blocks>,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("name", &self.name).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl HasLen for File {
    fn len(&self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }
}

impl FileHandle for File {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.is_empty() {
            return Ok(OwnedBytes::empty());
        }
        if range.end > self.len() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let wanted = range.start as u64..range.end as u64;
        let numbers = block_numbers(&wanted);
        let begin = numbers.start * BLOCK_BYTES;
        let mut there: Vec<Option<OwnedBytes>> =
            numbers.clone().map(|number| self.blocks.get(&(Arc::clone(&self.name), number))).collect();
        for missing in gaps(&there) {
            let first = numbers.start + missing.start as u64;
            let last = numbers.start + missing.end as u64 - 1;
            let run = block_at(first, self.bytes).start..block_at(last, self.bytes).end;
            let read = self.ranges.read(&self.name, run.clone())?;
            if read.len() as u64 != run.end - run.start {
                return Err(io::Error::new(ErrorKind::UnexpectedEof, format!("{} is shorter than it was", self.name)));
            }
            for (number, place) in (first..).zip(missing) {
                let Range { start, end } = block_at(number, self.bytes);
                // Copied, so that a cached block does not keep a whole run in memory.
                let block = OwnedBytes::new(read[in_memory(start - run.start)..in_memory(end - run.start)].to_vec());
                self.blocks.put((Arc::clone(&self.name), number), block.clone());
                there[place] = Some(block);
            }
        }
        let (from, to) = (in_memory(wanted.start - begin), in_memory(wanted.end - begin));
        if let [Some(block)] = there.as_slice() {
            return Ok(block.slice(from..to));
        }
        let mut bytes = Vec::with_capacity(in_memory((numbers.end - numbers.start) * BLOCK_BYTES));
        there.iter().flatten().for_each(|block| bytes.extend_from_slice(block));
        Ok(OwnedBytes::new(bytes).slice(from..to))
    }
}

/// Returns the numbers of the blocks that overlap a range.
pub(crate) const fn block_numbers(range: &Range<u64>) -> Range<u64> {
    range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES)
}

/// Returns the range of a block in a file of this size. The last block may be shorter.
pub(crate) fn block_at(number: u64, file_bytes: u64) -> Range<u64> {
    let begin = (number * BLOCK_BYTES).min(file_bytes);
    begin..(begin + BLOCK_BYTES).min(file_bytes)
}

/// Converts a size to `usize`.
#[expect(clippy::cast_possible_truncation, reason = "what does not fit is not read")]
pub(crate) const fn in_memory(bytes: u64) -> usize {
    bytes as usize
}

/// Returns the runs of missing blocks.
fn gaps(there: &[Option<OwnedBytes>]) -> Vec<Range<usize>> {
    let mut gaps: Vec<Range<usize>> = Vec::new();
    for place in (0..there.len()).filter(|place| there[*place].is_none()) {
        match gaps.last_mut() {
            Some(gap) if gap.end == place => gap.end += 1,
            _ => gaps.push(place..place + 1),
        }
    }
    gaps
}

/// Returns a placeholder for the folder of a remote index, for messages.
pub(crate) fn no_folder() -> PathBuf {
    PathBuf::from("its objects")
}
